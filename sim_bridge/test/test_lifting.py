"""The rules of the temporal task on any sequence of events."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.keyframes.smoothing import Decision, GreedySmoother
from kc_vla_sim.envs.lifting import (
    AGAIN,
    NO_FAULT,
    NOT_PUT_BACK,
    PUSHED,
    REST_FRAMES,
    TOO_SOON,
    CubesObserved,
    LiftingProgress,
    fault_in_words,
)

CPU = torch.device("cpu")
ON_TABLE, HIGH, ASIDE, HELD_LOW = "on table", "high", "aside", "held low"
places = st.sampled_from([ON_TABLE, ON_TABLE, ON_TABLE, HIGH, ASIDE, HELD_LOW])
stories = st.lists(st.tuples(st.tuples(places, places, places), st.integers(1, 8)), max_size=25)


def look(*cubes: str, height: float = 0.2) -> CubesObserved:
    """Return one environment with its cubes at these places."""
    return CubesObserved(
        height=torch.tensor([[{HIGH: height, HELD_LOW: 0.1}.get(cube, 0.02) for cube in cubes]]),
        displaced=torch.tensor([[{ON_TABLE: 0.01, HELD_LOW: 0.08}.get(cube, 0.2) for cube in cubes]]),
        resting=torch.tensor([[cube in (ON_TABLE, ASIDE) for cube in cubes]]),
        touched=torch.tensor([[cube in (HIGH, HELD_LOW) for cube in cubes]]),
    )


def tell(*story: tuple[tuple[str, ...], int]) -> LiftingProgress:
    """Return the progress after each of the situations of the story has lasted for so many frames."""
    progress, frame = LiftingProgress.start(1, CPU), 0
    for cubes, frames in story:
        for _ in range(frames):
            progress = progress.after(torch.tensor([frame], dtype=torch.int32), look(*cubes))
            frame += 1
    return progress


@dataclass
class Judge:
    """The rules in plain words, for one environment."""

    completed: int = 0
    lifted: bool = False
    back: int = 0
    fault: int = NO_FAULT

    def see(self, cubes: tuple[str, ...]) -> None:
        if self.fault:
            return
        for number, cube in enumerate(cubes):
            mine = number == self.completed
            if cube == ASIDE and not (mine and self.lifted):
                self.fault = PUSHED
            elif cube == HIGH and not mine:
                self.fault = AGAIN if number < self.completed else NOT_PUT_BACK if self.lifted else TOO_SOON
            if self.fault:
                return
        if self.completed == 3:
            return
        self.lifted |= cubes[self.completed] == HIGH
        self.back = self.back + 1 if self.lifted and cubes[self.completed] == ON_TABLE else 0
        if self.back > REST_FRAMES:
            self.completed, self.lifted, self.back = self.completed + 1, False, 0


@given(stories)
def test_any_story_is_judged_as_in_plain_words(story: list[tuple[tuple[str, ...], int]]) -> None:
    judge = Judge()
    for cubes, frames in story:
        for _ in range(frames):
            judge.see(cubes)
    progress = tell(*story)
    assert int(progress.fault) == judge.fault
    assert int(progress.completed) == judge.completed
    if not judge.fault:
        assert bool(progress.lifted) == judge.lifted
    at_the_end = bool(story) and story[-1][0] == (ON_TABLE,) * 3
    assert bool(progress.success) == (judge.completed == 3 and at_the_end and not judge.fault)


LIFT_RED = (((HIGH, ON_TABLE, ON_TABLE), 2), ((ON_TABLE, ON_TABLE, ON_TABLE), REST_FRAMES + 1))
LIFT_GREEN = (((ON_TABLE, HIGH, ON_TABLE), 2), ((ON_TABLE, ON_TABLE, ON_TABLE), REST_FRAMES + 1))
LIFT_BLUE = (((ON_TABLE, ON_TABLE, HIGH), 2), ((ON_TABLE, ON_TABLE, ON_TABLE), REST_FRAMES + 1))


def test_the_three_lifts_in_order_are_success() -> None:
    assert [int(tell(*story).completed) for story in (LIFT_RED, LIFT_RED + LIFT_GREEN)] == [1, 2]
    assert bool(tell(*LIFT_RED, *LIFT_GREEN, *LIFT_BLUE).success)


@pytest.mark.parametrize(
    ("story", "words"),
    [
        (LIFT_GREEN, "green cube lifted before red"),
        (LIFT_RED + LIFT_BLUE, "blue cube lifted before green"),
        (LIFT_RED + LIFT_RED, "red cube lifted a second time"),
        (LIFT_RED[:1] + LIFT_GREEN, "red cube not put back before green was lifted"),
        ((*LIFT_RED, ((ON_TABLE, ON_TABLE, ASIDE), 1)), "blue cube pushed off its place"),
        ((*LIFT_RED, ((ASIDE, ON_TABLE, ON_TABLE), 1)), "red cube pushed off its place"),
    ],
)
def test_a_wrong_choice_fails_at_once_and_is_named(story: tuple[tuple[tuple[str, ...], int], ...], words: str) -> None:
    progress = tell(*story)
    assert bool(progress.failed)
    assert not bool(progress.success)
    names = ("red", "green", "blue")
    assert fault_in_words(int(progress.fault), int(progress.culprit), int(progress.completed), names) == words


def test_a_lifted_cube_may_be_put_down_elsewhere_and_fetched_again() -> None:
    astray = (((HIGH, ON_TABLE, ON_TABLE), 2), ((ASIDE, ON_TABLE, ON_TABLE), 20))
    assert int(tell(*astray).completed) == 0
    assert int(tell(*astray, *LIFT_RED).completed) == 1


@given(st.lists(st.floats(0.1, 0.3), min_size=1, max_size=60))
def test_the_keyframe_is_what_a_selector_commits_from_its_scores(heights: list[float]) -> None:
    smoother, progress = GreedySmoother(0.5), LiftingProgress.start(1, CPU)
    committed = None
    for frame, height in enumerate([*heights, *[0.1] * 8]):
        cubes = HIGH if height > 0.15 else HELD_LOW
        now = torch.tensor([frame], dtype=torch.int32)
        progress = progress.after(now, look(cubes, ON_TABLE, ON_TABLE, height=height))
        decision = smoother.update(frame, float(progress.peak_frame[0, 0] == frame))
        if committed is None and decision is not None and decision[0] is Decision.COMMITTED:
            committed = decision[1].frame
    assert int(progress.peak_frame[0, 0]) == (-1 if committed is None else committed)


def test_environments_of_a_batch_are_judged_and_restarted_on_their_own() -> None:
    one, other = look(HIGH, ON_TABLE, ON_TABLE), look(ON_TABLE, HIGH, ON_TABLE)
    both = CubesObserved(*(torch.cat(pair) for pair in zip(vars(one).values(), vars(other).values(), strict=True)))
    progress = LiftingProgress.start(2, CPU).after(torch.tensor([3, 4], dtype=torch.int32), both)
    assert progress.lifted.tolist() == [True, False]
    assert progress.peak_frame.tolist() == [[3, -1, -1], [-1, -1, -1]]
    assert progress.failed.tolist() == [False, True]
    again = progress.restarted(torch.tensor([1]))
    assert again.lifted.tolist() == [True, False]
    assert again.failed.tolist() == [False, False]
