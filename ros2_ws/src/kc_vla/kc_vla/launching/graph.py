"""How a node of the graph is started, and with which launch arguments."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from launch import LaunchContext, Substitution
from launch.actions import OpaqueFunction
from launch.substitutions import EnvironmentVariable, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from kc_vla.core.home import user_name
from kc_vla.core.namespaces import suffix_of
from kc_vla.launching.arguments import Argument
from kc_vla.launching.endings import MOST_DEATHS, end_if_it_cannot_start
from kc_vla.launching.kinds import ExistingPath, NewPath, NotEmpty, OneOf
from kc_vla.launching.namespace import Suffix, remappings
from kc_vla.launching.parameters import SHIPPED_PARAMETERS, ParameterLayer

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
    """Return a value, or the launch argument in it, as a text.

    It stays one also where it looks like a number or is empty.
    """
    return ParameterValue(value, value_type=str)


def texts(**arguments: str) -> dict[str, ParameterValue]:
    """Return parameters that are texts, each with the launch argument it is taken from."""
    return {name: text(LaunchConfiguration(argument)) for name, argument in arguments.items()}


def state_folder() -> ParameterValue:
    """Return the folder, within the launch argument `output`, for what outlives the nodes: two stacks, two folders."""
    domain = EnvironmentVariable("ROS_DOMAIN_ID", default_value="0")
    return text([LaunchConfiguration("output"), "/state-", domain, Suffix()])


def emulated_bus(namespace: str = "/") -> str:
    """Return the channel of the emulated Piper's bus, whose kind is kc_vla_socket.

    It is another one in another ROS domain or namespace.
    """
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    return f"{tempfile.gettempdir()}/kc_vla_piper-{user_name()}-{domain}{suffix_of(namespace)}"


def transforms_argument() -> Argument:
    """Return the argument `transforms:=`, of every graph with a robot."""
    return Argument(
        "transforms",
        OneOf(("auto", "robot", "cameras", "none")),
        default_value="auto",
        description="what the stack publishes on /tf and /tf_static; robot: links and cameras; cameras: only the "
        "cameras, for a driver that publishes the links; auto: cameras with arm:=ros, otherwise robot; none: nothing",
    )


def transforms(context: LaunchContext, hand_eye: str = "", driven: bool = False) -> list[Node]:
    """Return the node `transforms`, by the arguments `transforms` and `robot`; none where it is not wanted.

    Args:
        context: of the launch.
        hand_eye: files with the cameras' places, as its parameter has them.
        driven: a third-party driver moves the robot.
    """
    wanted = LaunchConfiguration("transforms").perform(context)
    if wanted == "none":
        return []
    links = wanted == "robot" or (wanted == "auto" and not driven)
    return [node("transforms", {"robot_links": links, "hand_eye": text(hand_eye), **texts(robot="robot")}, **AGAIN)]


def launch_file(*parts: str) -> PathJoinSubstitution:
    """Return the path of a file in the folder `launch/`, which comes with the stack."""
    return PathJoinSubstitution([FindPackageShare("kc_vla"), "launch", *parts])


def output_argument(content: str) -> Argument:
    """Return the argument `output:=`, the folder of a graph for its `content`."""
    return Argument("output", NewPath("folder"), default_value="runs", description=f"folder for {content}")


def replayed_bag_argument() -> Argument:
    """Return the argument `bag:=`, of a graph whose policy can replay one."""
    return Argument("bag", ExistingPath(), default_value="", description="recorded episode for policy:=replay")


MEMORIES = {
    "none": (),
    "short": ("short_term_memory",),
    "long": ("long_term_memory",),
    "both": ("short_term_memory", "long_term_memory"),
}
"""The nodes of each value of `memory:=`."""


AUTO_MEMORY = "auto"
"""The value of `memory:=` of a graph with a planner: both where one plans, and none where none does."""


def memory_arguments(map_id: str, planned: bool = False) -> tuple[Argument, ...]:
    """Return the argument `memory:=` of a graph with a robot, and those of the long-term memory.

    These are `memory_store:=` and `map_id:=`.

    Args:
        map_id: the default of `map_id:=`.
        planned: the graph has the argument `planner:=`.
    """
    auto, told = ((AUTO_MEMORY,), "; auto: both with planner:=true, otherwise none") if planned else ((), "")
    which = f"memories that take the detections; short: the short-term memory; long: the scene graph{told}"
    return (
        Argument(
            "memory",
            OneOf((*auto, *MEMORIES)),
            default_value=AUTO_MEMORY if planned else "none",
            description=which,
        ),
        Argument(
            "memory_store",
            NewPath("file"),
            default_value=["runs/memory", Suffix(), ".db"],
            description="file of the long-term memory; it is made if it is missing, and outlives the launch",
        ),
        Argument("map_id", NotEmpty(), default_value=map_id, description="map of the long-term memory"),
    )


def crops_folder() -> ParameterValue:
    """Return the folder, beside the file of the long-term memory, for crops of what the short-term memory holds."""
    return text([LaunchConfiguration("memory_store"), "-crops"])


def memories() -> OpaqueFunction:
    """Return the memories, by those arguments and `robot`."""
    names = ("memory", "map_id")
    return OpaqueFunction(
        function=lambda context: memory_nodes(*(LaunchConfiguration(each).perform(context) for each in names))
    )


def memory_nodes(memory: str, map_id: str, **given: Any) -> list[Node]:
    """Return the nodes of a value of `memory:=`.

    Args:
        memory: the value.
        map_id: of the long-term memory.
        given: parameters of all of them.
    """
    own = {
        "long_term_memory": {"map_id": text(map_id), **texts(store="memory_store")},
        "short_term_memory": {"crops": crops_folder()},
    }
    return [node(name, {**texts(robot="robot"), **given, **own[name]}, **AGAIN) for name in MEMORIES[memory]]


def node(
    executable: str,
    parameters: Mapping[str, Any] | None = None,
    package: str = "kc_vla",
    files: Sequence[Substitution] = (),
    remapped: Sequence[tuple[str, str | Substitution]] = (),
    view: str = "",
    **options: Any,
) -> Node:
    """Return a node of the graph.

    Args:
        executable: its program, which gives it its name.
        parameters: over those that come with the stack; over these are those of `params:=`.
        package: that has the program.
        files: of parameters over all others.
        remapped: topics, before those that all nodes have another name for in a namespace: the first one counts.
        view: of a camera, its namespace within that of the graph.
        options: of the action.
    """
    if view:
        options["namespace"] = view
    return Node(
        package=package,
        executable=executable,
        name=executable,
        parameters=[
            LaunchConfiguration(SHIPPED_PARAMETERS),
            dict(parameters or {}),
            ParameterLayer(executable, files, view),
        ],
        remappings=[*remapped, *remappings()],
        output="screen",
        **options,
    )
