"""A node that is killed in the middle of an episode comes back, and the episode goes on as if nothing had been."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from finished_run import assert_policy_was_given_every_keyframe, assert_succeeded
from stack import PATIENCE_S, Episode, Stack

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.reader import BagReader
from kc_vla.episodes.episode import RecordedEpisode

NODES = ("keyframe_selector", "policy_server", "arm_controller")


def assert_unharmed(bag: RecordedEpisode) -> None:
    assert_succeeded(bag)
    assert_policy_was_given_every_keyframe(bag)
    assert bag.damages == ()


def has_messages(bag: Path) -> bool:
    try:
        return next(BagReader(bag).messages(), None) is not None
    except BagReadError:  # nothing of it yet
        return False


def wait_until(stack: Stack, condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, stack.tail()
        time.sleep(0.1)


@pytest.mark.nightly  # test_emergency_stop.py kills the arm controller in the suite
@pytest.mark.parametrize("node", NODES)
def test_the_episode_goes_on(
    stack: Stack, mid_episode: Callable[[Stack], Episode], recorded: Callable[[Episode], RecordedEpisode], node: str
) -> None:
    episode = mid_episode(stack)
    killed_at = stack.position
    stack.kill(node)
    stack.wait_for(rf"\[{node}-\d+\]: process has died .*exit code -9", killed_at)
    stack.wait_for(rf"\[{node}-\d+\]: process started", killed_at)
    assert episode.wait_for_result() == "succeeded"
    assert_unharmed(recorded(episode))


@pytest.mark.nightly
def test_a_killed_recorder_goes_on_with_the_bag(
    stack: Stack, mid_episode: Callable[[Stack], Episode], recorded: Callable[[Episode], RecordedEpisode]
) -> None:
    episode = mid_episode(stack)
    killed_at = stack.position
    stack.pause("policy_server")  # nobody waits for a recorder: the episode could be over before it is there again
    try:
        wait_until(stack, lambda: has_messages(episode.bag))  # a second of an episode is not on the disk yet
        stack.kill("recorder")
        stack.wait_for(r"\[recorder-\d+\]: process has died .*exit code -9", killed_at)
        wait_until(stack, lambda: len(list(episode.bag.glob("*.mcap"))) > 1)  # it mends the file, goes on beside it
    finally:
        stack.resume("policy_server")
    assert episode.wait_for_result() == "succeeded"
    assert_unharmed(recorded(episode))


def test_a_killed_buffer_says_what_it_still_has_and_the_episode_goes_on(
    stack: Stack, mid_episode: Callable[[Stack], Episode], recorded: Callable[[Episode], RecordedEpisode]
) -> None:
    episode = mid_episode(stack)
    killed_at = stack.position
    stack.kill("keyframe_buffer")
    found = stack.wait_for(rf"goes on with (\d+) keyframes of episode {episode.id}", killed_at)
    assert int(found[1]) >= 3  # the start and both ends of the first flash
    assert episode.wait_for_result() == "succeeded"
    assert_unharmed(recorded(episode))
