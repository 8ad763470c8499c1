"""The expert for identity on seeds it was not made with, in every way that the stack executes it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from kc_vla_sim.check import run_episode
from kc_vla_sim.simulator import Simulator


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Yield a simulator of the standard variant without images."""
    simulator = Simulator(image_size=16, draw=False)
    yield simulator
    simulator.close()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("mode", "latency", "seed"),
    [
        ("step", 0, 700),
        ("chunk", 0, 701),
        ("chunk", 5, 702),
    ],
)
def test_the_expert_succeeds(simulator: Simulator, mode: str, latency: int, seed: int) -> None:
    assert run_episode(simulator, "identity", seed, mode, latency).reason == "success"


@pytest.mark.nightly
def test_it_waits_at_home_until_some_time_after_the_shuffle(simulator: Simulator) -> None:
    frame = simulator.reset("identity", 703)
    home = np.array(frame.tool_pose.position)
    while not simulator.decisions:
        plan, phase = simulator.expert.plan(1)
        assert phase == "wait"
        frame = simulator.step(plan[0])
    plan, phase = simulator.expert.plan(16)
    assert phase == "wait"
    assert np.abs(plan).max() < 1e-3
    np.testing.assert_allclose(frame.tool_pose.position, home, atol=2e-3)


@pytest.mark.nightly
def test_it_takes_over_from_elsewhere(simulator: Simulator) -> None:
    frame = simulator.reset("identity", 704)
    for _ in range(25):
        frame = simulator.step([-0.02, 0.02, 0.01, 0, 0, 0.05, 1])
    while not frame.done:
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    assert frame.reason == "success"
