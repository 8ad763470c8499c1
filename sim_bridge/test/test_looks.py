"""Varied looks: other images, drawn from the seed, of the same episode."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import at_night
from scipy.spatial.transform import Rotation

from kc_vla.core.tasks import simulated_tasks
from kc_vla_sim.envs.cubes import CUBE_COLOURS
from kc_vla_sim.envs.varied_looks import EYE_JITTER, STANDARD_ROOM, RoomLooks, draw_room
from kc_vla_sim.errors import BadLooksError
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.protocol import LARGEST_SEED
from kc_vla_sim.simulator import Simulator
from kc_vla_sim_cli import main

SIZE = 96


@pytest.fixture(scope="module")
def varied() -> Iterator[Simulator]:
    simulator = Simulator(SIZE, draw=False, variant="paper", looks="varied")
    yield simulator
    simulator.close()


@pytest.fixture(scope="module")
def standard() -> Iterator[Simulator]:
    simulator = Simulator(SIZE, draw=False, variant="paper")
    yield simulator
    simulator.close()


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one.astype(int) - other).mean())


def flash(simulator: Simulator, seed: int) -> float:
    """Return how much brighter the third-person image is on average, of 255, when the lamp goes on."""
    simulator.reset("counting", seed)
    dark = simulator.look()[0]
    while len(simulator.keyframes) < 2:
        simulator.hold()
    return float(simulator.look()[0].mean() - dark.mean())


def reach(thing: GroundTruthObject) -> np.ndarray:
    """Return the six points (6, 3) of a thing furthest from its center along its own axes, in the base frame, m."""
    along = np.concatenate([np.eye(3), -np.eye(3)]) * thing.size / 2
    return thing.pose.position + Rotation.from_quat(thing.pose.quaternion).apply(along)


@pytest.mark.nightly
def test_a_seed_always_looks_the_same_and_no_other_seed_does(varied: Simulator, standard: Simulator) -> None:
    def see(seed: int) -> tuple[np.ndarray, ...]:
        varied.reset("counting", seed)
        return varied.look()

    one, other, again = see(3), see(4), see(3)
    for view, (picture, elsewhere, repeated) in enumerate(zip(one, other, again, strict=True)):
        np.testing.assert_array_equal(picture, repeated)
        standard.reset("counting", 3)
        assert difference(picture, elsewhere) > 5
        assert difference(picture, standard.look()[view]) > 5


# Seed 2 of spatial is one where a solid thing more on the table changes how the cubes come apart.
@pytest.mark.parametrize(
    ("task", "seed", "steps"),
    [
        ("counting", 1, 60),
        *at_night(("temporal", 1, 90), ("spatial", 2, 215), ("identity", 1, 60)),
    ],
)
def test_all_but_the_pictures_is_as_with_the_standard_looks(
    task: str, seed: int, steps: int, varied: Simulator, standard: Simulator
) -> None:
    one, other = standard.reset(task, seed), varied.reset(task, seed)
    for _ in range(steps):
        np.testing.assert_array_equal(one.joint_positions, other.joint_positions)
        np.testing.assert_array_equal(one.joint_velocities, other.joint_velocities)
        assert (one.detections, one.keyframe) == (other.detections, other.keyframe)
        one, other = (simulator.step(simulator.expert.plan(1)[0][0]) for simulator in (standard, varied))


@pytest.mark.nightly
def test_the_lamp_still_flashes(varied: Simulator, standard: Simulator) -> None:
    needed = flash(standard, 1) / 2
    assert needed > 0.5
    assert min(flash(varied, seed) for seed in (1, 2, 15)) > needed


@pytest.mark.parametrize(
    "task",
    ["spatial", *at_night(*(task for task in simulated_tasks() if task != "spatial"))],
)
def test_everything_of_the_task_is_in_view(
    task: str, varied: Simulator, project: Callable[..., tuple[int, int]]
) -> None:
    for seed in range(4):
        frame = varied.reset(task, seed)
        camera = varied.cameras[0]
        for thing in frame.detections:
            for point in reach(thing):
                column, row = project(camera, point)
                assert 0 <= column < SIZE, (seed, thing.object_id)
                assert 0 <= row < SIZE, (seed, thing.object_id)


def test_cubes_keep_their_colours(varied: Simulator, project: Callable[..., tuple[int, int]]) -> None:
    for seed in range(4):
        frame = varied.reset("temporal", seed)
        picture = varied.look()[0].astype(int)
        for thing in frame.detections:
            column, row = project(varied.cameras[0], thing.pose.position)
            colour = list(CUBE_COLOURS).index(thing.object_id.removesuffix("_cube"))
            seen = picture[row, column]
            assert seen[colour] > 1.5 * np.delete(seen, colour).max(), (seed, thing.object_id)


@given(st.integers(0, LARGEST_SEED))
def test_any_seed_gives_a_sane_room(seed: int) -> None:
    room = draw_room(seed)
    for light in (room.ambient, room.light):
        assert max(light) < 1.155 * min(light)
    assert np.linalg.norm(room.light_direction) == pytest.approx(1)
    assert room.light_direction[2] < -0.7
    assert np.abs(np.subtract(room.camera_eye, STANDARD_ROOM.camera_eye)).max() <= EYE_JITTER
    assert room.table_texture is not None
    worn = room.table_texture.mean(axis=(0, 1)) / 255
    np.testing.assert_allclose(worn, room.table, atol=0.01)
    assert max(room.table_as_seen) < 0.6  # the lamp's pool of light adds up to 0.48
    assert 0 <= room.distractors_added(5) <= 5


def test_the_number_of_distractors_varies() -> None:
    assert {draw_room(seed).distractors_added(5) for seed in range(100)} == set(range(6))
    assert RoomLooks().distractors_added(5) == 0


def test_unknown_looks_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadLooksError, match="unknown visual randomization 'sideways': choose one of standard, varied"):
        Simulator(looks="sideways")
    assert main(["play", "--task", "counting", "--seed", "1", "--visual-randomization", "sideways"]) == 2
    assert "unknown visual randomization 'sideways'" in capsys.readouterr().err


def test_the_former_name_of_the_option_is_read_with_a_line(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    assert main(["play", "--task", "counting", "--seed", "1", "--looks", "sideways"]) == 2
    said = capfd.readouterr().err
    assert "deprecated: --looks is called --visual-randomization\n" in said
    assert "unknown visual randomization 'sideways'" in said


@pytest.mark.parametrize("options", [{"num_envs": 2}, {"reconfiguration_freq": 0}])
def test_varied_looks_need_a_scene_for_each_episode(options: dict[str, int]) -> None:
    with pytest.raises(BadLooksError, match="need a scene for each episode"):
        gymnasium.make("PushCubeWithSignal-v1", looks="varied", **options)
