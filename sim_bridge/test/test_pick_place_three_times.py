"""The temporal task as it is played: chance, stages, keyframes, moments of decision, failures.

In most tests the cubes are moved by hand, and the robot's hand stays away.
"""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import sapien
from mani_skill.utils.structs import Pose

from kc_vla.core.tasks import find_task
from kc_vla.keyframes.rules import CueScorer, Signals
from kc_vla.keyframes.smoothing import Decision, GreedySmoother
from kc_vla_sim.envs.lifting import LIFTED_HEIGHT
from kc_vla_sim.envs.pick_place_three_times import LONGEST_EPISODE, PickPlaceThreeTimesEnv
from kc_vla_sim.envs.temporal import TEMPORAL_RANGES
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.simulator import Simulator

TASK = find_task("temporal")
RED, GREEN, BLUE = range(3)
SETTLED = 12
"""Frames after which a cube that was let go counts as back."""


def centres(frame: SimulatedFrame) -> np.ndarray:
    """Return the middles of the red, green and blue cubes in the robot's base frame, m."""
    return np.array([detection.pose.position for detection in frame.detections])


class Table:
    """An episode whose cubes are moved by hand."""

    def __init__(self, simulator: Simulator, seed: int) -> None:
        self.simulator = simulator
        self.frame = simulator.reset("temporal", seed)
        self.world: PickPlaceThreeTimesEnv = simulator._env.unwrapped
        self.starts = self.world.places[0].numpy().astype(float)

    def place(self, cube: int, shift: tuple[float, float, float], frames: int) -> SimulatedFrame:
        """Put a cube so far from where it began (m) and wait for some frames."""
        self.world.cubes[cube].set_pose(Pose.create(sapien.Pose(p=self.starts[cube] + shift)))
        self.world.cubes[cube].set_linear_velocity(np.zeros((1, 3)))
        for _ in range(frames):
            if not self.frame.done:
                self.frame = self.simulator.hold()
        return self.frame

    def lift(self, cube: int, back: tuple[float, float, float] = (0, 0, 0)) -> SimulatedFrame:
        """Lift a cube, then put it so far from where it began."""
        self.place(cube, (0, 0, 0.25), frames=1)
        return self.place(cube, back, frames=SETTLED)


@pytest.fixture(scope="module")
def played(undrawn: Simulator) -> tuple[list[SimulatedFrame], list[tuple[str, int]], list[tuple[int, str]]]:
    """Return all frames of an episode of the expert, its keyframes and its decisions."""
    frames = [undrawn.reset("temporal", 31)]
    while not frames[-1].done:
        frames.append(undrawn.step(undrawn.expert.plan(1)[0][0]))
    return frames, [(key.label, key.frame) for key in undrawn.keyframes], list(undrawn.decisions)


@pytest.mark.nightly
def test_the_stages_are_completed_one_by_one(played: tuple) -> None:
    frames, keyframes, _ = played
    assert frames[-1].reason == "success"
    stages = [frame.completed_stages for frame in frames]
    assert stages == sorted(stages)
    assert set(stages) == {0, 1, 2, 3}
    peaks = [frame for _, frame in keyframes[1:]]
    for number, peak in enumerate(peaks):
        assert stages[peak] == number
    np.testing.assert_allclose(centres(frames[-1]), centres(frames[0]), atol=0.02)


def test_the_keyframes_are_the_start_and_the_highest_points(played: tuple) -> None:
    frames, keyframes, _ = played
    assert [label for label, _ in keyframes] == list(TASK.keyframes)
    assert keyframes[0] == ("start", 0)
    heights = np.array([centres(frame)[:, 2] for frame in frames])
    for cube, (label, peak) in enumerate(keyframes[1:]):
        assert heights[peak, cube] > LIFTED_HEIGHT
        assert heights[:, cube].max() - heights[peak, cube] < 0.002, label
    numbers = [frame for _, frame in keyframes]
    assert min(np.diff(numbers)) > 8
    assert frames[-1].index - numbers[-1] >= 8
    assert all(frames[number].keyframe == label for label, number in keyframes)


@pytest.mark.parametrize("task", ["temporal", "spatial"])
def test_a_detector_tells_the_colour_of_each_cube(undrawn: Simulator, task: str) -> None:
    seen = {each.object_id: dict(each.attributes) for each in undrawn.reset(task, 31).detections}
    assert seen == {f"{colour}_cube": {"colour": colour} for colour in ("red", "green", "blue")}


def test_the_rules_find_the_keyframes_without_a_learned_selector(played: tuple) -> None:
    frames, keyframes, _ = played
    scorer, smoother, found = CueScorer(TASK.cues), GreedySmoother(0.5), []
    for frame in frames:
        opening, height = float(frame.joint_positions[7:].sum()), frame.tool_pose.position[2]
        score = scorer.update(Signals(0.0, opening, height, 0.0), len(found))
        decision = smoother.update(frame.index, score)
        if decision is not None and decision[0] is Decision.COMMITTED:
            found.append(decision[1].frame)
    np.testing.assert_allclose(found, [frame for _, frame in keyframes], atol=2)


