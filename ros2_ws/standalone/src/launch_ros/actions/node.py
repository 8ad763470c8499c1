"""Runs a ROS node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launch._evaluation import evaluate_text
from launch.actions import ExecuteProcess
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.utilities import normalize_to_list_of_substitutions

from .._global_settings import global_parameters, global_remaps
from .._names import absolute, check_namespace, check_node_name, joined_namespace
from .._parameter_yaml import parameter_value_yaml
from .._parameters import EvaluatedParameters, check_parameters, evaluate_parameters
from .._temporary_files import write_temporary_parameters
from .._typed_values import ParameterValueType
from ..substitutions import ExecutableInPackage

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext

_UNSPECIFIED_NAME = "<node_name_unspecified>"
_UNSPECIFIED_NAMESPACE = "<node_namespace_unspecified>"


class Node(ExecuteProcess):
    """Executes `lib/<package>/<executable>` with ROS arguments.

    `parameters` is a list of parameter files (paths, ParameterFile) and dictionaries, of which a later one
    wins over an earlier one. `exec_name` is the label in the output. The other arguments are those of
    ExecuteProcess.
    """

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        exec_name: SomeSubstitutionsType | None = None,
        parameters: Sequence[Any] | None = None,
        remappings: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        ros_arguments: Iterable[SomeSubstitutionsType] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        program = executable if package is None else ExecutableInPackage(executable, package)
        ros_words = [] if ros_arguments is None else ["--ros-args", *ros_arguments]
        super().__init__(cmd=[program, *(arguments or ()), *ros_words], name=exec_name, **kwargs)
        self._package = package
        self._executable = executable
        self._node_name_parts = name
        self._namespace_parts = namespace
        self._parameters = check_parameters(parameters or [])
        self._remappings = list(remappings or ())
        self._final_node_name: str | None = None

    @property
    def node_package(self) -> SomeSubstitutionsType | None:
        """Return the package, or None for an executable at a path."""
        return self._package

    @property
    def node_executable(self) -> SomeSubstitutionsType:
        """Return the executable."""
        return self._executable

    @property
    def node_name(self) -> str:
        """Return the full name with namespace; RuntimeError before the action is executed."""
        if self._final_node_name is None:
            raise RuntimeError("cannot access 'node_name' before executing action")
        return self._final_node_name

    def is_node_name_fully_specified(self) -> bool:
        """Return whether both name and namespace are given."""
        return not any(part in self.node_name for part in (_UNSPECIFIED_NAME, _UNSPECIFIED_NAMESPACE))

    def execute(self, context: LaunchContext) -> None:
        """Complete the command line with the ROS arguments and run the process."""
        self._cmd += [normalize_to_list_of_substitutions(word) for word in self._ros_words(context)]
        super().execute(context)

    def _ros_words(self, context: LaunchContext) -> list[str]:
        name = None
        if self._node_name_parts is not None:
            name = check_node_name(evaluate_text(context, self._node_name_parts))
        namespace = self._evaluated_namespace(context)
        self._final_node_name = f"{namespace or _UNSPECIFIED_NAMESPACE}".rstrip("/") + f"/{name or _UNSPECIFIED_NAME}"
        words = ["--ros-args"]
        if name is not None:
            words += ["-r", f"__node:={name}"]
        if namespace is not None:
            words += ["-r", f"__ns:={namespace}"]
        for parameter in global_parameters(context):
            words += self._parameter_words(context, parameter)
        for parameters in evaluate_parameters(context, self._parameters):
            words += self._parameter_words(context, parameters)
        remaps = [*global_remaps(context), *self._evaluated_remappings(context)]
        for source, target in remaps:
            words += ["-r", f"{source}:={target}"]
        return words

    def _evaluated_namespace(self, context: LaunchContext) -> str | None:
        own = None if self._namespace_parts is None else evaluate_text(context, self._namespace_parts)
        base = context.launch_configurations.get("ros_namespace")
        namespace = absolute(own if base is None else joined_namespace(base, own))
        return None if namespace is None else check_namespace(namespace)

    def _evaluated_remappings(self, context: LaunchContext) -> list[tuple[str, str]]:
        return [(evaluate_text(context, src), evaluate_text(context, dst)) for src, dst in self._remappings]

    def _parameter_words(self, context: LaunchContext, parameters: EvaluatedParameters) -> list[str]:
        if isinstance(parameters, tuple):
            name, value = parameters
            return ["-p", f"{name}:={parameter_value_yaml(list(value) if isinstance(value, tuple) else value)}"]
        if isinstance(parameters, dict):
            return ["--params-file", str(self._write_parameters(context, parameters))]
        if not parameters.is_file():
            raise FileNotFoundError(f"parameter file '{parameters}' does not exist")
        return ["--params-file", str(parameters)]

    def _write_parameters(self, context: LaunchContext, values: dict[str, ParameterValueType]) -> Path:
        # A full name wins over a wildcard in rcl, whatever their order: with the full name as key, a dictionary
        # wins over a file before it also where that file names the node.
        key = self.node_name if self.is_node_name_fully_specified() else "/**"
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return write_temporary_parameters(context, {key: {"ros__parameters": plain}})
