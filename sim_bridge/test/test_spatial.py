"""The rules of the spatial task on any sequence of events, and its places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kc_vla_sim.envs.cube_stack import Cubes
from kc_vla_sim.envs.spatial import (
    SPATIAL_RANGES,
    STILL_FRAMES,
    Pause,
    SpatialProgress,
    SpatialRanges,
    apart,
    first_apart,
)

STACK, ASIDE, FURTHER = (-0.1, 0.0), (-0.1, 0.14), (-0.1, -0.14)
START = ((*STACK, 0.02), (*STACK, 0.06), (*STACK, 0.1))
"""Bottom, middle, top."""
ONE_ASIDE = (*START[:2], (*ASIDE, 0.02))
ALL_ASIDE = (START[0], (*FURTHER, 0.02), (*ASIDE, 0.02))
SWAPPED = ((*FURTHER, 0.06), (*FURTHER, 0.02), (*ASIDE, 0.02))
DONE = ((*FURTHER, 0.06), (*FURTHER, 0.02), (*FURTHER, 0.1))
WRONG = (START[0], (*ASIDE, 0.06), (*ASIDE, 0.02))
Positions = tuple[tuple[float, float, float], ...]


class Story:
    """One environment whose cubes are shown where the test says."""

    def __init__(self) -> None:
        self.progress = SpatialProgress.start(1, torch.device("cpu"))
        self.frame = 0

    def show(self, positions: Positions, held: int | None = None, frames: int = STILL_FRAMES + 1) -> Story:
        """Show the cubes at `positions` for `frames` frames, one of them `held`."""
        in_hand = torch.tensor([[level == held for level in range(3)]])
        cubes = Cubes(torch.tensor([positions]), torch.ones_like(in_hand), in_hand)
        for _ in range(frames):
            self.progress = self.progress.after(torch.tensor([self.frame]), cubes)
            self.frame += 1
        return self

    @property
    def completed(self) -> int:
        return int(self.progress.completed)


def test_the_stages_are_reached_in_order_and_the_last_is_success() -> None:
    story = Story()
    reached = [story.show(scene).completed for scene in (START, ONE_ASIDE, ALL_ASIDE, SWAPPED, DONE)]
    assert reached == [0, 1, 2, 3, 4]
    assert bool(story.progress.success)
    assert not bool(story.progress.failed)


def test_nothing_counts_while_a_cube_is_held_or_moves() -> None:
    story = Story().show(START).show(ONE_ASIDE, held=2)
    assert story.completed == 0
    assert story.show(ONE_ASIDE, frames=1).completed == 1  # let go, and it had been still before
    assert story.show(ALL_ASIDE, frames=STILL_FRAMES).completed == 1  # moved in the first of these frames
    assert story.show(ALL_ASIDE, frames=1).completed == 2


def test_a_stack_out_of_line_is_not_a_stack() -> None:
    story = Story().show(START).show(ONE_ASIDE).show(ALL_ASIDE)
    x, y, z = SWAPPED[0]
    assert story.show(((x + 0.021, y, z), *SWAPPED[1:])).completed == 2
    assert story.show(((x + 0.015, y, z), *SWAPPED[1:])).completed == 3
    assert not bool(story.progress.failed)


def test_what_was_reached_is_kept_when_it_is_undone() -> None:
    story = Story().show(START).show(ONE_ASIDE).show(START)
    assert story.completed == 1
    assert story.show(ALL_ASIDE).show(SWAPPED).show(ALL_ASIDE).completed == 3
    assert story.show(SWAPPED).show(DONE).completed == 4


def test_a_failure_stays_and_nothing_is_reached_after_it() -> None:
    story = Story().show(START).show(ONE_ASIDE).show(ALL_ASIDE).show(WRONG)
    assert bool(story.progress.failed)
    assert story.show(SWAPPED).show(DONE).completed == 2
    assert bool(story.progress.failed)
    assert not bool(story.progress.success)


def test_cubes_leave_their_places_once_each_and_in_their_turn() -> None:
    story = Story().show(START)
    off = story.frame
    lifted = (*START[:2], (*STACK, 0.111))
    story.show(lifted, held=2, frames=3).show(ONE_ASIDE)
    assert story.progress.left.tolist() == [[-1, -1, off]]
    middle_off = story.frame
    story.show((START[0], (*STACK, 0.08), ONE_ASIDE[2]), held=1, frames=3).show(ALL_ASIDE)
    bottom_off = story.frame
    story.show(((*STACK, 0.04), *ALL_ASIDE[1:]), held=0, frames=3).show(SWAPPED).show(DONE)
    assert story.progress.left.tolist() == [[bottom_off, middle_off, off]]


def test_the_middle_cube_has_not_left_while_the_top_one_is_to_be_put_aside() -> None:
    both_up = (START[0], (*STACK, 0.09), (*STACK, 0.13))
    story = Story().show(START).show(both_up, held=1)
    assert story.progress.left[0, 1] == -1


scenes = st.sampled_from([START, ONE_ASIDE, ALL_ASIDE, SWAPPED, DONE, WRONG])


@given(st.lists(st.tuples(scenes, st.sampled_from([None, 0, 1, 2]), st.integers(1, 8)), max_size=12))
def test_stages_never_go_back_and_success_and_failure_exclude_one_another(
    events: list[tuple[Positions, int | None, int]],
) -> None:
    story, completed, failed = Story(), 0, False
    for positions, held, frames in events:
        story.show(positions, held, frames)
        assert completed <= story.completed <= 4
        assert not (failed and not bool(story.progress.failed))
        assert not (bool(story.progress.failed) and bool(story.progress.success))
        completed, failed = story.completed, bool(story.progress.failed)


def test_environments_of_a_batch_are_restarted_on_their_own() -> None:
    progress = SpatialProgress.start(2, torch.device("cpu"))
    progress = replace(progress, completed=torch.tensor([3, 2], dtype=torch.int32))
    again = progress.restarted(torch.tensor([0]))
    assert again.completed.tolist() == [0, 2]
    assert again.left.tolist() == [[-1] * 3] * 2


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 8))
def test_a_pause_is_over_once_the_hand_has_rested_long_enough_on_end(resting: list[bool], wait: int) -> None:
    pause = Pause.start(1, torch.device("cpu"))
    expected, streak = -1, 0
    for frame, rests in enumerate(resting):
        pause = pause.after(torch.tensor([frame]), torch.tensor([rests]), torch.tensor([wait]))
        streak = streak + 1 if rests else 0
        expected = frame if expected < 0 and streak >= wait else expected
        assert int(pause.over) == expected
        assert int(pause.rested) == streak


def candidates(ranges: SpatialRanges, seed: int, count: int = 8192) -> torch.Tensor:
    low, high = np.array([ranges.place_x, ranges.place_y, ranges.place_yaw]).T
    return torch.as_tensor(np.random.default_rng(seed).uniform(low, high, size=(count, 3, 3)))


@pytest.mark.parametrize("variant", SPATIAL_RANGES)
def test_every_area_has_room_for_three_places(variant: str) -> None:
    drawn = torch.stack([candidates(SPATIAL_RANGES[variant], seed) for seed in range(20)])
    places = first_apart(drawn)
    assert bool(apart(places).all())
    gaps = torch.linalg.norm(places[:, [0, 0, 1], :2] - places[:, [1, 2, 2], :2], dim=2)
    assert gaps.min() > 0.07


@given(st.integers(0, 10**6), st.permutations(range(3)))
def test_no_place_can_be_told_from_the_others(seed: int, order: list[int]) -> None:
    drawn = candidates(SPATIAL_RANGES["standard"], seed, count=200)[None]
    np.testing.assert_array_equal(first_apart(drawn)[:, order], first_apart(drawn[:, :, order]))


def test_an_area_without_room_is_named() -> None:
    narrow = SpatialRanges(place_x=(-0.1, -0.08), place_y=(0.0, 0.02))
    with pytest.raises(ValueError, match="no room for three places in this area: widen place_x"):
        first_apart(candidates(narrow, 0, count=50)[None])
