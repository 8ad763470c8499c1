"""However a launch ends in the middle of an episode: no process is left, and the bag written so far is readable."""

from collections.abc import Callable

import pytest
from stack import Episode, Stack

from kc_vla.bags.reader import BagReader
from kc_vla.episodes.episode import RecordedEpisode


def assert_readable(bag: RecordedEpisode) -> None:
    """The episode is in the bag up to where it was ended, with its keyframes."""
    assert bag.damages == ()
    assert bag.result is None
    assert [frame.index for frame in bag.frames] == list(range(len(bag.frames)))
    assert [k.phase for k in bag.keyframes if k.committed][:2] == [0, 1]
    assert len(bag.commands) > bag.keyframes[1].frame
    assert sum(1 for _ in BagReader(bag.bag).messages()) == sum(bag.message_counts.values())


def test_ctrl_c(stack: Stack, mid_episode: Callable[[Stack], Episode]) -> None:
    stack.first_episode().wait_for_result()
    episode = mid_episode(stack)
    pressed_at = stack.position  # the stack is shared: an earlier test may have killed a node of it
    stack.press_ctrl_c()
    assert stack.finish() == 0
    assert "Traceback" not in stack.text
    assert not stack.find(r"process has died|escalating", pressed_at)
    assert stack.find(r"\d+ of \d+ episodes succeeded", pressed_at)  # of those before
    assert_readable(RecordedEpisode(episode.bag))


@pytest.mark.nightly
@pytest.mark.parametrize("node", ["maniskill_bridge", "episode_runner"])
def test_a_required_node_is_killed(stack: Stack, mid_episode: Callable[[Stack], Episode], node: str) -> None:
    episode = mid_episode(stack)
    stack.kill(node)
    assert stack.finish() == 1
    assert stack.find(rf"{node}-\d+ was required and ended with exit code -9")
    assert "Traceback" not in stack.text
    assert_readable(RecordedEpisode(episode.bag))


@pytest.mark.nightly  # no process is left: standalone/test/test_no_orphans.py
def test_the_launcher_is_killed(stack: Stack, mid_episode: Callable[[Stack], Episode]) -> None:
    episode = mid_episode(stack)
    stack.kill_launcher()
    assert stack.finish() == -9
    assert_readable(RecordedEpisode(episode.bag))
