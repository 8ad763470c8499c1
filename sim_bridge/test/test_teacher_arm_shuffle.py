"""The identity task as it is played: the teacher's shuffle, keyframes, failures, success."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from nightly import at_night

from kc_vla.core.tasks import find_task
from kc_vla_sim.envs import shuffle
from kc_vla_sim.envs.identity import SLOTS, IdentityRanges
from kc_vla_sim.envs.teacher_arm_shuffle import SLOT_PLACES
from kc_vla_sim.experts.grasping import Tempo, fetch
from kc_vla_sim.experts.hand import see_scene
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.simulator import Simulator

TASK = find_task("identity")
QUICK = IdentityRanges(teacher_wait=(0.2, 0.4), teacher_move=(0.8, 1.0), teacher_grip=(0.4, 0.5), distractors=0)
STILL = np.array([0, 0, 0, 0, 0, 0, -1], np.float32)


@pytest.fixture(scope="module")
def quick() -> Iterator[gymnasium.Env]:
    """Yield the bare environment with a fast shuffle."""
    env = gymnasium.make(TASK.environment, obs_mode="none", reward_mode="none", ranges=QUICK)
    yield env
    env.close()


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Yield a simulator of the standard variant that does not draw unless asked."""
    simulator = Simulator(image_size=64, draw=False)
    yield simulator
    simulator.close()


def wait_until(env: gymnasium.Env, frame: int) -> dict[str, torch.Tensor]:
    """Stay in place until `frame`; what the last step said."""
    while True:
        *_, info = env.step(STILL)
        if int(env.unwrapped.elapsed_steps[0]) >= frame:
            return info


def cube_places(world: Any) -> np.ndarray:
    """Return the centers (3, 3) of the cubes in the world, m."""
    return torch.stack([cube.pose.p[0] for cube in world.cubes]).numpy()


@pytest.mark.parametrize("seed", [0, *at_night(*range(1, 6))])
def test_the_teacher_swaps_two_cubes_and_goes_home(quick: gymnasium.Env, seed: int) -> None:
    quick.reset(seed=seed)
    world = quick.unwrapped
    at_home = world.teacher.robot.get_qpos()[0].numpy()
    start = cube_places(world)
    end = int(world.segment_ends[0, -1])
    info = wait_until(quick, end)
    assert not info["fail"].any()
    assert info["completed_stages"].tolist() == [1]
    slots = shuffle.slots_at_end(world.roles)[0].numpy()
    offset = cube_places(world)[:, :2] - np.array(SLOT_PLACES)[slots]
    assert np.abs(offset).max() < 0.012 + 0.004  # jitter, and what a put-down may miss
    still = int(world.roles[0, 2])
    np.testing.assert_allclose(cube_places(world)[still], start[still], atol=1e-4)
    np.testing.assert_allclose(world.teacher.robot.get_qpos()[0].numpy(), at_home, atol=1e-4)
    assert world.decisions_until_now() == [(end, slots[1])]


def test_nothing_jumps(quick: gymnasium.Env) -> None:
    quick.reset(seed=3)
    world = quick.unwrapped
    places = [cube_places(world)]
    for _ in range(int(world.segment_ends[0, -1])):
        quick.step(STILL)
        places.append(cube_places(world))
    moves = np.linalg.norm(np.diff(places, axis=0), axis=2)
    assert moves.max() < 0.06  # m a frame: 1.2 m/s
    assert (np.ptp(places, axis=0)[:, 2] > 0.08).sum() == 2  # both are carried, none is pushed


def test_keyframes_show_the_first_cube_put_aside_and_the_second_gripped(quick: gymnasium.Env) -> None:
    quick.reset(seed=5)
    world = quick.unwrapped
    aside, grasped = (int(world.segment_ends[0, k]) for k in (shuffle.PUT_ASIDE, shuffle.GRASPED))
    a, b, _ = world.roles[0].tolist()
    assert world.keyframes_until_now() == [(0, 0)]
    wait_until(quick, aside - 1)
    assert world.keyframes_until_now() == [(0, 0)]
    wait_until(quick, aside)
    tool = world.teacher.tcp.pose.p[0].numpy()
    assert np.linalg.norm(cube_places(world)[a] - tool) < 0.01
    assert world.teacher.robot.get_qpos()[0, -2:].min() > 0.03  # let go of
    wait_until(quick, grasped)
    assert bool(world.teacher.is_grasping(world.cubes[b])[0])
    assert world.keyframes_until_now() == [(0, 0), (1, aside), (2, grasped)]
    wait_until(quick, int(world.segment_ends[0, -1]) + 20)
    assert world.keyframes_until_now() == [(0, 0), (1, aside), (2, grasped)]


