"""Plays a recorded episode to the live selector, buffer and policy, and compares their output with the recording.

ros2 launch kc_vla replay.launch.py bag:=runs/<episode>/bag
"""

import json
import subprocess

from launch import LaunchContext, LaunchDescription
from launch.actions import LogInfo, OpaqueFunction, SetLaunchConfiguration
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import SetParameter
from launch_ros.substitutions import ExecutableInPackage

from kc_vla.core.robot import load_robot
from kc_vla.core.topics import DETECTIONS, DETECTIONS_TRUTH
from kc_vla.launching.arguments import Argument, chosen
from kc_vla.launching.detector import check_detector, detector_arguments, perception
from kc_vla.launching.endings import end_if_it_cannot_start, end_with, last_word
from kc_vla.launching.graph import (
    AGAIN,
    memories,
    memory_arguments,
    node,
    output_argument,
    text,
    texts,
    transforms,
    transforms_argument,
)
from kc_vla.launching.kinds import ExistingPath, Number
from kc_vla.launching.namespace import InStack
from kc_vla.launching.parameters import SHIPPED_PARAMETERS, parameters_of, params_argument
from kc_vla.launching.policies import (
    policy_argument,
    policy_model_arguments,
    policy_server,
    policy_server_arguments,
    script_argument,
    selector_argument,
)
from kc_vla.launching.renamed import robot_arguments
from kc_vla.launching.selector import ChosenSelector, model_arguments, selector
from kc_vla.launching.viewer import viewer_arguments, viewers
from kc_vla.perception.detectors import NO_DETECTOR

_PLANNED = ("selector", "policy", "robot", "output", "detector", "detector_options")

_PLAYED_ON = {f"/{DETECTIONS_TRUTH}": DETECTIONS}
"""Where a topic of the bag is played that has another name in the graph; the truth is played if detector:=truth."""


def plan(context: LaunchContext) -> dict:
    """What the bag allows, and a new folder for what comes of it.

    Raises:
        RuntimeError: it cannot be replayed.
    """
    program = ExecutableInPackage(executable="replay_plan", package="kc_vla").perform(context)
    bag = chosen(context, "bag")
    options = [f"--{name}={chosen(context, name)}" for name in _PLANNED]
    done = subprocess.run([program, *options, "--", bag], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            (done.stderr.strip() or f"replay_plan ended with exit code {done.returncode}").splitlines()[-1]
        )
    return json.loads(done.stdout)


def check_robot(name: str) -> None:
    """See that there is such a robot; RobotError where there is none."""
    if name != "auto":
        load_robot(name)


def replay(context: LaunchContext) -> list:
    """Start the graph that the bag can be played to."""
    planned = plan(context)
    actions: list = [LogInfo(msg=f"note: {note}") for note in planned["notes"]]
    actions.append(SetLaunchConfiguration(SHIPPED_PARAMETERS, parameters_of(planned["params"])))
    bag, folder, policy = text(planned["bag"]), planned["folder"], planned["policy"]
    player = {
        "bag": bag,
        "topics": ",".join(planned["topics"]),
        "paused": True,
        "diagnostics_period": 0.25,
        "clock": True,
        "time": "stamped",
        "decompress": True,
    }
    comparison = {"bag": bag, "folder": text(folder), "policy": policy, "notes": text("\n".join(planned["notes"]))}
    rate = LaunchConfiguration("rate")
    actions.append(SetLaunchConfiguration("robot", planned["robot"]))
    actions.append(SetLaunchConfiguration("policy", planned["moved_by"]))  # by this the selector is chosen
    actions.append(SetLaunchConfiguration("selector", ChosenSelector()))
    actions += [
        *viewers(),
        selector(),
        node("keyframe_buffer", {"state_folder": text(f"{folder}/state"), **texts(robot="robot")}, **AGAIN),
        node(
            "bag_player",
            {**player, "rate": rate},
            remapped=[
                ("/keyframes/score", "oracle/score"),  # played for selector:=oracle alone
                ("/tf_static", "camera_places"),  # the links are told anew, of what is played
                *((topic, InStack(_PLAYED_ON.get(topic, topic.lstrip("/")))) for topic in planned["topics"]),
            ],
            on_exit=end_if_it_cannot_start,
        ),
        node("replay_comparison", {**comparison, "rate": rate, **texts(selector="selector")}, on_exit=end_with),
    ]
    actions += [*transforms(context), *perception(context), memories()]
    if policy != "none":
        actions.append(policy_server(("script",), backend=policy, bag=bag))
    return actions


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    return LaunchDescription(
        [
            Argument("bag", ExistingPath(needed=True), description="recorded episode: a bag folder, or a file of one"),
            Argument("rate", Number(0.01, 100.0), default_value="1.0", description="speed relative to the recording"),
            *selector_argument("replay"),
            *model_arguments(),
            policy_argument(
                "replay",
                "auto",
                {"auto": "the policy that recorded the bag, if it can be replayed", "none": "no policy"},
            ),
            *policy_model_arguments(),
            *policy_server_arguments(),
            *robot_arguments(
                "auto", "the robot, as for robot.launch.py; auto: the simulated one, or the Piper", check_robot
            ),
            script_argument(),
            output_argument("the comparison, which goes to <output>/<episode>-replay"),
            *memory_arguments("replayed"),
            *detector_arguments("replay", NO_DETECTOR, "the recorded detections are played"),
            transforms_argument(),
            params_argument("those of the launch that recorded the bag"),
            *viewer_arguments(default=False),
            *last_word(),
            SetParameter("use_sim_time", True),
            OpaqueFunction(function=check_detector),
            OpaqueFunction(function=replay),
        ]
    )
