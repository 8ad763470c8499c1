"""The whole graph with ManiSkill as the robot: runs episodes of a task, records and reports them, and ends.

ros2 launch kc_vla maniskill.launch.py task:=counting seed:=3
"""

from launch import LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import SetParameter

from kc_vla.core import topics
from kc_vla.core.tables import added_names
from kc_vla.core.tasks import find_task
from kc_vla.launching.arguments import Argument, chosen
from kc_vla.launching.detector import TruthTopic, check_detector, detector_arguments, perception
from kc_vla.launching.endings import end_with, last_word
from kc_vla.launching.graph import (
    AGAIN,
    CLOSE_S,
    memory_arguments,
    node,
    output_argument,
    replayed_bag_argument,
    state_folder,
    text,
    texts,
    transforms,
    transforms_argument,
)
from kc_vla.launching.kinds import Checked, Number, OneOf
from kc_vla.launching.parameters import parameter_arguments
from kc_vla.launching.policies import (
    check_options,
    check_policy,
    execution,
    policy_argument,
    policy_model_arguments,
    policy_server,
    policy_server_arguments,
    selector_argument,
    socket_argument,
    takeover_argument,
)
from kc_vla.launching.renamed import renamed, robot_arguments
from kc_vla.launching.selector import check_selector, model_arguments, selector
from kc_vla.launching.skills import (
    check_planner,
    instruction_argument,
    instructions_of,
    is_planned,
    mover_of,
    planned_nodes,
    planner_argument,
    remembering,
    sequence_argument,
)
from kc_vla.launching.viewer import viewer_arguments, viewers
from kc_vla.perception.detectors import TRUTH

_MAP = "maniskill"
_MOST_SHOWN = 1000
"""Letters of the instructions that the episode is called after."""


def check_task(name: str) -> None:
    """See that there is a task of that name; UnknownTaskError, a ValueError, where there is none."""
    if name not in ("all", "none"):
        find_task(name)


def controller(context: LaunchContext) -> list:
    """Start the arm's controller."""
    own = {"state_folder": state_folder(), **texts(mode="mode", robot="robot")}
    return [node("arm_controller", own, files=execution(context), **AGAIN)]


def _has_depth(context: LaunchContext) -> bool:
    """Return whether the cameras have depth: also where hands act on what a detector finds in the images."""
    said = chosen(context, "depth")
    return said == "true" or (said == "auto" and is_planned(context) and chosen(context, "detector") != TRUTH)


def bridge(context: LaunchContext) -> list:
    """Start the simulator; where a planner has the arm moved, a task follows no script of its own."""
    argument = LaunchConfiguration
    return [
        node(
            "maniskill_bridge",
            {
                "image_size": argument("image_size"),
                "depth": _has_depth(context),
                "boxes": chosen(context, "detector") == TRUTH,
                "script": not is_planned(context),
                "instruction": text("; ".join(instructions_of(context))[:_MOST_SHOWN]),
                **texts(simulator="simulator", mode="mode", renderer="renderer", variant="variant"),
                **texts(visual_randomization="visual_randomization", assets="assets"),
                **texts(options="simulator_options"),
                **texts(robot="robot"),
            },
            package="kc_vla_sim",
            remapped=[(topics.DETECTIONS_TRUTH, TruthTopic())],
            on_exit=end_with,
        )
    ]


def mover(context: LaunchContext) -> list:
    """Start what moves the arm: a policy, or the skills of a planner."""
    if is_planned(context):
        return planned_nodes(context, map_id=map_of(context), given_later=True)
    return [policy_server(("takeover", "bag", "socket"), backend=text(LaunchConfiguration("policy")))]


def runner(context: LaunchContext) -> list:
    """Start what runs the episodes."""
    argument = LaunchConfiguration
    return [
        node(
            "episode_runner",
            {
                "seed": argument("seed"),
                "episodes": argument("episodes"),
                "mover": mover_of(context),
                **texts(task="task", output_folder="output", report="report", robot="robot"),
                **(texts(instruction="instruction", sequence="sequence") if is_planned(context) else {}),
            },
            on_exit=end_with,
        )
    ]


def map_of(context: LaunchContext) -> str:
    """Return the map that the long-term memory is in; each kitchen in which a planner works has one of its own."""
    named, task, seed = (chosen(context, name) for name in ("map_id", "task", "seed"))
    return f"{task}-{seed}" if named == _MAP and is_planned(context) else named


