"""The spatial task as it is played: chance, stages, keyframes, the moment of decision, failures.

To be quick, most tests put the cubes where a hand would bring them, and the hand stays away.
"""

from __future__ import annotations

import numpy as np
import pytest
import sapien
from mani_skill.utils.structs import Pose
from scipy.spatial.transform import Rotation

from kc_vla.core.tasks import find_task
from kc_vla_sim.envs.spatial import SPATIAL_RANGES
from kc_vla_sim.envs.swap_position import LONGEST_EPISODE, SwapPositionEnv
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.simulator import Simulator

TASK = find_task("spatial")
BOTTOM, MIDDLE, TOP = range(3)
ASIDE, FURTHER = (-0.25, 0.2, 0.02), (-0.25, -0.2, 0.02)
SETTLED = 8
"""Frames after which a cube that was put somewhere is at rest."""


class Table:
    """An episode whose cubes are moved by hand."""

    def __init__(self, simulator: Simulator, seed: int) -> None:
        self.simulator = simulator
        self.frame = simulator.reset("spatial", seed)
        world: SwapPositionEnv = simulator._env.unwrapped
        self.cubes = [world.cubes[index] for index in world.order[0].tolist()]
        """By the level at which they began."""
        self.colours = [cube.name.removesuffix("_cube") for cube in self.cubes]

    def place(self, level: int, position: tuple[float, float, float], tilt: float = 0.0) -> SimulatedFrame:
        """Put a cube at `position` (world, m), leaning over by `tilt` (rad), and wait until all is at rest."""
        turn = Rotation.from_euler("x", tilt).as_quat(scalar_first=True)
        self.cubes[level].set_pose(Pose.create(sapien.Pose(p=position, q=turn)))
        for _ in range(SETTLED):
            if not self.frame.done:
                self.frame = self.simulator.hold()
        return self.frame

    def take_apart(self) -> SimulatedFrame:
        self.place(TOP, ASIDE)
        return self.place(MIDDLE, FURTHER)


def above(place: tuple[float, float, float], levels: int) -> tuple[float, float, float]:
    return place[0], place[1], place[2] + 0.04 * levels


@pytest.fixture(scope="module")
def played(undrawn: Simulator) -> tuple[list[SimulatedFrame], list[tuple[int, str]], list[tuple[str, int]], list[str]]:
    """Return the frames, decisions and keyframes of an episode of the expert, and the colors from the bottom up."""
    table = Table(undrawn, seed=21)
    frames = [table.frame]
    while not frames[-1].done:
        frames.append(undrawn.step(undrawn.expert.plan(1)[0][0]))
    keyframes = [(keyframe.label, keyframe.frame) for keyframe in undrawn.keyframes]
    return frames, list(undrawn.decisions), keyframes, table.colours


def heights(frame: SimulatedFrame) -> dict[str, float]:
    """Return the height of each cube's center by its color, m."""
    return {d.object_id.removesuffix("_cube"): d.pose.position[2] for d in frame.detections}


@pytest.mark.nightly
def test_the_expert_swaps_the_two_lower_cubes(played: tuple) -> None:
    frames, _, _, (bottom, middle, top) = played
    assert frames[-1].reason == "success"
    stacked = heights(frames[-1])
    assert [stacked[colour] for colour in (middle, bottom, top)] == pytest.approx([0.02, 0.06, 0.1], abs=0.005)
    places = np.array([d.pose.position[:2] for d in frames[-1].detections])
    assert np.linalg.norm(places - places.mean(axis=0), axis=1).max() < 0.02
    assert frames[-1].joint_positions[7:].sum() > 0.05  # the fingers are open


def test_the_stages_are_completed_one_by_one(played: tuple) -> None:
    stages = [frame.completed_stages for frame in played[0]]
    assert sorted(set(stages)) == [0, 1, 2, 3, 4] == list(dict.fromkeys(stages))


def test_keyframes_are_when_each_cube_first_rises_from_its_place(played: tuple) -> None:
    frames, _, keyframes, (bottom, middle, top) = played
    assert tuple(label for label, _ in keyframes) == TASK.keyframes
    numbers = [number for _, number in keyframes]
    for colour, start, number in ((top, 0.1, numbers[1]), (middle, 0.06, numbers[2]), (bottom, 0.02, numbers[3])):
        assert heights(frames[number - 1])[colour] <= start + 0.01 < heights(frames[number])[colour]
    assert [frame.index for frame in frames if frame.keyframe] == numbers  # each known in its own frame
    assert np.diff(numbers).min() > 8
    assert frames[-1].index - numbers[-1] >= 8


