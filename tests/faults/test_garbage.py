"""Garbage from a policy, or from a second publisher beside a camera or the arm, does no harm and is told."""

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from finished_run import assert_succeeded
from node_process import Peer
from sensor_msgs.msg import Image, JointState
from stack import Episode, Stack

from kc_vla.core import topics
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode
from kc_vla.ros import qos

ROGUE_LAUNCH = str(Path(__file__).parents[1] / "support" / "rogue_policy.launch.py")
REFUSALS = (
    r"not finite in action 3: .*nan",
    r"not finite in action 1: .*inf",
    r"asks for 5\.000 m of translation along an axis in action 2: the limit is 0\.1",
    r"asks for 3\.000 rad of rotation about an axis in action 2: the limit is 0\.1",
    r"gripper opening outside 0\.\.1",
    r"says 16 actions of 7 numbers and carries 5",
    r"carries no actions",
    r"names its columns dx, dy, dz, drx, dry, drz: a tool delta has",
    r"names its columns a, b, c, d, e, f, g: a tool delta has",
    r"unknown action type 9",
    r"joint target of 1000000\.00: the limit is",
    r"was not asked for, or came too late",
    r"claims an observation of the future",
    r"belongs to episode 'counting-000000-of-yesterday'",
)
"""What is said of each kind of garbage of rogue_policy.py."""

_LISTENERS = 2
"""The policy server and the recorder hear every camera."""


@pytest.fixture(scope="module")
def rogue_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("rogue")
    arguments = {"seed": 3, "episodes": 2, "report": "none"}
    with Stack(folder / "runs", arguments, launch_file=(ROGUE_LAUNCH,), environment={"ROS_HOME": str(folder)}) as stack:
        stack.finish()
        yield stack


@pytest.fixture(scope="module")
def rogue_episodes(rogue_stack: Stack) -> list[RecordedEpisode]:
    return [RecordedEpisode(episode.bag) for episode in rogue_stack.all_episodes()]


def test_the_arm_holds_while_a_policy_gives_nothing_but_garbage(rogue_episodes: list[RecordedEpisode]) -> None:
    episode = rogue_episodes[0]
    assert {command.mode for command in episode.commands} == {CommandMode.HOLD}
    assert {command.reason for command in episode.commands} == {"no chunk yet"}
    assert episode.result is not None
    assert episode.result.reason == "time limit"


@pytest.mark.parametrize("refusal", REFUSALS)
def test_each_kind_of_garbage_is_told(rogue_stack: Stack, refusal: str) -> None:
    assert "Traceback" not in rogue_stack.text
    assert rogue_stack.find(rf"arm_controller.*chunk \d+ .*{refusal}")


def test_nothing_of_the_garbage_between_good_chunks_reaches_the_arm(rogue_episodes: list[RecordedEpisode]) -> None:
    episode = rogue_episodes[1]
    assert_succeeded(episode)
    moves = [command for command in episode.commands if command.mode == CommandMode.TOOL_DELTA]
    values = np.array([command.values for command in moves])
    assert np.isfinite(values).all()
    assert np.abs(values[:, :6]).max() <= 0.1 + 1e-6
    assert values[:, 6].min() >= 0.0
    assert values[:, 6].max() <= 1.0
    assert {command.mode for command in episode.commands} <= {CommandMode.TOOL_DELTA, CommandMode.HOLD}


def _garbage_images(stamp: object) -> list[Image]:
    """Depth where a picture is expected, one of another size than it says, and one with nothing in it."""
    images = [
        Image(height=64, width=64, encoding="32FC1", step=256, data=array("B", bytes(64 * 256))),
        Image(height=48, width=64, encoding="rgb8", step=64 * 3, data=array("B", bytes(100))),
        Image(),
    ]
    for image in images:
        image.header.stamp = stamp
    return images


def _garbage_joints(stamp: object) -> list[JointState]:
    """Joint states with more names than positions, and the other way round."""
    states = [JointState(name=["joint1", "joint2"], position=[1.0]), JointState(name=[], position=[1.0, 2.0])]
    for state in states:
        state.header.stamp = stamp
    return states


@pytest.mark.nightly
def test_garbage_of_a_second_publisher_is_left_out_and_told(
    stack: Stack, mid_episode: Callable[[Stack], Episode], recorded: Callable[[Episode], RecordedEpisode]
) -> None:
    """It comes with the stamp of each frame, so that only its content tells it from what is real."""
    with Peer() as peer:
        images = [
            peer.node.create_publisher(Image, topic, qos.IMAGE)
            for topic in (topics.image_topic("third_person"), topics.image_topic("wrist"))
        ]
        joints = peer.node.create_publisher(JointState, topics.JOINT_STATES, qos.STATE)
        echoing = False

        def echo(real: JointState) -> None:
            if not echoing or len(real.name) < 3:
                return  # too early, or our own
            for publisher in images:
                for image in _garbage_images(real.header.stamp):
                    publisher.publish(image)
            for state in _garbage_joints(real.header.stamp):
                joints.publish(state)

        # An episode may be over sooner than its nodes have found one another: this one is known before it begins.
        heard = peer.hear(JointState, topics.JOINT_STATES, qos.STATE)
        peer.node.create_subscription(JointState, topics.JOINT_STATES, echo, qos.STATE)
        peer.until(lambda: heard and all(image.get_subscription_count() >= _LISTENERS for image in images))
        episode = mid_episode(stack)
        begun, echoing = stack.position, True
        peer.until(lambda: episode.is_over)
    assert stack.find(r"an image is in '32FC1', which cannot be shown", begun)
    assert stack.find(r"joint states name 2 joints and give 1 positions", begun)
    assert episode.wait_for_result() == "succeeded"
    assert_succeeded(recorded(episode))
