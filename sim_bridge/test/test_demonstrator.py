"""The manner in which experts are made to play when they are recorded."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kc_vla.core.tasks import TASKS
from kc_vla_sim.actions import MOVE_LIMIT, TURN_LIMIT
from kc_vla_sim.collect.demonstrator import Demonstrator, Style
from kc_vla_sim.simulator import Simulator

PHASES = ("approach", "go", "carry", "rise", "descend", "close", "lift", "lower", "let go", "push", "wait", "start")


class Scripted:
    """An expert whose plans are written down."""

    def __init__(self, steps: list[tuple[str, list[float]]]) -> None:
        self.steps = steps

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        phase, action = self.steps.pop(0)
        return np.array([action] * horizon, np.float32), phase


numbers = st.floats(-0.25, 0.25, width=32)
steps = st.lists(
    st.tuples(
        st.sampled_from(PHASES),
        st.tuples(st.lists(numbers, min_size=6, max_size=6), st.floats(0, 1, width=32)).map(lambda a: [*a[0], a[1]]),
    ),
    min_size=1,
    max_size=40,
)
seeds = st.integers(0, 2**32 - 1)


def act_through(written: list[tuple[str, list[float]]], seed: int, attempt: int) -> list[NDArray[np.float32]]:
    """Return all actions until the script has ended."""
    expert = Scripted(list(written))
    demonstrator = Demonstrator(expert, seed, attempt)
    actions = []
    while expert.steps:
        actions.append(demonstrator.act())
    return actions


@given(steps, seeds, st.integers(0, 4))
def test_whatever_is_planned_stays_within_the_limits_of_a_step(
    written: list[tuple[str, list[float]]], seed: int, attempt: int
) -> None:
    for action in act_through(written, seed, attempt):
        assert action.shape == (7,)
        assert action.dtype == np.float32
        assert np.isfinite(action).all()
        assert np.abs(action[:3]).max() <= MOVE_LIMIT * (1 + 1e-6)
        assert np.linalg.norm(action[3:6]) <= TURN_LIMIT * (1 + 1e-6)
        assert 0 <= action[6] <= 1


@given(steps, seeds)
def test_the_same_seed_and_attempt_give_the_same_motion(written: list[tuple[str, list[float]]], seed: int) -> None:
    first, again = act_through(written, seed, 0), act_through(written, seed, 0)
    np.testing.assert_array_equal(first, again)


@given(st.lists(numbers, min_size=6, max_size=6), seeds, st.sampled_from(["wait", "start", "stop"]))
def test_the_waits_of_a_task_are_left_alone(move: list[float], seed: int, phase: str) -> None:
    gentle = [*(0.1 * value for value in move), 0.0]
    for action in act_through([(phase, gentle)] * 20, seed, 0):
        np.testing.assert_array_equal(action, np.array(gentle, np.float32))


def test_manners_differ_and_some_are_clean() -> None:
    styles = [Demonstrator(Scripted([]), seed, attempt).style for seed in range(100) for attempt in range(2)]
    assert len(set(styles)) > 100
    assert 20 < styles.count(Style()) < 60
    assert styles[0] != styles[1]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("task", "seed", "phase", "needed"),
    [
        ("counting", 11, "push", 1),
        ("temporal", 12, "lift", 3),
        ("spatial", 14, "carry", 4),
    ],
)
def test_the_expert_recovers_from_mishaps(undrawn: Simulator, task: str, seed: int, phase: str, needed: int) -> None:
    frame = undrawn.reset(task, seed)
    demonstrator = Demonstrator(undrawn.expert, seed, 0, Style(fumbles=2))
    phases = [""]
    while not frame.done:
        phases.append(undrawn.expert.plan(1)[1])
        frame = undrawn.step(demonstrator.act())
    assert frame.reason == "success"
    assert sum(now == phase != before for before, now in pairwise(phases)) > needed
    assert len(undrawn.keyframes) == len(TASKS[task].keyframes)
