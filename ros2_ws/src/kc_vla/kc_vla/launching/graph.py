"""How a node of the graph is started, and with which launch arguments."""

from __future__ import annotations

import os
import tempfile
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from launch import LaunchContext, Substitution
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetLaunchConfiguration
from launch.substitutions import EnvironmentVariable, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from kc_vla.core.choice import offered
from kc_vla.core.home import user_name
from kc_vla.keyframes.sources import SOURCES
from kc_vla.launching.endings import MOST_DEATHS, end_if_it_cannot_start
from kc_vla.launching.parameter_file import check_parameter_file
from kc_vla.policy.backends import BACKENDS, DIALECTS, TOKEN
from kc_vla.policy.driven.wire import usual_socket

AUTO = "auto"
"""A value of an argument: what fits the others."""
CLOSE_S = "20"
"""How long the recorder may take to hear the result of an interrupted episode and to close its bag."""


AGAIN: Mapping[str, Any] = {
    "respawn": True,
    "respawn_delay": 1.0,
    "respawn_max_retries": MOST_DEATHS,
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


def emulated_bus() -> str:
    """Channel of the emulated Piper's bus: its bus is kc_vla_socket. Another one in another ROS domain."""
    return f"{tempfile.gettempdir()}/kc_vla_piper-{user_name()}-{os.environ.get('ROS_DOMAIN_ID', '0')}"


POLICY_FILES = {"models_folder": "policy_models", "model": "policy_model", "checkpoint": "checkpoint"}
"""Parameters of the policy server that name files of a network, by the launch arguments of every graph."""
FOLLOWED = ("leader", "joy", "driven")
"""Policies that give what is to be done now, and want it to be done at once."""


def execution(context: LaunchContext) -> list[Substitution]:
    """Files of parameters of the arm controller that follow from `policy:=`.

    A file, because what a file says of a node by its name wins over any parameter that is given without one.
    """
    policy = LaunchConfiguration("policy").perform(context)
    return [parameters_of("followed.yaml")] if policy in FOLLOWED else []


def socket_argument() -> DeclareLaunchArgument:
    """`socket:=`, of a graph whose robot a program outside can drive."""
    return DeclareLaunchArgument(
        "socket", default_value=usual_socket(), description="Unix socket that a program drives at, for policy:=driven"
    )


def policy_model_arguments() -> tuple[DeclareLaunchArgument, ...]:
    """The arguments of `POLICY_FILES`."""
    return (
        DeclareLaunchArgument(
            "policy_models",
            default_value="",
            description="folder with a registry of models, for policy:=learned; empty: the models shipped",
        ),
        DeclareLaunchArgument("policy_model", default_value="policy", description="name of the policy in there"),
        DeclareLaunchArgument(
            "checkpoint", default_value="", description="folder of LeRobot's config.json, for policy:=lerobot"
        ),
    )


def policy_server_arguments() -> tuple[DeclareLaunchArgument, ...]:
    """`server:=`, `dialect:=`, `token:=` and `mapping:=`, of every graph that can ask a policy's server."""
    return (
        DeclareLaunchArgument(
            "server", default_value="", description="policy:=openpi: ws://host:8000; policy:=groot: tcp://host:5555"
        ),
        DeclareLaunchArgument(
            "dialect", default_value="auto", choices=list(DIALECTS), description="policy:=groot: what the server speaks"
        ),
        DeclareLaunchArgument(
            "token", default_value="", description=f"of the server; empty: the environment's {TOKEN}"
        ),
        DeclareLaunchArgument(
            "mapping",
            default_value="",
            description="what the server calls what the robot sees, feels and does; empty: as comes with the rig",
        ),
    )


POLICY_SERVER = {name: name for name in ("server", "dialect", "token", "mapping")}
"""Parameters of `policy_server` by the launch arguments of `policy_server_arguments`, for `texts`."""


def source_argument(graph: str) -> DeclareLaunchArgument:
    """`source:=`, of a graph in `kc_vla.core.choice.GRAPHS`."""
    meanings = {AUTO: "events for a learned policy that was taught with them, or else learned"}
    return _choice("source", "what selects the keyframes", AUTO, meanings | offered(SOURCES, graph))


def policy_argument(
    graph: str, default: str, also: Mapping[str, str] = types.MappingProxyType({})
) -> DeclareLaunchArgument:
    """`policy:=`, of a graph in `kc_vla.core.choice.GRAPHS`; `also` are words with a meaning that are no backend."""
    return _choice("policy", "what makes the actions", default, {**also, **offered(BACKENDS, graph)})


def takeover_argument(*devices: str) -> DeclareLaunchArgument:
    """`takeover:=`, of a graph whose robot a person can drive with one of these."""
    meanings = {"none": "nobody takes over"} | {device: BACKENDS[device].meaning for device in devices}
    return _choice("takeover", "what a person takes over from the policy with", "none", meanings)


def _choice(name: str, purpose: str, default: str, meanings: Mapping[str, str]) -> DeclareLaunchArgument:
    told = "; ".join(f"{word}: {meaning}" for word, meaning in meanings.items())
    return DeclareLaunchArgument(name, default_value=default, choices=list(meanings), description=f"{purpose}; {told}")


def transforms_argument() -> DeclareLaunchArgument:
    """`transforms:=`, of every graph with a robot."""
    return DeclareLaunchArgument(
        "transforms",
        default_value="auto",
        choices=["auto", "robot", "cameras", "none"],
        description="what /tf and /tf_static tell; robot: its links and its cameras; cameras: these alone, beside a "
        "driver that tells of the links; auto: robot, with arm:=ros cameras; none: nothing",
    )


def transforms(context: LaunchContext, hand_eye: str = "", driven: bool = False) -> list[Node]:
    """The node that tells them, by the arguments `transforms` and `rig`.

    Args:
        context: of the launch.
        hand_eye: files with the cameras' places, as its parameter has them.
        driven: a driver of others moves the robot.
    """
    wanted = LaunchConfiguration("transforms").perform(context)
    if wanted == "none":
        return []
    links = wanted == "robot" or (wanted == "auto" and not driven)
    return [node("transforms", {"robot_links": links, "hand_eye": text(hand_eye), **texts(rig="rig")}, **AGAIN)]


def replayed_bag_argument() -> DeclareLaunchArgument:
    """`bag:=`, of a graph whose policy can replay one."""
    return DeclareLaunchArgument("bag", default_value="", description="recorded episode for policy:=replay")


MEMORIES = {
    "none": (),
    "short": ("short_term_memory",),
    "long": ("long_term_memory",),
    "both": ("short_term_memory", "long_term_memory"),
}
"""Of each value of `memory:=`, the nodes."""


def memory_arguments(map_id: str) -> tuple[DeclareLaunchArgument, ...]:
    """`memory:=`, of a graph with a robot, and `memory_store:=` and `map_id:=` of the long-term one."""
    return (
        DeclareLaunchArgument(
            "memory",
            default_value="none",
            choices=list(MEMORIES),
            description="which memories take in what is detected; short: what was just seen; long: a scene graph",
        ),
        DeclareLaunchArgument(
            "memory_store",
            default_value="runs/memory.db",
            description="file of the long-term memory, which outlives it; a new one is made",
        ),
        DeclareLaunchArgument("map_id", default_value=map_id, description="map that the long-term memory is in"),
    )


def memories() -> OpaqueFunction:
    """The memories, by those arguments and `rig`."""
    return OpaqueFunction(function=_memories)


def _memories(context: LaunchContext) -> list[Node]:
    own = {"long_term_memory": texts(store="memory_store", map_id="map_id")}
    wanted = MEMORIES[LaunchConfiguration("memory").perform(context)]
    return [node(name, {**texts(rig="rig"), **own.get(name, {})}, **AGAIN) for name in wanted]


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


def node(
    executable: str,
    parameters: Mapping[str, Any] | None = None,
    package: str = "kc_vla",
    files: Sequence[Substitution] = (),
    **options: Any,
) -> Node:
    """A node of the graph, with the stack's own parameters, over them those of `params:=`, `files` and `parameters`."""
    return Node(
        package=package,
        executable=executable,
        name=executable,
        parameters=[*parameter_files(), *files, dict(parameters or {})],
        output="screen",
        **options,
    )