def test_the_decision_is_which_cube_to_fetch_after_a_rest_at_home(played: tuple) -> None:
    frames, decisions, keyframes, (bottom, _, _) = played
    ((decided, choice),) = decisions
    assert choice == bottom
    assert keyframes[2][1] < decided < keyframes[3][1]
    before = frames[decided - 10 : decided + 1]
    assert max(np.abs(frame.joint_velocities).max() for frame in before) < 0.02
    assert before[-1].joint_positions[7:].max() < 0.005
    assert heights(frames[decided]) == pytest.approx({"red": 0.02, "green": 0.02, "blue": 0.02}, abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_picture_of_frame_0_shows_the_order(drawn: Simulator, seed: int) -> None:
    colours = Table(drawn, seed).colours
    rows = []
    for colour in colours:
        picture = np.moveaxis(drawn._env.unwrapped.pictures()["third_person"].astype(int), 2, 0)
        strong = picture[("red", "green", "blue").index(colour)]
        others = np.sort(picture, axis=0)[-2]  # where `strong` is the strongest, the second strongest
        seen = np.argwhere((strong == picture.max(axis=0)) & (strong > 1.6 * others))
        assert len(seen) >= 3
        rows.append(seen[:, 0].mean())
    assert rows[0] > rows[1] > rows[2]


def test_the_same_seed_gives_the_same_episode_byte_for_byte(drawn: Simulator) -> None:
    def run() -> list[SimulatedFrame]:
        start = drawn.reset("spatial", 5)
        return [start, *(drawn.step(drawn.expert.plan(1)[0][0]) for _ in range(30))]

    first, again = run(), run()
    for one, other in zip(first, again, strict=True):
        for pixels, again in zip(one.views.values(), other.views.values(), strict=True):
            assert pixels.tobytes() == again.tobytes()
        assert one.joint_positions.tobytes() == other.joint_positions.tobytes()
        assert one.detections == other.detections


@pytest.mark.nightly
def test_every_order_comes_up_and_the_stack_stands_in_its_area(undrawn: Simulator) -> None:
    ranges = SPATIAL_RANGES["paper"]
    orders, places, seed = set(), set(), 0
    while len(orders) < 6 or seed < 10:
        assert seed < 40, orders
        table = Table(undrawn, seed)
        x, y, _ = table.cubes[BOTTOM].pose.p[0].tolist()
        assert ranges.place_x[0] <= x <= ranges.place_x[1]
        assert ranges.place_y[0] <= y <= ranges.place_y[1]
        orders.add(tuple(table.colours))
        places.add((x, y))
        seed += 1
    assert len(places) == seed


def test_cubes_moved_as_they_should_be_succeed(undrawn: Simulator) -> None:
    table = Table(undrawn, 3)
    assert table.place(TOP, ASIDE).completed_stages == 1
    assert table.place(MIDDLE, FURTHER).completed_stages == 2
    assert table.place(BOTTOM, above(FURTHER, 1)).completed_stages == 3
    done = table.place(TOP, above(FURTHER, 2))
    assert (done.reason, done.completed_stages) == ("success", 4)


@pytest.mark.parametrize(
    ("cube", "on", "belongs"),
    [
        (BOTTOM, TOP, "{middle}"),
        (MIDDLE, TOP, "the table"),
        (MIDDLE, BOTTOM, "the table"),
        (TOP, MIDDLE, "{bottom}, once {bottom} is on {middle}"),
        (TOP, BOTTOM, "{bottom}, once {bottom} is on {middle}"),
    ],
)
def test_a_cube_on_a_wrong_one_fails_at_once(undrawn: Simulator, cube: int, on: int, belongs: str) -> None:
    table = Table(undrawn, 4)
    table.take_apart()
    x, y, z = table.cubes[on].pose.p[0].tolist()
    frame = table.place(cube, (x, y, z + 0.04))
    bottom, middle, _ = table.colours
    home = belongs.format(bottom=bottom, middle=middle)
    assert frame.reason == f"{table.colours[cube]} cube put on {table.colours[on]}: it belongs on {home}"
    assert (frame.success, frame.completed_stages) == (False, 2)


def test_a_cube_off_the_table_fails(undrawn: Simulator) -> None:
    table = Table(undrawn, 4)
    assert table.place(TOP, (0.5, 0.0, 0.02)).reason == f"{table.colours[TOP]} cube fell off the table"


def test_a_stack_that_fell_fails(undrawn: Simulator) -> None:
    table = Table(undrawn, 4)
    table.cubes[TOP].set_pose(Pose.create(sapien.Pose(p=ASIDE)))
    frame = table.place(MIDDLE, FURTHER)
    middle, top = table.colours[MIDDLE], table.colours[TOP]
    assert frame.reason == f"stack fell: {middle} cube stands on the table before {top} was put aside"


def test_a_cube_stuck_on_its_edge_between_others_fails(undrawn: Simulator) -> None:
    table = Table(undrawn, 4)
    table.take_apart()
    x, y, z = ASIDE
    table.place(BOTTOM, (x, y - 0.084, z))
    stuck = table.place(MIDDLE, (x, y - 0.042, 0.0465), tilt=np.pi / 4)
    assert stuck.reason == f"{table.colours[MIDDLE]} cube fell: it lies neither on the table nor squarely on a cube"


def test_the_longest_waits_leave_time_for_the_hand() -> None:
    longest = max(ranges.start_wait[1] + ranges.home_wait[1] for ranges in SPATIAL_RANGES.values())
    assert LONGEST_EPISODE / CONTROL_RATE - longest >= 35  # s; the expert takes about 20
