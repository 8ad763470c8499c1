"""The whole graph with ManiSkill as the robot: runs episodes of a task, records and reports them, and ends.

ros2 launch kc_vla maniskill.launch.py task:=counting seed:=3
"""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.events.process import ProcessExited
from launch.substitutions import EnvironmentVariable, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, SetParameter
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

CANNOT_START = 2
"""Exit code of a node that cannot do its work, whatever is tried: see `kc_vla.nodes.base.run_node`."""


def end_with(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
    """End the launch with a required node, and with exit code 1 if that node failed."""
    if context.is_shutdown:
        return None
    if event.returncode:
        raise RuntimeError(f"{event.process_name} was required and ended with exit code {event.returncode}")
    return Shutdown(reason=f"{event.process_name} has done its work")


def end_if_it_cannot_start(event: ProcessExited, context: LaunchContext) -> None:
    """Let a node that has died start again, unless that cannot help."""
    if event.returncode == CANNOT_START and not context.is_shutdown:
        raise RuntimeError(f"{event.process_name} cannot start: see what it says above")


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    argument = LaunchConfiguration
    domain = EnvironmentVariable("ROS_DOMAIN_ID", default_value="0")
    state = [argument("output"), "/state-", domain]  # two stacks, two folders
    params = PathJoinSubstitution([FindPackageShare("kc_vla"), "launch", "params", "maniskill.yaml"])

    def text(name: str) -> ParameterValue:
        """An argument that stays a text, also where it looks like a number or is empty."""
        return ParameterValue(argument(name), value_type=str)

    def node(executable: str, parameters: dict | None = None, package: str = "kc_vla", **options: object) -> Node:
        return Node(
            package=package,
            executable=executable,
            name=executable,
            parameters=[argument("params"), parameters or {}],
            output="screen",
            **options,
        )

    again = {
        "respawn": True,
        "respawn_delay": 1.0,
        "respawn_max_retries": 10,
        "on_exit": end_if_it_cannot_start,
    }
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "task", default_value="counting", description="which task to run; all: each; none: wait"
            ),
            DeclareLaunchArgument("seed", default_value="0", description="seed of the first episode, 0 or more"),
            DeclareLaunchArgument(
                "episodes", default_value="1", description="how many episodes of a task, seeds counting up"
            ),
            DeclareLaunchArgument(
                "variant",
                default_value="standard",
                choices=["standard", "hard", "paper"],
                description="ranges of what chance decides in the task",
            ),
            DeclareLaunchArgument(
                "looks",
                default_value="standard",
                choices=["standard", "varied"],
                description="one room for all episodes, or each episode its own",
            ),
            DeclareLaunchArgument("output", default_value="runs", description="folder for bags, videos and summaries"),
            DeclareLaunchArgument(
                "mode",
                default_value="lockstep",
                choices=["lockstep", "realtime"],
                description="lockstep: the simulator waits for the stack; realtime: it does not",
            ),
            DeclareLaunchArgument(
                "source",
                default_value="oracle",
                choices=["oracle", "learned", "rules"],
                description="what selects the keyframes: a network that sees the pictures, the simulator, or rules",
            ),
            DeclareLaunchArgument(
                "models",
                default_value="",
                description="folder with a registry of models, for source:=learned; empty: the models shipped",
            ),
            DeclareLaunchArgument(
                "policy",
                default_value="expert",
                choices=["expert", "replay"],
                description="what makes the actions",
            ),
            DeclareLaunchArgument("bag", default_value="", description="recorded episode for policy:=replay"),
            DeclareLaunchArgument("image_size", default_value="256", description="pixels, both cameras, square"),
            DeclareLaunchArgument(
                "renderer",
                default_value="auto",
                choices=["auto", "gpu", "cpu"],
                description="what draws the cameras' pictures",
            ),
            DeclareLaunchArgument(
                "report",
                default_value="full",
                choices=["full", "summary", "none"],
                description="what is made of each episode; full: video, contact sheet and summary",
            ),
            DeclareLaunchArgument("params", default_value=params, description="parameters of the nodes, YAML"),
            SetParameter("use_sim_time", True),
            node(
                "maniskill_bridge",
                {
                    "mode": text("mode"),
                    "image_size": argument("image_size"),
                    "renderer": text("renderer"),
                    "variant": text("variant"),
                    "looks": text("looks"),
                },
                package="kc_vla_sim",
                on_exit=end_with,
            ),
            node("keyframe_selector", {"source": text("source"), "models_folder": text("models")}, **again),
            node(
                "keyframe_buffer",
                {"state_folder": ParameterValue(state, value_type=str)},
                **again,
            ),
            node("policy_server", {"backend": text("policy"), "bag": text("bag")}, **again),
            node(
                "arm_controller",
                {"mode": text("mode"), "state_folder": ParameterValue(state, value_type=str)},
                **again,
            ),
            node("recorder", {"output_folder": text("output")}, **again),
            node(
                "episode_runner",
                {
                    "task": text("task"),
                    "seed": argument("seed"),
                    "episodes": argument("episodes"),
                    "output_folder": text("output"),
                    "report": text("report"),
                },
                on_exit=end_with,
            ),
        ]
    )
