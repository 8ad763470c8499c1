"""The whole graph with ManiSkill as the robot: runs episodes of a task, records and reports them, and ends.

ros2 launch kc_vla maniskill.launch.py task:=counting seed:=3
"""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import SetParameter

from kc_vla.launching.endings import end_with, last_word
from kc_vla.launching.graph import (
    AGAIN,
    CLOSE_S,
    POLICY_FILES,
    POLICY_SERVER,
    execution,
    memories,
    memory_arguments,
    node,
    parameter_arguments,
    policy_argument,
    policy_model_arguments,
    policy_server_arguments,
    replayed_bag_argument,
    socket_argument,
    source_argument,
    state_folder,
    takeover_argument,
    texts,
    transforms,
    transforms_argument,
)
from kc_vla.launching.selector import model_arguments, selector
from kc_vla.launching.viewer import viewer_arguments, viewers


def controller(context: LaunchContext) -> list:
    """Start the arm's controller."""
    own = {"state_folder": state_folder(), **texts(mode="mode")}
    return [node("arm_controller", own, files=execution(context), **AGAIN)]


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    argument = LaunchConfiguration
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "task", default_value="counting", description="which task to run; all: each; none: wait"
            ),
            DeclareLaunchArgument(
                "simulator",
                default_value="maniskill",
                choices=["maniskill", "toy"],
                description="what plays the robot; toy: task counting on a line, to try and to break the graph",
            ),
            DeclareLaunchArgument(
                "rig",
                default_value="panda_sim",
                description="the robot: a rig that comes with the stack, or a YAML file, e.g. with other views",
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
            source_argument("maniskill"),
            *model_arguments(),
            policy_argument("maniskill", "learned"),
            takeover_argument("joy"),
            *policy_model_arguments(),
            *policy_server_arguments(),
            socket_argument(),
            replayed_bag_argument(),
            DeclareLaunchArgument("image_size", default_value="256", description="pixels, every camera, square"),
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
            transforms_argument(),
            *memory_arguments("maniskill"),
            *viewer_arguments(default=True),
            *parameter_arguments("maniskill.yaml"),
            SetParameter("use_sim_time", True),
            *last_word(),
            node(
                "maniskill_bridge",
                {
                    "image_size": argument("image_size"),
                    **texts(simulator="simulator", mode="mode", renderer="renderer", variant="variant", looks="looks"),
                    **texts(rig="rig"),
                },
                package="kc_vla_sim",
                on_exit=end_with,
            ),
            selector(),
            node("keyframe_buffer", {"state_folder": state_folder(), **texts(rig="rig")}, **AGAIN),
            node(
                "policy_server",
                texts(
                    backend="policy",
                    takeover="takeover",
                    bag="bag",
                    rig="rig",
                    socket="socket",
                    **POLICY_FILES,
                    **POLICY_SERVER,
                ),
                **AGAIN,
            ),
            OpaqueFunction(function=controller),
            node("recorder", texts(output_folder="output", rig="rig"), sigterm_timeout=CLOSE_S, **AGAIN),
            OpaqueFunction(function=transforms),
            memories(),
            *viewers("simulated"),
            node(
                "episode_runner",
                {
                    "seed": argument("seed"),
                    "episodes": argument("episodes"),
                    **texts(task="task", output_folder="output", report="report", rig="rig"),
                },
                on_exit=end_with,
            ),
        ]
    )
