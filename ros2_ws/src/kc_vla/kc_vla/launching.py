"""What the launch files share: how a node of the graph is started, and what happens when one ends."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from launch import LaunchContext, Substitution
from launch.actions import DeclareLaunchArgument, LogInfo, RegisterEventHandler, SetLaunchConfiguration, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart
from launch.events.process import ProcessExited, ProcessStarted, ProcessStderr
from launch.substitutions import EnvironmentVariable, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from kc_vla.core.home import user_name
from kc_vla.last_line import NO_POWER, PARKED, LastLine
from kc_vla.parameter_file import check_parameter_file

CANNOT_START = 2
"""Exit code of a node that cannot do its work, whatever is tried: see `kc_vla.ros.process.run_node`."""

KEEPS_POWER = 3
"""Exit code of a controller that ended in order and left its arm with power: see `kc_vla.ros.arm_link`."""

CLOSE_S = "20"
"""How long the recorder may take to hear the result of an interrupted episode and to close its bag."""


def last_word() -> list[RegisterEventHandler]:
    """Say once more, when everything has ended, why a node could not start or how an arm was left.

    What comes between is long.
    """
    return [
        RegisterEventHandler(OnProcessStart(on_start=_note_start)),
        RegisterEventHandler(OnProcessIO(on_stderr=_note_complaint)),
        RegisterEventHandler(OnProcessExit(on_exit=_tell_at_last)),
    ]


def end_with(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
    """End the launch with a required node, and with exit code 1 if that node failed."""
    if context.is_shutdown:
        return None
    end_if_it_cannot_start(event, context)
    if event.returncode:
        raise RuntimeError(f"{event.process_name} was required and ended with exit code {event.returncode}")
    return Shutdown(reason=f"{event.process_name} has done its work")


def end_if_it_cannot_start(event: ProcessExited, context: LaunchContext) -> None:
    """Let a node that has died start again, unless that cannot help."""
    if event.returncode == CANNOT_START and not context.is_shutdown:
        _launch.running.discard(event.pid)
        _launch.cannot_start = (event.process_name, event.pid)
        raise RuntimeError(f"{event.process_name} cannot start: see what it says above")


class _Launch:
    """What the handlers of a launch know: of a process that this is, a launch.

    Attributes:
        running: processes, by their pid.
        complaints: what each says on its standard error.
        cannot_start: name and pid of the process that ended the launch because it could not start.
        left: name, pid and exit code of the process that left an arm with power.
        parks: pid of the process that has ended in order, and may have parked an arm.
    """

    def __init__(self) -> None:
        self.running: set[int | None] = set()
        self.complaints: dict[int | None, LastLine] = {}
        self.cannot_start: tuple[str, int | None] | None = None
        self.left: tuple[str, int | None, int] | None = None
        self.parks: int | None = None


_launch = _Launch()


def _note_start(event: ProcessStarted, context: LaunchContext) -> None:
    _launch.running.add(event.pid)


def _note_complaint(event: ProcessStderr) -> None:
    _launch.complaints.setdefault(event.pid, LastLine()).take(event.text)


def _tell_at_last(event: ProcessExited, context: LaunchContext) -> LogInfo | None:
    _launch.running.discard(event.pid)
    if event.returncode == KEEPS_POWER or (context.is_shutdown and event.returncode < 0 and _moves_an_arm(event)):
        _launch.left = event.process_name, event.pid, event.returncode
    elif event.returncode == 0 and _moves_an_arm(event):
        _launch.parks = event.pid
    elif _launch.cannot_start is None:
        _launch.complaints.pop(event.pid, None)
    words = _last_words()
    return LogInfo(msg=words) if words and not _launch.running else None


def _moves_an_arm(event: ProcessExited) -> bool:
    return event.process_name.startswith("arm_controller")


def _last_words() -> str:
    """Asked for at the end: a process can be told to have ended before the last of what it wrote is read."""
    if _launch.left is not None:
        name, pid, code = _launch.left
        killed = f"{name} was killed (signal {-code}): the arm holds where it is, and keeps its power if it has any"
        return _complaint(pid) if code == KEEPS_POWER else killed
    if _launch.cannot_start is not None:
        name, pid = _launch.cannot_start
        return f"{name} cannot start: {_complaint(pid)}"
    said = _complaint(_launch.parks) if _launch.parks is not None else ""
    return said if said.startswith((PARKED, NO_POWER)) else ""


def _complaint(pid: int | None) -> str:
    """The last of a process, without the severity, the time and the name that ROS's log puts before it."""
    said = _launch.complaints[pid].text if pid in _launch.complaints else ""
    return re.sub(r"^\[[A-Z]+\] \[[\d.]+\] \[[\w.]+\]: ", "", said) or "see above"


