"""The counting task as it is played: chance, lamp, failure, success, time limit."""

from __future__ import annotations

from collections.abc import Callable

import gymnasium
import numpy as np
import pytest

from kc_vla.core.tasks import find_task
from kc_vla_sim.envs.counting import COUNTING_RANGES
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.simulator import Simulator

TASK = find_task("counting")
BULB = (0.595, -0.3, 0.25)
"""Centre of the lamp's bulb in the robot's base frame, m."""


def position(frame: SimulatedFrame, name: str) -> np.ndarray:
    """Return the position of a detected object in the robot's base frame, m."""
    return np.array(next(d.pose.position for d in frame.detections if d.object_id == name))


def lamp_state(frame: SimulatedFrame) -> str:
    return next(d.state for d in frame.detections if d.object_id == "lamp")


def play(simulator: Simulator, seed: int) -> list[SimulatedFrame]:
    """Return all frames of an episode of the expert, planned at every step."""
    frames = [simulator.reset("counting", seed)]
    while not frames[-1].done:
        frames.append(simulator.step(simulator.expert.plan(1)[0][0]))
    return frames


@pytest.mark.nightly
def test_the_pictures_change_at_the_oracle_frames_and_only_there(
    drawn: Simulator, project: Callable[..., tuple[int, int]]
) -> None:
    frames = play(drawn, seed=4)
    column, row = project(drawn.cameras[0], BULB)
    bulb = np.array([frame.views["third_person"][row, column].mean() for frame in frames])
    edges = [k + 1 for k in np.flatnonzero(np.abs(np.diff(bulb)) > 5)]
    assert [frame.index for frame in frames if frame.keyframe] == [0, *edges]
    assert [frame.keyframe for frame in frames if frame.keyframe] == list(TASK.keyframes)
    assert [k.frame for k in drawn.keyframes] == [0, *edges]
    lit = [edges[0] <= frame.index < edges[1] or edges[2] <= frame.index < edges[3] for frame in frames]
    assert [lamp_state(frame) == "on" for frame in frames] == lit
    assert frames[-1].success


@pytest.mark.nightly
def test_the_second_flash_looks_like_the_first(drawn: Simulator) -> None:
    frame = drawn.reset("counting", 4)
    pictures = {"on": [], "off": []}
    while len(drawn.keyframes) < 5:
        frame = drawn.hold()
        if frame.index > 10:  # the arm has come to rest
            pictures[lamp_state(frame)].append(frame.views["third_person"].tobytes())
    assert len(set(pictures["on"])) == len(set(pictures["off"])) == 1
    assert pictures["on"][0] != pictures["off"][0]


def test_the_same_seed_gives_the_same_episode_byte_for_byte(drawn: Simulator) -> None:
    def run() -> list[SimulatedFrame]:
        start = drawn.reset("counting", 11)
        return [start, *(drawn.step(drawn.expert.plan(1)[0][0]) for _ in range(25))]

    first, again = run(), run()
    for one, other in zip(first, again, strict=True):
        for pixels, twice in zip(one.views.values(), other.views.values(), strict=True):
            assert pixels.tobytes() == twice.tobytes()
        assert one.joint_positions.tobytes() == other.joint_positions.tobytes()
        assert one.joint_velocities.tobytes() == other.joint_velocities.tobytes()
        assert one.detections == other.detections
        assert one.tool_pose == other.tool_pose


def test_seeds_differ_and_stay_within_the_ranges(undrawn: Simulator) -> None:
    ranges = COUNTING_RANGES["paper"]
    starts = []
    for seed in range(6):
        cube = position(undrawn.reset("counting", seed), "cube") - [0.615, 0, 0]
        assert ranges.cube_x[0] <= cube[0] <= ranges.cube_x[1]
        assert ranges.cube_y[0] <= cube[1] <= ranges.cube_y[1]
        starts.append(tuple(cube))
    assert len(set(starts)) == 6


def test_a_cube_pushed_early_fails_at_once(undrawn: Simulator) -> None:
    frame = undrawn.reset("counting", 5)
    start = position(frame, "cube")
    above, behind, ahead = (start + np.array(gap) for gap in ((-0.07, 0, 0.1), (-0.07, 0, 0), (0.3, 0, 0)))
    for target in (above, behind, ahead):
        for _ in range(40):
            gap = target - np.array(frame.tool_pose.position)
            if frame.done or np.linalg.norm(gap) < 0.008:
                break
            frame = undrawn.step([*np.clip(gap, -0.03, 0.03), 0, 0, 0, 0])
    assert frame.done
    assert not frame.success
    assert frame.reason == "cube moved before the second flash ended"
    assert 0.01 < np.linalg.norm(position(frame, "cube") - start) < 0.03
    assert frame.completed_stages == sum(k.label.endswith("off") for k in undrawn.keyframes)


def test_the_stages_are_completed_one_by_one(undrawn: Simulator) -> None:
    frames = play(undrawn, seed=6)
    reached = [next(f.index for f in frames if f.completed_stages == stage) for stage in (1, 2, 3)]
    edges = [k.frame for k in undrawn.keyframes]
    assert reached == [edges[2], edges[4], frames[-1].index]
    assert frames[-1].reason == "success"
    assert np.linalg.norm((position(frames[-1], "cube") - position(frames[-1], "goal"))[:2]) < 0.08


@pytest.mark.nightly
def test_doing_nothing_ends_at_the_time_limit(undrawn: Simulator) -> None:
    frame = undrawn.reset("counting", 7)
    while not frame.done:
        frame = undrawn.hold()
    assert (frame.reason, frame.index, frame.success, frame.completed_stages) == ("time limit", 1600, False, 2)


def test_the_longest_schedule_leaves_time_for_the_push() -> None:
    longest = max(sum(high for _, high in ranges.lamp) for ranges in COUNTING_RANGES.values())
    assert 1600 / 20 - longest >= 8  # s; the expert takes about 2


def test_the_task_is_an_ordinary_gymnasium_environment() -> None:
    env = gymnasium.make(TASK.environment, obs_mode="rgb+state", sensor_configs={"width": 32, "height": 24})
    observation, _ = env.reset(seed=3)
    assert observation["sensor_data"]["third_person"]["rgb"].shape == (1, 24, 32, 3)
    assert observation["sensor_data"]["wrist"]["rgb"].shape == (1, 24, 32, 3)
    _, reward, terminated, truncated, info = env.step(np.zeros(7, np.float32))
    assert (float(reward), bool(terminated), bool(truncated)) == (0.0, False, False)
    assert info["completed_stages"].tolist() == [0]
    env.close()


@pytest.mark.nightly
def test_light_meshes_leave_the_physics_alone() -> None:
    def posture_after_some_actions(robot: str) -> np.ndarray:
        env = gymnasium.make(TASK.environment, robot_uids=robot, obs_mode="none", reward_mode="none")
        env.reset(seed=8)
        for _ in range(20):
            env.step(np.array([-0.4, 0.2, -0.3, 0.1, 0.1, 0.2, -1], np.float32))
        posture = env.unwrapped.agent.robot.get_qpos()[0].numpy()
        env.close()
        return posture

    light = posture_after_some_actions("panda_wristcam_light")
    np.testing.assert_array_equal(light, posture_after_some_actions("panda_wristcam"))
