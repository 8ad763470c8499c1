"""A launch file of ours, included by another one: in a namespace, beside another stack, with parameters for others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stack import MAIN_JOB, Stack

from kc_vla.bags.reader import BagReader
from kc_vla.episodes.episode import RecordedEpisode

INCLUDING = """
from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import PushRosNamespace, SetParameter

FILE = get_package_share_directory("kc_vla") + "/launch/maniskill.launch.py"

def stack(namespace, **more):
    given = {{**{given}, **more, "output": LaunchConfiguration("output")}}
    included = IncludeLaunchDescription(PythonLaunchDescriptionSource(FILE), launch_arguments=given.items())
    return GroupAction([PushRosNamespace(namespace), SetParameter("robot_radius", 0.3), included])

def generate_launch_description():
    return LaunchDescription([DeclareLaunchArgument("output"), {stacks}])
"""


def including(folder: Path, stacks: str) -> tuple[str]:
    file = folder / "robots.launch.py"
    given = {name: str(value) for name, value in MAIN_JOB.items()}
    file.write_text(INCLUDING.format(given=given, stacks=stacks))
    return (str(file),)


def frames(folder: Path) -> tuple[set[str], set[str]]:
    """Of an episode's bag, the frames of its commands and those of its tree."""
    reader, told, tree = BagReader(folder / "bag"), set(), set()
    for message in reader.messages():
        name = message.topic.rpartition("/")[2]
        if message.topic == "/arm/command":  # as in the root: every tool reads the bag
            told.add(reader.decode(message).header.frame_id)
        elif name in ("tf", "tf_static"):
            for each in reader.decode(message).transforms:
                tree |= {each.header.frame_id, each.child_frame_id}
    return told, tree


@pytest.mark.nightly
def test_a_stack_in_a_namespace_is_the_same_as_in_the_root(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("arm_controller: {ros__parameters: {execute_steps: 6}}")
    file = including(tmp_path, f'stack("left", params={str(own)!r})')
    with Stack(tmp_path / "runs", {}, launch_file=file) as stack:
        assert stack.finish() == 0, stack.tail()
        text = stack.text
    assert "episodes succeeded, 4 of 4 keyframes" in text
    assert "ignored, as this node has no such parameter: robot_radius" in text
    (summary,) = (tmp_path / "runs").glob("counting-*/summary.json")
    assert json.loads(summary.read_text())["success"]
    told, tree = frames(summary.parent)
    assert told == {"panda_link0"}
    assert told <= tree
    episode = RecordedEpisode(summary.parent / "bag")
    assert {"arm_controller", "keyframe_selector", "policy_server"} <= episode.diagnostics.keys()


@pytest.mark.nightly
def test_two_stacks_of_one_launch_do_not_meet(tmp_path: Path) -> None:
    file = including(tmp_path, 'stack("left"), stack("right", seed="4", episodes="2")')
    with Stack(tmp_path / "runs", {}, launch_file=file) as stack:
        assert stack.finish() == 0, stack.tail()
        text = stack.text
    assert "1 of 1 episodes succeeded" in text
    assert "2 of 2 episodes succeeded" in text
    assert len(list((tmp_path / "runs").glob("counting-*/summary.json"))) == 3
