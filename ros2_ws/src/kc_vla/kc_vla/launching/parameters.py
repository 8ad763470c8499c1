"""Files of parameters of a graph: the one that comes with the stack, and over it that of `params:=`."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, Substitution
from launch.actions import SetLaunchConfiguration
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from kc_vla.launching.arguments import Argument
from kc_vla.launching.kinds import Checked
from kc_vla.launching.namespace import namespace_of
from kc_vla.launching.parameter_file import check_parameter_file, check_parameter_names, parameters_for

SHIPPED_PARAMETERS = "shipped_parameters"
"""Launch configuration: the file of parameters that comes with the stack, below the one of `params:=`."""


def parameters_of(launch_file: str) -> PathJoinSubstitution:
    """Return the file of parameters that comes with a launch file."""
    return PathJoinSubstitution([FindPackageShare("kc_vla"), "launch", "params", launch_file])


def parameter_arguments(launch_file: str) -> list[Argument | SetLaunchConfiguration]:
    """Return the argument `params:=`, which is laid over the file that comes with the launch file."""
    shipped = SetLaunchConfiguration(SHIPPED_PARAMETERS, parameters_of(launch_file))
    return [shipped, params_argument(f"launch/params/{launch_file}")]


def params_argument(over: str) -> Argument:
    """Return the argument `params:=`; `over` says on top of what."""
    told = f"YAML file with parameters of nodes; they take precedence over {over} and over launch arguments"
    return _ParamsArgument("params", Checked(str), default_value="", description=told)


class _ParamsArgument(Argument):
    """The argument `params`, checked in the namespace that it is declared in."""

    def execute(self, context: LaunchContext) -> None:
        """Declare the argument, then check the file that it names.

        Raises:
            ParameterFileError: it is no parameter file for this launch.
        """
        super().execute(context)
        _given(context)


class ParameterLayer(Substitution):
    """The file of what `params:=` and `files` say of one node, under its full name: so it wins over all others.

    rclpy lets the name win that stands last in all files of a node, and of a name the last value. The shipped file
    names nodes in any namespace, launch_ros writes launch arguments under the full name in a namespace and under no
    name in the root: whatever is written here comes after both.
    """

    def __init__(self, node: str, files: Sequence[Substitution] = (), view: str = "") -> None:
        """Lay files of parameters over those of `params:=` for one node.

        Args:
            node: its name.
            files: with parameters.
            view: its namespace within the launch.
        """
        super().__init__()
        self._node, self._files, self._view = node, files, view

    def describe(self) -> str:
        """Return a description for people, as launch prints it."""
        return f"what params:= says of {self._node}"

    def perform(self, context: LaunchContext) -> str:
        """Return the path of the file; that of the shipped one where there is nothing to say.

        Raises:
            ParameterFileError: `params:=` is no file for this launch.
        """
        namespace = namespace_of(context)
        own = _given(context)
        files = [*([own] if own is not None else []), *(Path(file.perform(context)) for file in self._files)]
        found: dict[str, Any] = {}
        for file in files:
            found |= parameters_for(file, self._node, namespace, self._view)
        if not found:
            return LaunchConfiguration(SHIPPED_PARAMETERS).perform(context)
        name = "/".join(("", *filter(None, (namespace.strip("/"), self._view, self._node))))
        path = _folder() / f"{name.strip('/').replace('/', '-')}.yaml"
        text = yaml.dump({name: {"ros__parameters": found}}, Dumper=_Quoting, default_flow_style=None)
        path.write_text(text, encoding="utf-8")
        return str(path)


def _given(context: LaunchContext) -> Path | None:
    """Return the file of `params:=`, once it is known to be one; None where none is given."""
    named: str = LaunchConfiguration("params").perform(context)
    if not named:
        return None
    path = Path(named).expanduser()
    check_parameter_file(path, namespace_of(context))
    check_parameter_names(path)
    return path


@cache
def _folder() -> Path:
    """Make a temporary folder for this launch, which is deleted at the end of the process."""
    folder = Path(tempfile.mkdtemp(prefix="kc_vla-params-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class _Quoting(yaml.SafeDumper):
    """Quotes texts: rcl takes more bare words for truth values (`y`, `n`) than YAML libraries do."""


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))
