"""A recorded episode, played to the live selector, buffer and policy as their cameras would, and compared with them.

ros2 launch kc_vla replay.launch.py bag:=runs/<episode>/bag
"""

import json
import subprocess

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, SetLaunchConfiguration
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import SetParameter
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare

from kc_vla.launching.endings import end_if_it_cannot_start, end_with, last_word
from kc_vla.launching.graph import (
    AGAIN,
    POLICY_FILES,
    POLICY_SERVER,
    SHIPPED_PARAMETERS,
    memories,
    memory_arguments,
    node,
    parameters_of,
    policy_argument,
    policy_model_arguments,
    policy_server_arguments,
    source_argument,
    text,
    texts,
    transforms,
    transforms_argument,
)
from kc_vla.launching.selector import KeyframeSource, model_arguments, selector
from kc_vla.launching.viewer import viewer_arguments, viewers

_PLANNED = ("source", "policy", "rig", "output")


def plan(context: LaunchContext) -> dict:
    """What the bag allows, and a new folder for what comes of it.

    Raises:
        RuntimeError: it cannot be replayed.
    """
    program = ExecutableInPackage(executable="replay_plan", package="kc_vla").perform(context)
    bag = LaunchConfiguration("bag").perform(context)
    options = [f"--{name}={LaunchConfiguration(name).perform(context)}" for name in _PLANNED]
    done = subprocess.run([program, *options, "--", bag], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            (done.stderr.strip() or f"replay_plan ended with exit code {done.returncode}").splitlines()[-1]
        )
    return json.loads(done.stdout)


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
    actions.append(SetLaunchConfiguration("rig", planned["rig"]))
    actions.append(SetLaunchConfiguration("policy", planned["moved_by"]))  # by this the selector is chosen
    actions.append(SetLaunchConfiguration("source", KeyframeSource()))
    actions += [
        *viewers(),
        selector(),
        node("keyframe_buffer", {"state_folder": text(f"{folder}/state"), **texts(rig="rig")}, **AGAIN),
        node(
            "bag_player",
            {**player, "rate": rate},
            remappings=[
                ("/keyframes/score", "oracle/score"),  # played for source:=oracle alone
                ("/tf_static", "camera_places"),  # the links are told anew, of what is played
            ],
            on_exit=end_if_it_cannot_start,
        ),
        node("replay_comparison", {**comparison, "rate": rate, **texts(source="source")}, on_exit=end_with),
    ]
    actions += [*transforms(context), memories()]
    if policy != "none":
        models = texts(**POLICY_FILES, **POLICY_SERVER)
        asked = {"backend": policy, "bag": bag, **models, **texts(script="script", rig="rig")}
        actions.append(node("policy_server", asked, **AGAIN))
    return actions


def generate_launch_description() -> LaunchDescription:
    """Describe the graph."""
    script = PathJoinSubstitution([FindPackageShare("kc_vla"), "launch", "params", "piper_script.yaml"])
    return LaunchDescription(
        [
            DeclareLaunchArgument("bag", description="recorded episode: a bag folder, or a file of one"),
            DeclareLaunchArgument("rate", default_value="1.0", description="times as fast as the cameras saw it"),
            source_argument("replay"),
            *model_arguments(),
            policy_argument(
                "replay", "auto", {"auto": "as the bag was recorded, if it can be asked", "none": "nothing"}
            ),
            *policy_model_arguments(),
            *policy_server_arguments(),
            DeclareLaunchArgument(
                "rig",
                default_value="auto",
                description="the robot, as for piper.launch.py; auto: the simulated one, or the Piper",
            ),
            DeclareLaunchArgument("script", default_value=script, description="poses for policy:=scripted"),
            DeclareLaunchArgument(
                "output", default_value="runs", description="folder; the comparison goes to <output>/<episode>-replay"
            ),
            *memory_arguments("replayed"),
            transforms_argument(),
            DeclareLaunchArgument(
                "params",
                default_value="",
                description="YAML file with parameters of nodes, on top of those of the launch that recorded the bag",
            ),
            *viewer_arguments(default=False),
            *last_word(),
            SetParameter("use_sim_time", True),
            OpaqueFunction(function=replay),
        ]
    )
