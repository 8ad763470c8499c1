"""A node that stands still for a while is waited for; one that never moves again ends the episode with a reason."""

import re
from collections.abc import Callable

import pytest
from finished_run import assert_policy_was_given_every_keyframe, assert_succeeded
from stack import Episode, Stack

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode

MISSED = {
    "keyframe_selector": "no keyframe index",
    "keyframe_buffer": "no (keyframe index|arm command)",  # the policy may just be asking it for pictures
    "policy_server": "no arm command",
    "arm_controller": "no arm command",
}
"""What the simulator misses while a node stands still."""


@pytest.mark.nightly
@pytest.mark.parametrize("node", MISSED)
def test_the_simulator_waits_says_so_and_goes_on(
    stack: Stack, mid_episode: Callable[[Stack], Episode], recorded: Callable[[Episode], RecordedEpisode], node: str
) -> None:
    episode = mid_episode(stack)
    paused_at = stack.position
    stack.pause(node)
    try:
        stack.wait_for(f"the simulator waits: {MISSED[node]} ", paused_at)
    finally:
        stack.resume(node)
    assert episode.wait_for_result() == "succeeded"
    bag = recorded(episode)
    assert_succeeded(bag)
    assert_policy_was_given_every_keyframe(bag)
    assert [command for command in bag.commands if command.mode == CommandMode.HOLD] == []


def test_nobody_waits_for_a_stalled_recorder_and_its_bag_is_whole(
    stack: Stack, mid_episode: Callable[[Stack], Episode], recorded: Callable[[Episode], RecordedEpisode]
) -> None:
    episode = mid_episode(stack)
    stack.pause("recorder")
    try:
        episode.wait_for("keyframe 4 .* candidate")
    finally:
        stack.resume("recorder")
    assert episode.wait_for_result() == "succeeded"
    bag = recorded(episode)
    assert_succeeded(bag)
    assert bag.damages == ()


@pytest.mark.nightly
@pytest.mark.parametrize("node", ["keyframe_selector", "keyframe_buffer", "policy_server", "arm_controller"])
def test_a_node_that_never_moves_again_ends_the_episode_and_not_the_next(
    impatient_stack: Stack,
    mid_episode: Callable[[Stack], Episode],
    recorded: Callable[[Episode], RecordedEpisode],
    node: str,
) -> None:
    stack = impatient_stack
    episode = mid_episode(stack)
    stack.pause(node)
    try:
        assert re.match(f"failed: the stack stalled: {MISSED[node]} ", episode.wait_for_result())
    finally:
        stack.resume(node)
    bag = recorded(episode)
    assert bag.result is not None
    assert not bag.result.success
    assert len(bag.frames) >= bag.result.steps
    stack.running_episode().wait_for("keyframe 1 .* confirmed")
