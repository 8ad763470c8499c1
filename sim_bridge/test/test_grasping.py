"""Fetching and putting down, foreseen by the model of the hand; the physics is in the tests of the experts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.experts.grasping import Step, Tempo, fetch, go, put
from kc_vla_sim.experts.hand import Cube, HandScene, facing, grasp_clearance, hand_yaw, nearest_yaw
from kc_vla_sim.experts.tool import Tool

TEMPO = Tempo()
yaws = st.floats(-pi / 4, pi / 4)
near = st.floats(-0.1, 0.1)


def cube(x: float, y: float, z: float = CUBE_HALF_SIZE, yaw: float = 0.0) -> Cube:
    return Cube(np.array([x, y, z]), yaw)


def scene(
    *cubes: Cube, at: tuple[float, float, float] = (0, 0, 0.2), yaw: float = 0.0, opening: float = 0.0
) -> HandScene:
    return HandScene(Tool(np.array(at), facing(yaw)), opening, cubes, None)


def foresee(
    state: HandScene, move: Callable[[HandScene], Step], over: Callable[[HandScene], bool], steps: int
) -> list[HandScene]:
    """Return all scenes until one is as wanted; it must be within so many steps."""
    scenes = [state]
    while not over(scenes[-1]):
        assert len(scenes) <= steps, f"not there after {steps} steps: {move(scenes[-1])[0]}"
        scenes.append(scenes[-1].after(move(scenes[-1])[1]))
    return scenes


@given(near, near, yaws, st.floats(-1.0, 1.0), st.floats(0.02, 0.3), st.floats(0, 0.04))
def test_a_cube_is_fetched_from_anywhere(
    x: float, y: float, yaw: float, turned: float, height: float, opening: float
) -> None:
    # Over the cube the hand stands clear of it: fingers inside it are no start.
    at = (x, y, height if np.hypot(x, y) > 0.07 else max(height, 0.1))
    start = scene(cube(0.0, 0.0, yaw=yaw), at=at, yaw=turned, opening=opening)
    scenes = foresee(
        start, lambda s: fetch(s, 0, 0.2, TEMPO), lambda s: s.held == 0 and s.cubes[0].position[2] > 0.195, steps=110
    )
    end = scenes[-1]
    assert abs(nearest_yaw(hand_yaw(end.tool.rotation) - yaw, 0.0)) < 0.1
    np.testing.assert_allclose(end.cubes[0].position[:2], 0.0, atol=0.005)


@given(near, near, yaws)
def test_a_held_cube_comes_to_its_place_and_is_let_go(x: float, y: float, yaw: float) -> None:
    start = replace(scene(cube(0.0, 0.0, 0.2), opening=CUBE_HALF_SIZE), held=0)
    place = cube(x, y, yaw=yaw)
    end = foresee(start, lambda s: put(s, place, TEMPO), lambda s: s.held is None, steps=80)[-1]
    np.testing.assert_allclose(end.cubes[0].position, place.position, atol=0.005)
    assert abs(nearest_yaw(end.cubes[0].yaw - yaw, 0.0)) < 0.1


def test_a_cube_is_put_on_another() -> None:
    start = replace(scene(cube(0.0, 0.0, 0.2), cube(0.1, 0.05), opening=CUBE_HALF_SIZE), held=0)
    place = cube(0.1, 0.05, 3 * CUBE_HALF_SIZE)
    scenes = foresee(start, lambda s: put(s, place, TEMPO), lambda s: s.held is None, steps=60)
    np.testing.assert_allclose(scenes[-1].cubes[0].position, place.position, atol=0.004)
    for now in scenes:
        if np.hypot(*(now.cubes[0].position[:2] - place.position[:2])) > 0.03:
            assert now.cubes[0].position[2] > 4 * CUBE_HALF_SIZE


@given(near, near, st.floats(0.02, 0.2))
def test_a_hand_that_goes_rises_first_and_closes(x: float, y: float, height: float) -> None:
    start = scene(cube(0.0, 0.0), at=(x, y, height), opening=0.034)
    home = np.array([0.0, 0.05, 0.25])
    scenes = foresee(
        start,
        lambda s: go(s, home, facing(0.1), TEMPO),
        lambda s: bool(np.linalg.norm(s.tool.position - home) < 0.003),
        steps=60,
    )
    assert scenes[-1].opening < 1e-3
    for now in scenes:
        if np.hypot(*now.tool.position[:2]) < 0.05 and now.tool.position[2] < 0.06:
            np.testing.assert_allclose(now.tool.position[:2], (x, y), atol=1e-6)


@pytest.mark.parametrize("gap", [0.041, 0.045, 0.05, 0.06])
@pytest.mark.parametrize("direction", [0.0, pi / 2, pi, -pi / 2])
def test_the_fingers_pass_beside_a_close_neighbour(gap: float, direction: float) -> None:
    neighbour = cube(gap * np.cos(direction), gap * np.sin(direction))
    start = scene(cube(0.0, 0.0), neighbour, at=(-0.05, 0.02, 0.2))
    end = foresee(start, lambda s: fetch(s, 0, 0.2, TEMPO), lambda s: s.held == 0, steps=110)[-1]
    assert grasp_clearance(hand_yaw(end.tool.rotation), cube(0.0, 0.0), [neighbour]) > 0


def test_a_cube_that_nothing_holds_stays_where_it_is() -> None:
    before = scene(cube(0.0, 0.0), at=(0.05, 0, 0.02))
    after = before.after(np.array([0.05, 0, 0.05, 0, 0, 0.1, 0]))
    assert after.cubes == before.cubes
    assert after.held is None
