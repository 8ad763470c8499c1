"""A robot in a symbolic home that carries instructions out with both memories, told in lines that a person can follow.

ros2 launch kc_vla household.launch.py instruction:="wash an apple, then bring it to the table"
"""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from kc_vla.launching.endings import end_with, last_word
from kc_vla.launching.graph import AGAIN, node, parameter_arguments, texts


def planner(context: LaunchContext) -> list[Node]:
    """The planner: with an instruction it ends, and all with it, when that is carried out."""
    once = bool(LaunchConfiguration("instruction").perform(context).strip())
    given = texts(instruction="instruction", planner="planner", memory="memory", store="memory_store", map_id="map_id")
    given |= texts(model="llm", server="server", cache="cache")
    return [node("planner", given, **({"on_exit": end_with} if once else AGAIN))]


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
            DeclareLaunchArgument("output", default_value="runs", description="folder for what is kept"),
            DeclareLaunchArgument(
                "memory_store",
                default_value=[argument("output"), "/memory.db"],
                description="file of the long-term memory, which outlives it; a new one is made",
            ),
            DeclareLaunchArgument(
                "map_id",
                default_value=[argument("scene"), "-", argument("seed")],
                description="map that the long-term memory is in",
            ),
            DeclareLaunchArgument(
                "planner",
                default_value="grammar",
                choices=["grammar", "model"],
                description="what makes plans; grammar: offline; model: a language model",
            ),
            DeclareLaunchArgument("llm", default_value="", description="name of the language model"),
            DeclareLaunchArgument(
                "server", default_value="", description="address of its OpenAI-compatible API; empty: OpenAI's own"
            ),
            DeclareLaunchArgument("cache", default_value="", description="folder for the model's answers; empty: none"),
            *parameter_arguments("household.yaml"),
            *last_word(),
            node(
                "household",
                {"seed": argument("seed"), "pace": argument("pace"), **texts(scene="scene")},
                package="kc_vla_sim",
                on_exit=end_with,
            ),
            OpaqueFunction(function=planner),
        ]
    )
