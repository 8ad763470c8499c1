"""A node that is killed in the middle of an episode comes back, and the episode goes on as if nothing had been."""

from collections.abc import Callable

import pytest
from finished_run import assert_policy_was_given_every_keyframe, assert_succeeded
from stack import Episode, Stack

from kc_vla.episodes.episode import RecordedEpisode

NODES = ("keyframe_selector", "keyframe_buffer", "policy_server", "arm_controller", "recorder")


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
    bag = recorded(episode)
    assert_succeeded(bag)
    assert_policy_was_given_every_keyframe(bag)
    assert bag.damages == ()


def test_a_killed_buffer_says_what_it_still_has(stack: Stack, mid_episode: Callable[[Stack], Episode]) -> None:
    episode = mid_episode(stack)
    killed_at = stack.position
    stack.kill("keyframe_buffer")
    found = stack.wait_for(rf"goes on with (\d+) keyframes of episode {episode.id}", killed_at)
    assert int(found[1]) >= 3  # the start and both ends of the first flash
    assert episode.wait_for_result() == "succeeded"