def test_nothing_of_the_past_is_to_be_seen_at_a_decision(played: tuple) -> None:
    frames, keyframes, decisions = played
    assert [choice for _, choice in decisions] == list(TASK.choices)
    for (number, _), (_, peak) in zip(decisions, keyframes[1:], strict=True):
        frame = frames[number]
        assert number < peak
        assert np.abs(frame.joint_velocities).max() < 0.02
        np.testing.assert_allclose(frame.joint_positions[7:], 0, atol=1e-3)
        np.testing.assert_allclose(centres(frame), centres(frames[0]), atol=0.006)


@pytest.mark.nightly
def test_seeds_differ_and_stay_within_the_ranges(undrawn: Simulator) -> None:
    ranges = TEMPORAL_RANGES["paper"]
    starts = []
    for seed in range(8):
        world = Table(undrawn, seed).world
        x, y = world.places[0, :, :2].T
        assert x.min() >= ranges.disc_x[0] - ranges.disc_radius
        assert x.max() <= ranges.disc_x[1] + ranges.disc_radius
        assert y.abs().max() <= ranges.disc_y[1] + ranges.disc_radius
        gaps = np.linalg.norm(world.places[0, :, None] - world.places[0, None], axis=2)[np.triu_indices(3, 1)]
        assert gaps.min() > 0.1
        starts.append(tuple(world.places.flatten().tolist()))
        assert len({tuple(home) for home in world.homes[0].tolist()}) == 3
    assert len(set(starts)) == 8


def test_the_same_seed_gives_the_same_episode_byte_for_byte(drawn: Simulator) -> None:
    def run() -> list[SimulatedFrame]:
        start = drawn.reset("temporal", 12)
        return [start, *(drawn.step(drawn.expert.plan(1)[0][0]) for _ in range(15))]

    for one, other in zip(run(), run(), strict=True):
        for pixels, again in zip(one.views.values(), other.views.values(), strict=True):
            assert pixels.tobytes() == again.tobytes()
        assert one.joint_positions.tobytes() == other.joint_positions.tobytes()
        assert one.detections == other.detections


def test_cubes_that_are_lifted_and_put_back_in_turn_are_success(undrawn: Simulator) -> None:
    table = Table(undrawn, 3)
    assert table.lift(RED).completed_stages == 1
    assert table.lift(GREEN, back=(0.03, 0.03, 0)).completed_stages == 2
    assert table.lift(BLUE).reason == "success"
    assert table.frame.completed_stages == 3


def test_a_cube_that_is_put_down_elsewhere_is_not_back_until_it_is_brought_there(undrawn: Simulator) -> None:
    table = Table(undrawn, 3)
    assert table.lift(RED, back=(-0.1, 0, 0)).completed_stages == 0
    assert not table.frame.done
    assert table.place(RED, (0.04, 0, 0), frames=SETTLED).completed_stages == 1


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (None, GREEN, "green cube lifted before red"),
        (RED, BLUE, "blue cube lifted before green"),
        (RED, RED, "red cube lifted a second time"),
    ],
)
def test_a_cube_lifted_out_of_turn_fails_at_once(
    undrawn: Simulator, first: int | None, second: int, reason: str
) -> None:
    table = Table(undrawn, 4)
    if first is not None:
        table.lift(first)
    index = table.frame.index
    table.lift(second)
    assert (table.frame.done, table.frame.success, table.frame.reason) == (True, False, reason)
    assert table.frame.index == index + 1


def test_the_next_cube_lifted_before_the_last_is_back_fails(undrawn: Simulator) -> None:
    table = Table(undrawn, 4)
    table.lift(RED, back=(-0.1, 0, 0))
    assert table.lift(GREEN).reason == "red cube not put back before green was lifted"


def test_a_cube_pushed_off_its_place_fails(undrawn: Simulator) -> None:
    table = Table(undrawn, 4)
    assert not table.place(BLUE, (0, 0.04, 0), frames=2).done
    assert table.place(BLUE, (0, 0.06, 0), frames=2).reason == "blue cube pushed off its place"


def test_the_longest_waits_leave_time_for_a_slow_hand() -> None:
    longest = max(sum(high for _, high in ranges.home_wait) for ranges in TEMPORAL_RANGES.values())
    assert LONGEST_EPISODE / 20 - longest >= 40  # s; the expert takes about 10


def test_the_task_is_an_ordinary_gymnasium_environment_with_batches_of_one() -> None:
    env = gymnasium.make(TASK.environment, obs_mode="state_dict", reward_mode="none", variant="paper")
    observation, _ = env.reset(seed=3)
    extra = observation["extra"]
    assert extra["red_cube_pose"].shape == (1, 7)
    assert extra["completed_stages"].tolist() == [0]
    *_, info = env.step(np.zeros(7, np.float32))
    assert not bool(info["fail"])
    env.close()