def test_a_cube_that_the_teacher_loses_is_not_blamed_on_the_robot(quick: gymnasium.Env) -> None:
    quick.reset(seed=2)
    world = quick.unwrapped
    wait_until(quick, int(world.segment_ends[0, 2]) + 12)  # A is in the air
    cube = world.cubes[int(world.roles[0, 0])]
    pose = cube.pose
    pose.p = pose.p + torch.tensor([0.0, 0.0, 0.08])
    cube.set_pose(pose)
    *_, info = quick.step(STILL)
    assert info["fail"].tolist() == [True]
    assert world.failure_reason == "the teacher dropped a cube"


def test_a_cube_touched_by_the_robot_before_the_end_is_a_failure(simulator: Simulator) -> None:
    frame = simulator.reset("identity", 11)
    cube = np.array(frame.detections[1].pose.position)
    while not frame.done:  # straight to the middle cube, and through it
        gap = cube + np.array([0.05, 0, 0]) - frame.tool_pose.position
        frame = simulator.step([*np.clip(gap, -0.05, 0.05), 0, 0, 0, 0])
    assert frame.reason == "a cube moved before the shuffle ended"
    assert frame.completed_stages == 0
    assert simulator.decisions == ()


@pytest.mark.parametrize(
    ("cube", "reason"), [(0, "a wrong cube lifted"), (1, "success"), *at_night((2, "a wrong cube lifted"))]
)
def test_lifting_a_cube_ends_the_episode(simulator: Simulator, cube: int, reason: str) -> None:
    frame = simulator.reset("identity", 12)
    world = simulator._world
    while not frame.done:
        if world.decisions_until_now():  # the shuffle has ended
            frame = simulator.step(fetch(see_scene(world.agent, world.cubes), cube, 0.15, Tempo())[1])
        else:
            frame = simulator.hold()
    assert frame.reason == reason
    assert frame.completed_stages == (2 if cube == 1 else 1)
    assert [k.label for k in simulator.keyframes] == list(TASK.keyframes)
    (decision,) = simulator.decisions
    assert decision[1] in SLOTS
    place = next(d.pose.position for d in frame.detections if d.object_id == f"{SLOTS[cube]} cube")
    assert place[2] > (0.1 if cube == 1 else 0.05)


def test_the_cubes_look_the_same_and_the_arms_do_not(
    simulator: Simulator, project: Callable[..., tuple[int, int]]
) -> None:
    frame = simulator.reset("identity", 13)
    picture, _ = simulator.look()
    colours = []
    for cube in frame.detections:
        column, row = project(simulator.cameras[0], cube.pose.position)
        colours.append(picture[row, column].astype(int))
    assert all(red > 2 * max(green, blue) for red, green, blue in colours)
    blue = (picture[..., 2].astype(int) > 1.3 * picture[..., 0]).mean()
    assert blue > 0.03


@pytest.mark.nightly
def test_the_same_seed_gives_the_same_episode_whatever_was_before(simulator: Simulator) -> None:
    def run(seed: int, frames: int) -> list[SimulatedFrame]:
        played = [simulator.reset("identity", seed)]
        while len(played) < frames:
            played.append(simulator.step(simulator.expert.plan(1)[0][0]))
        return played

    first, picture = run(14, 300), simulator.look()
    run(15, 130)
    for one, other in zip(first, run(14, 300), strict=True):
        assert one.joint_positions.tobytes() == other.joint_positions.tobytes()
        assert one.detections == other.detections
    for one, other in zip(picture, simulator.look(), strict=True):
        assert one.tobytes() == other.tobytes()
