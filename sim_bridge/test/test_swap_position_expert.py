"""The spatial expert in the ways that the stack executes it, and after bad starts."""

from __future__ import annotations

import numpy as np
import pytest
import sapien
from mani_skill.utils.structs import Pose

from kc_vla_sim.check import run_episode
from kc_vla_sim.simulator import Simulator


@pytest.mark.nightly
@pytest.mark.parametrize(("mode", "latency", "seed"), [("chunk", 0, 500), ("chunk", 5, 501)])
def test_the_expert_succeeds(undrawn: Simulator, mode: str, latency: int, seed: int) -> None:
    assert run_episode(undrawn, "spatial", seed, mode, latency).reason == "success"


@pytest.mark.nightly
def test_the_expert_takes_over_a_task_half_done(undrawn: Simulator) -> None:
    frame = undrawn.reset("spatial", 9)
    world = undrawn._env.unwrapped
    bottom, middle, top = (world.cubes[index] for index in world.order[0].tolist())
    top.set_pose(Pose.create(sapien.Pose(p=[-0.2, 0.2, 0.02])))
    for _ in range(8):
        frame = undrawn.step([0, 0, 0.02, 0.02, 0, 0.05, 1])
    middle.set_pose(Pose.create(sapien.Pose(p=[-0.2, -0.2, 0.02])))
    for _ in range(8):
        frame = undrawn.step([0.01, -0.01, 0.01, 0.02, 0, 0.05, 1])
    assert frame.completed_stages == 2
    while not frame.done:
        frame = undrawn.step(undrawn.expert.plan(1)[0][0])
    assert frame.reason == "success"
    assert np.linalg.norm((bottom.pose.p - middle.pose.p)[0, :2].numpy()) < 0.01


@pytest.mark.nightly
def test_the_expert_puts_a_stack_right_that_came_apart_again(undrawn: Simulator) -> None:
    """Begin with a bottom cube off the middle one, as a policy in training may push it, and stack on."""
    frame = undrawn.reset("spatial", 9)
    world = undrawn._env.unwrapped
    bottom, middle, top = (world.cubes[index] for index in world.order[0].tolist())
    while frame.completed_stages < 3:
        frame = undrawn.step(undrawn.expert.plan(1)[0][0])
    for _ in range(20):
        frame = undrawn.step([0, 0, 0.02, 0, 0, 0, 1])
    x, y = middle.pose.p[0, :2].tolist()
    bottom.set_pose(Pose.create(sapien.Pose(p=[x, y - 0.06, 0.02])))
    top.set_pose(Pose.create(sapien.Pose(p=[x, y - 0.06, 0.06])))
    while not frame.done:
        frame = undrawn.step(undrawn.expert.plan(1)[0][0])
    assert frame.reason == "success"


def test_the_plan_foresees_the_end_of_the_first_wait(undrawn: Simulator) -> None:
    undrawn.reset("spatial", 2)
    plan, _ = undrawn.expert.plan(16)
    begin = int(np.argmax(np.abs(plan[:, :6]).max(axis=1) > 0))
    for action in plan[:begin]:
        undrawn.step(action)
    now, phase = undrawn.expert.plan(1)
    assert phase == "approach"
    np.testing.assert_allclose(now[0], plan[begin], atol=1e-3)
