"""The expert on seeds it was not made with, in every way that the stack executes it, and after bad starts."""

from __future__ import annotations

import numpy as np
import pytest

from kc_vla_sim.check import run_episode
from kc_vla_sim.simulator import Simulator


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("mode", "latency"),
    [
        ("step", 0),
        ("chunk", 0),
        ("chunk", 2),
        ("chunk", 5),
    ],
)
def test_the_expert_succeeds(undrawn: Simulator, mode: str, latency: int) -> None:
    """Play two seeds of each mode; `kc-vla sim check` plays a hundred."""
    outcomes = [run_episode(undrawn, "counting", seed, mode, latency) for seed in (500, 501)]
    assert [outcome.reason for outcome in outcomes] == ["success"] * 2


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_the_expert_takes_over_from_anywhere(undrawn: Simulator, seed: int) -> None:
    chance = np.random.default_rng(seed)
    frame = undrawn.reset("counting", seed)
    for _ in range(10):  # up first: the cube must not be touched
        frame = undrawn.step([0, 0, 0.02, 0, 0, 0, 1])
    drift = [*chance.uniform(-0.02, 0.02, 2), 0, *chance.uniform(-0.05, 0.05, 3), 1]
    for _ in range(25):
        frame = undrawn.step(drift)
    while not frame.done:
        frame = undrawn.step(undrawn.expert.plan(1)[0][0])
    assert frame.reason == "success"


def test_the_plan_foresees_where_the_tool_will_be(undrawn: Simulator) -> None:
    undrawn.reset("counting", 2)
    plan, _ = undrawn.expert.plan(16)
    for action in plan[:10]:
        undrawn.step(action)
    now, _ = undrawn.expert.plan(1)
    np.testing.assert_allclose(now[0, :3], plan[10, :3], atol=0.005)


@pytest.mark.nightly  # test_main_job.py plays it in the suite
def test_the_expert_waits_for_the_lamp_and_then_pushes(undrawn: Simulator) -> None:
    frame = undrawn.reset("counting", 2)
    phases = {}
    while not frame.done:
        plan, phases[frame.index] = undrawn.expert.plan(1)
        frame = undrawn.step(plan[0])
    second_off = undrawn.keyframes[4].frame
    assert phases[second_off - 1] == "wait"
    assert phases[second_off] == "push"
