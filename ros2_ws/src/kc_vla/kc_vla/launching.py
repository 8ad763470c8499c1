"""What the launch files share: how a node of the graph is started, and what happens when one ends."""

from __future__ import annotations

import getpass
import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, LogInfo, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart
from launch.events.process import ProcessExited, ProcessStarted, ProcessStderr
from launch.substitutions import EnvironmentVariable, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

CANNOT_START = 2
"""Exit code of a node that cannot do its work, whatever is tried: see `kc_vla.nodes.base.run_node`."""

CLOSE_S = "20"
"""How long the recorder may take to hear the result of an interrupted episode and to close its bag."""


def last_word() -> list[RegisterEventHandler]:
    """Say why a node could not start once more when everything has ended: what comes between is long."""
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
        _launch.why = f"{event.process_name} cannot start: {_launch.complaints.get(event.pid, 'see above')}"
        raise RuntimeError(f"{event.process_name} cannot start: see what it says above")


class _Launch:
    """What the handlers of a launch know: of a process that this is, a launch.

    Attributes:
        running: processes, by their pid.
        complaints: what each said last on its standard error.
        why: a node could not start.
    """

    def __init__(self) -> None:
        self.running: set[int | None] = set()
        self.complaints: dict[int | None, str] = {}
        self.why = ""


_launch = _Launch()


def _note_start(event: ProcessStarted, context: LaunchContext) -> None:
    _launch.running.add(event.pid)


def _note_complaint(event: ProcessStderr, context: LaunchContext) -> None:
    lines = event.text.decode(errors="replace").strip().splitlines()
    if lines:  # without the severity, the time and the name that ROS's log puts before it
        _launch.complaints[event.pid] = re.sub(r"^\[[A-Z]+\] \[[\d.]+\] \[[\w.]+\]: ", "", lines[-1])


def _tell_at_last(event: ProcessExited, context: LaunchContext) -> LogInfo | None:
    _launch.running.discard(event.pid)
    return LogInfo(msg=_launch.why) if _launch.why and not _launch.running else None


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
    return text(os.path.join(home, "kc_vla", f"arm-{quote(channel, safe='')}"))


def emulated_bus() -> str:
    """Channel of the emulated Piper's bus: its bus is kc_vla_socket. Another one in another ROS domain."""
    return f"{tempfile.gettempdir()}/kc_vla_piper-{getpass.getuser()}-{os.environ.get('ROS_DOMAIN_ID', '0')}"


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


def node(executable: str, parameters: Mapping[str, Any] | None = None, package: str = "kc_vla", **options: Any) -> Node:
    """A node of the graph, with the launch argument `params` and then with `parameters`."""
    return Node(
        package=package,
        executable=executable,
        name=executable,
        parameters=[LaunchConfiguration("params"), dict(parameters or {})],
        output="screen",
        **options,
    )