def check(context: LaunchContext) -> None:
    """See that what is asked of a planner can be done.

    Raises:
        PlanningError: there are two kinds of instructions, or a file of them cannot be used.
        RuntimeError: there are instructions and no planner, or several episodes, of which only one has instructions.
    """
    given = next((name for name in ("instruction", "sequence") if chosen(context, name).strip()), "")
    if given and not is_planned(context):
        raise RuntimeError(f"{given}:= is for a planner: give planner:=true, too")
    if instructions_of(context) and (chosen(context, "episodes") != "1" or chosen(context, "task") in ("all", "none")):
        raise RuntimeError("a planner has its instructions in one episode: name one task:=, and leave episodes:= at 1")


def remember(context: LaunchContext) -> list:
    """Start the memories."""
    return remembering(context, map_of(context))


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    return LaunchDescription(
        [
            Argument(
                "task",
                Checked(check_task),
                default_value="counting",
                description="task to run; all: every task; none: wait for the action run_task",
            ),
            Argument(
                "simulator",
                OneOf(tuple(dict.fromkeys(("maniskill", "toy", *added_names("kc_vla.simulators"))))),
                default_value="maniskill",
                description="simulator; toy: the task counting in one dimension, to test how the graph reacts to "
                "faults",
            ),
            Argument(
                "simulator_options",
                Checked(check_options, empty=True),
                default_value="",
                description="options of the simulator that have no argument here, such as those of another package, "
                "e.g. '{length: 50}'",
            ),
            *robot_arguments("panda_sim", "the robot: a name of robots/, or a YAML file, e.g. with other views"),
            Argument(
                "seed",
                Number(0, 2**32 - 1, whole=True),
                default_value="0",
                description="seed of the first episode, 0 or more",
            ),
            Argument(
                "episodes",
                Number(1, 100_000, whole=True),
                default_value="1",
                description="number of episodes of each task; the seeds count up",
            ),
            Argument(
                "variant",
                OneOf(("standard", "hard", "paper")),
                default_value="standard",
                description="variant of the task: its random ranges",
            ),
            *renamed(
                "looks",
                Argument(
                    "visual_randomization",
                    OneOf(("standard", "varied")),
                    default_value="standard",
                    description="standard: all episodes have one room; varied: each episode has a room of its own",
                ),
            ),
            Argument(
                "assets",
                OneOf(("shapes", "libero")),
                default_value="shapes",
                description="assets of the task kitchen; libero: textured meshes that kc-vla[libero] installs",
            ),
            output_argument("bags, videos and summaries"),
            Argument(
                "mode",
                OneOf(("lockstep", "realtime")),
                default_value="lockstep",
                description="lockstep: the simulator waits for the stack; realtime: it does not",
            ),
            *selector_argument("maniskill"),
            *model_arguments(),
            policy_argument("maniskill", "learned"),
            takeover_argument("joy"),
            *policy_model_arguments(),
            *policy_server_arguments(),
            socket_argument(),
            replayed_bag_argument(),
            Argument(
                "image_size",
                Number(16, 2048, whole=True),
                default_value="256",
                description="width and height of the images of every camera, px",
            ),
            Argument(
                "depth",
                OneOf(("auto", "true", "false")),
                default_value="auto",
                description="true: publish and record the depth of every camera; auto: only if skills use a "
                "detector of images",
            ),
            Argument(
                "renderer",
                OneOf(("auto", "gpu", "cpu")),
                default_value="auto",
                description="renderer of the cameras' images",
            ),
            Argument(
                "report",
                OneOf(("full", "summary", "none")),
                default_value="full",
                description="report of each episode; full: video, contact sheet and summary",
            ),
            planner_argument(),
            instruction_argument(),
            sequence_argument(),
            transforms_argument(),
            *detector_arguments("maniskill", "truth"),
            *memory_arguments(_MAP, planned=True),
            *viewer_arguments(default=True),
            *parameter_arguments("maniskill.yaml"),
            OpaqueFunction(function=check_policy),
            OpaqueFunction(function=check_selector),
            OpaqueFunction(function=check_detector),
            OpaqueFunction(function=check_planner),
            OpaqueFunction(function=check),
            SetParameter("use_sim_time", True),
            *last_word(),
            OpaqueFunction(function=bridge),
            selector(),
            node("keyframe_buffer", {"state_folder": state_folder(), **texts(robot="robot")}, **AGAIN),
            OpaqueFunction(function=mover),
            OpaqueFunction(function=controller),
            node("recorder", texts(output_folder="output", robot="robot"), sigterm_timeout=CLOSE_S, **AGAIN),
            OpaqueFunction(function=transforms),
            OpaqueFunction(function=perception),
            OpaqueFunction(function=remember),
            *viewers("simulated"),
            OpaqueFunction(function=runner),
        ]
    )