AGAIN: Mapping[str, Any] = {
    "respawn": True,
    "respawn_delay": 1.0,
    "respawn_max_retries": 10,
    "on_exit": end_if_it_cannot_start,
}
"""Options of a node that is started again when it dies."""


def text(value: Any) -> ParameterValue:
    """A value, or the launch argument in it, that stays a text, also where it looks like a number or is empty."""
    return ParameterValue(value, value_type=str)


def texts(**arguments: str) -> dict[str, ParameterValue]:
    """Parameters that are texts, each with the launch argument it is taken from."""
    return {name: text(LaunchConfiguration(argument)) for name, argument in arguments.items()}


def state_folder() -> ParameterValue:
    """Where nodes keep what outlives them: two stacks, two folders. Within the launch argument `output`."""
    domain = EnvironmentVariable("ROS_DOMAIN_ID", default_value="0")
    return text([LaunchConfiguration("output"), "/state-", domain])


def arm_state_folder(channel: str) -> ParameterValue:
    """Where an emergency stop of the arm on that channel is on record: of the arm, whoever starts what from where."""
    home = os.environ.get("ROS_HOME") or os.path.expanduser("~/.ros")
    if home.startswith("~"):
        raise OSError("HOME is not set: set it, or ROS_HOME, to a folder that can be written")
    return text(os.path.join(home, "kc_vla", f"arm-{quote(channel, safe='')}"))


def emulated_bus() -> str:
    """Channel of the emulated Piper's bus: its bus is kc_vla_socket. Another one in another ROS domain."""
    return f"{tempfile.gettempdir()}/kc_vla_piper-{user_name()}-{os.environ.get('ROS_DOMAIN_ID', '0')}"


def model_arguments() -> tuple[DeclareLaunchArgument, DeclareLaunchArgument]:
    """`models:=` and `model:=`, of every graph with a selector."""
    return (
        DeclareLaunchArgument(
            "models",
            default_value="",
            description="folder with a registry of models, for source:=learned; empty: the models shipped",
        ),
        DeclareLaunchArgument("model", default_value="keyframe_selector", description="name of the model in there"),
    )


def selector() -> Node:
    """The keyframe selector, by the arguments `source`, `models` and `model`."""
    return node("keyframe_selector", texts(source="source", models_folder="models", model="model"), **AGAIN)


def replayed_bag_argument() -> DeclareLaunchArgument:
    """`bag:=`, of a graph whose policy can replay one."""
    return DeclareLaunchArgument("bag", default_value="", description="recorded episode for policy:=replay")


SHIPPED_PARAMETERS = "shipped_parameters"
"""Launch configuration: the file of parameters that comes with the stack, below the one of `params:=`."""


def parameters_of(launch_file: str) -> PathJoinSubstitution:
    """The file of parameters that comes with a launch file."""
    return PathJoinSubstitution([FindPackageShare("kc_vla"), "launch", "params", launch_file])


def parameter_arguments(launch_file: str) -> list[DeclareLaunchArgument | SetLaunchConfiguration]:
    """`params:=`, which is laid over the file that comes with the launch file."""
    told = f"YAML file with parameters of nodes, on top of launch/params/{launch_file}"
    return [
        SetLaunchConfiguration(SHIPPED_PARAMETERS, parameters_of(launch_file)),
        DeclareLaunchArgument("params", default_value="", description=told),
    ]


class _ParameterFile(Substitution):
    """The launch argument `params`, once it is known to be such a file; the stack's own where none is given."""

    def describe(self) -> str:
        """Return what it stands for, for people."""
        return "params, checked"

    def perform(self, context: LaunchContext) -> str:
        """Return the path.

        Raises:
            ParameterFileError: it is none.
        """
        path: str = LaunchConfiguration("params").perform(context)
        if not path:
            return str(LaunchConfiguration(SHIPPED_PARAMETERS).perform(context))
        check_parameter_file(Path(path))
        return path


def parameter_files() -> list[Substitution]:
    """The files of parameters of every node; of a parameter in several the last counts."""
    return [LaunchConfiguration(SHIPPED_PARAMETERS), _ParameterFile()]


def node(executable: str, parameters: Mapping[str, Any] | None = None, package: str = "kc_vla", **options: Any) -> Node:
    """A node of the graph, with the stack's own parameters, over them those of `params:=`, and then `parameters`."""
    return Node(
        package=package,
        executable=executable,
        name=executable,
        parameters=[*parameter_files(), dict(parameters or {})],
        output="screen",
        **options,
    )
