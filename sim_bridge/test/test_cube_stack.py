"""What stands on what."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.cube_stack import NOTHING, TABLE, Cubes, a_face_is_up, within_fingers

places = st.tuples(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3))


def cubes(*positions: tuple[float, float, float], upright: tuple[bool, ...] = (True, True, True)) -> Cubes:
    """Return one environment with three free cubes."""
    held = torch.zeros((1, 3), dtype=torch.bool)
    return Cubes(torch.tensor([positions]), torch.tensor([upright]), held)


def quaternion(rotation: Rotation) -> torch.Tensor:
    """Return a quaternion (4,), w first."""
    return torch.as_tensor(rotation.as_quat(scalar_first=True), dtype=torch.float32)


@given(places, st.permutations(range(3)), st.floats(-0.004, 0.004))
def test_a_stack_is_read_from_bottom_to_top_in_any_order(
    place: tuple[float, float], order: list[int], error: float
) -> None:
    positions = [(0.0, 0.0, 0.0)] * 3
    for level, cube in enumerate(order):
        positions[cube] = (place[0] + error, place[1], 0.02 + 0.04 * level + (error if level == 2 else 0))
    support = cubes(*positions).support[0].tolist()
    assert [support[cube] for cube in order] == [TABLE, order[0], order[1]]


@given(st.lists(places, min_size=3, max_size=3))
def test_cubes_on_the_table_stand_on_nothing_else(spots: list[tuple[float, float]]) -> None:
    assert cubes(*((x, y, 0.02) for x, y in spots)).support.tolist() == [[TABLE] * 3]


def test_a_tilted_cube_and_one_in_the_air_stand_on_nothing() -> None:
    air = cubes((0, 0, 0.02), (0.2, 0, 0.15), (0, 0, 0.06), upright=(True, True, False))
    assert air.support.tolist() == [[TABLE, NOTHING, NOTHING]]


def test_a_cube_on_two_stands_on_the_nearer() -> None:
    assert cubes((0, 0, 0.02), (0.042, 0, 0.02), (0.02, 0, 0.06)).support.tolist() == [[TABLE, TABLE, 0]]


def test_neighbours_are_less_than_two_centimetres_apart_in_the_plane() -> None:
    stack = cubes((0, 0, 0.02), (0.019, 0, 0.06), (0.019, 0.021, 0.1))
    assert stack.neighbours(0, 1).tolist() == [True]
    assert stack.neighbours(1, 2).tolist() == [False]


@given(st.floats(-3.2, 3.2), st.sampled_from("xyz"), st.integers(0, 3))
def test_a_cube_lies_flat_on_any_of_its_faces(yaw: float, axis: str, quarters: int) -> None:
    rotation = Rotation.from_euler("z", yaw) * Rotation.from_euler(axis, 90 * quarters, degrees=True)
    assert bool(a_face_is_up(quaternion(rotation)))


@given(st.floats(-3.2, 3.2), st.floats(0.15, 1.4))
def test_a_cube_on_its_edge_does_not(yaw: float, tilt: float) -> None:
    rotation = Rotation.from_euler("z", yaw) * Rotation.from_euler("x", tilt)
    assert not bool(a_face_is_up(quaternion(rotation)))


@pytest.mark.parametrize(
    ("tool", "gap", "held"),
    [((0, 0, 0.02), 0.04, True), ((0, 0, 0.02), 0.068, False), ((0, 0, 0.07), 0.04, False)],
    ids=["closed about it", "open", "above it"],
)
def test_fingers_hold_what_they_are_closed_about(tool: tuple[float, float, float], gap: float, held: bool) -> None:
    position = torch.tensor([[(0.0, 0.0, 0.02), (0.1, 0.0, 0.02), (0.0, 0.1, 0.02)]])
    assert within_fingers(position, torch.tensor([tool]), torch.tensor([gap])).tolist() == [[held, False, False]]
