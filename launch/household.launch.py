"""A robot in a symbolic home that carries instructions out with both memories, told in lines that a person can follow.

ros2 launch kc_vla household.launch.py instruction:="wash an apple, then bring it to the table"
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from kc_vla.core.ports import HOUSEHOLD_PAGE
from kc_vla.launching.endings import end_with, last_word
from kc_vla.launching.graph import AGAIN, CLOSE_S, node, parameter_arguments, text, texts


def planner(context: LaunchContext) -> list[Node]:
    """The planner; a language model plans where one is named."""
    names = ("planner", "llm", "map_id", "sequence", "scene", "seed")
    asked, model, map_id, sequence, scene, seed = (LaunchConfiguration(each).perform(context) for each in names)
    given = texts(memory="memory", store="memory_store", model="llm", server="server", cache="cache")
    chosen = asked if asked != "auto" else "model" if model else "grammar"
    for name in ("server", "cache"):
        if chosen == "grammar" and LaunchConfiguration(name).perform(context):
            raise RuntimeError(f"{name}:= is of a language model, and none plans: name it with llm:=")
    if not map_id:  # a sequence that comes with the stack has a scene of its own
        map_id = sequence if sequence and not Path(sequence).expanduser().is_file() else f"{scene}-{seed}"
    return [
        node(
            "planner",
            {"planner": chosen, "offline": LaunchConfiguration("offline"), "map_id": text(map_id), **given},
            **AGAIN,
        )
    ]


def session(context: LaunchContext) -> list[Node]:
    """With something to do: what gives it, and the recorder; all ends when it is done."""
    if not any(LaunchConfiguration(each).perform(context).strip() for each in ("instruction", "sequence")):
        return []
    given = texts(
        instruction="instruction", sequence="sequence", scene="scene", memory="memory", output_folder="output"
    )
    return [
        node("recorder", texts(output_folder="output"), sigterm_timeout=CLOSE_S, **AGAIN),
        node(
            "home_session",
            {"seed": LaunchConfiguration("seed"), **given},
            package="kc_vla_sim",
            sigterm_timeout=CLOSE_S,
            on_exit=end_with,
        ),
    ]


def page(context: LaunchContext) -> list[Node]:
    """The live map, unless nobody wants it."""
    port = LaunchConfiguration("page").perform(context)
    if port == "none":
        return []
    if not port.isdecimal():
        raise RuntimeError(f"page:={port} is no port: give a number, or none")
    return [node("home_page", {"port": int(port), **texts(token="token")}, package="kc_vla_sim", **AGAIN)]


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    argument = LaunchConfiguration
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "instruction",
                default_value="",
                description="what to do; empty: wait for the action execute_instruction",
            ),
            DeclareLaunchArgument(
                "sequence",
                default_value="",
                description="or what to do one after the other: composite-test-001 and the like, which have their own "
                "scene, or a file with an instruction in each line",
            ),
            DeclareLaunchArgument(
                "scene", default_value="home1", description="home1 to home30, or the number of a floor plan of ALFRED's"
            ),
            DeclareLaunchArgument("seed", default_value="0", description="of what is where"),
            DeclareLaunchArgument(
                "pace", default_value="20.0", description="times as fast as it would be; 0: no time passes"
            ),
            DeclareLaunchArgument(
                "memory",
                default_value="both",
                choices=["both", "long", "short", "none", "history", "context"],
                description="what the robot remembers with; history: the last things seen; context: those handled",
            ),
            DeclareLaunchArgument(
                "output", default_value="runs", description="folder for reports, bags and the memory"
            ),
            DeclareLaunchArgument(
                "page",
                default_value=str(HOUSEHOLD_PAGE),
                description="port of the live map on this machine; none: no map",
            ),
            DeclareLaunchArgument(
                "token",
                default_value="",
                description="that the live map asks for before it says what is to be done; empty: it only shows",
            ),
            DeclareLaunchArgument(
                "memory_store",
                default_value=[argument("output"), "/memory.db"],
                description="file of the long-term memory, which outlives it; a new one is made. The home begins anew "
                "with each launch: what was moved the last time is not where it is remembered",
            ),
            DeclareLaunchArgument(
                "map_id",
                default_value="",
                description="map that the long-term memory is in; empty: called after scene and seed, or the sequence",
            ),
            DeclareLaunchArgument(
                "planner",
                default_value="auto",
                choices=["auto", "grammar", "model"],
                description="what makes plans; grammar: offline; model: a language model; auto: that of llm:=, if any",
            ),
            DeclareLaunchArgument("llm", default_value="", description="name of the language model"),
            DeclareLaunchArgument(
                "server", default_value="", description="address of its OpenAI-compatible API; empty: OpenAI's own"
            ),
            DeclareLaunchArgument(
                "offline",
                default_value="true",
                choices=["true", "false"],
                description="whether the grammar plans where the model does not answer; what planned is in each result",
            ),
            DeclareLaunchArgument("cache", default_value="", description="folder for the model's answers; empty: none"),
            *parameter_arguments("household.yaml"),
            *last_word(),
            node(
                "household",
                {"seed": argument("seed"), "pace": argument("pace"), **texts(scene="scene", sequence="sequence")},
                package="kc_vla_sim",
                on_exit=end_with,
            ),
            OpaqueFunction(function=planner),
            OpaqueFunction(function=page),
            OpaqueFunction(function=session),
        ]
    )
