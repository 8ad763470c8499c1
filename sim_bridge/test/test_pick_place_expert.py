"""The temporal expert on seeds it was not made with, in every way that the stack executes it, and after mishaps."""

from __future__ import annotations

import numpy as np
import pytest
import sapien
from mani_skill.utils.structs import Pose

from kc_vla_sim.check.episode import run_episode
from kc_vla_sim.simulator import Simulator


def play_on(simulator: Simulator, until: int | None = None) -> str:
    """Let the expert go on to the end, or until so many stages are complete; the reason for the end."""
    frame = simulator.hold()
    while not frame.done and frame.completed_stages != until:
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    return frame.reason


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
    assert run_episode(undrawn, "temporal", 500 + latency, mode, latency).reason == "success"


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_the_expert_takes_over_from_anywhere(undrawn: Simulator, seed: int) -> None:
    chance = np.random.default_rng(seed)
    undrawn.reset("temporal", seed)
    drift = [*chance.uniform(-0.02, 0.02, 3), *chance.uniform(-0.05, 0.05, 3), 1]
    drift[2] = abs(drift[2])  # up: no cube must be touched
    for _ in range(20):
        undrawn.step(drift)
    assert play_on(undrawn, until=1) == ""


def phase_comes(simulator: Simulator, wanted: str) -> None:
    """Play until the expert is in a phase."""
    while True:
        plan, phase = simulator.expert.plan(1)
        if phase == wanted:
            return
        simulator.step(plan[0])


@pytest.mark.nightly
def test_a_cube_that_is_shifted_under_the_hand_is_lifted_all_the_same(undrawn: Simulator) -> None:
    undrawn.reset("temporal", 7)
    phase_comes(undrawn, "descend")
    world = undrawn._env.unwrapped
    position = world.places[0, 0].numpy() - np.array([0.03, 0.0, 0.0])
    world.cubes[0].set_pose(Pose.create(sapien.Pose(p=position)))
    assert play_on(undrawn, until=1) == ""
    assert np.linalg.norm(world.cubes[0].pose.p[0].numpy() - world.places[0, 0].numpy()) < 0.01


@pytest.mark.nightly
def test_a_cube_that_is_dropped_is_taken_up_again(undrawn: Simulator) -> None:
    undrawn.reset("temporal", 8)
    phase_comes(undrawn, "lower")
    for _ in range(6):
        undrawn.step([0.02, 0.03, 0, 0, 0, 0, 1])
    world = undrawn._env.unwrapped
    assert play_on(undrawn, until=1) == ""
    assert np.linalg.norm(world.cubes[0].pose.p[0].numpy() - world.places[0, 0].numpy()) < 0.045


@pytest.mark.nightly
def test_the_expert_waits_at_home_as_long_as_was_drawn(undrawn: Simulator) -> None:
    undrawn.reset("temporal", 9)
    world = undrawn._env.unwrapped
    phase_comes(undrawn, "wait")
    arrived = int(world.elapsed_steps[0])
    phase_comes(undrawn, "approach")
    assert int(world.elapsed_steps[0]) - arrived == int(world.waits[0, 0])
    assert undrawn.decisions == ((int(world.elapsed_steps[0]), "red"),)
    np.testing.assert_allclose(world.agent.tcp.pose.p[0], world.homes[0, 0, :3], atol=0.002)


def test_the_plan_foresees_a_whole_grasp(undrawn: Simulator) -> None:
    undrawn.reset("temporal", 2)
    phase_comes(undrawn, "approach")
    plan, _ = undrawn.expert.plan(32)
    world = undrawn._env.unwrapped
    highest = 0.0
    for action in plan:
        undrawn.step(action)
        highest = max(highest, float(world.cubes[0].pose.p[0, 2]))
    assert highest > 0.12
