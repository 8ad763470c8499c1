"""The way of the hand through one lift."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla_sim.actions import TURN_LIMIT
from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.experts.grasping import Tempo
from kc_vla_sim.experts.hand import Cube, HandScene, facing
from kc_vla_sim.experts.lift_script import SHIFTED, STRAY, LiftScript, Posture
from kc_vla_sim.experts.tool import REACHED_SHARE, Tool

TEMPO = Tempo(travel=0.03, lower=0.02, lift=0.03)
HEIGHT = 0.2
START, END = Posture(np.array([-0.1, 0.0, 0.22]), 0.1), Posture(np.array([-0.05, 0.04, 0.25]), -0.1)


def script_for(place: Cube) -> LiftScript:
    return LiftScript.write(START, place, HEIGHT, END, TEMPO)


def standing(x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Cube:
    return Cube(np.array([x, y, CUBE_HALF_SIZE]), yaw)


def play(script: LiftScript, place: Cube) -> list[HandScene]:
    """Return the scenes that the model of the hand foresees, the script's own at each step."""
    scenes = [HandScene(Tool(START.position, facing(START.yaw)), 0.0, (place,), None)]
    for step in range(len(script.grippers)):
        assert script.follows(scenes[-1], step, 0, place), f"left at step {step}, {script.phases[step]}"
        scenes.append(scenes[-1].after(script.step(scenes[-1], step)[1]))
    return scenes


@given(st.floats(-0.15, 0.05), st.floats(-0.12, 0.12), st.floats(-pi / 4, pi / 4))
def test_the_script_lifts_the_cube_and_puts_it_back(x: float, y: float, yaw: float) -> None:
    place = standing(x, y, yaw)
    scenes = play(script_for(place), place)
    heights = [scene.cubes[0].position[2] for scene in scenes]
    assert max(heights) == pytest.approx(HEIGHT, abs=0.005)
    end = scenes[-1]
    np.testing.assert_allclose(end.cubes[0].position, place.position, atol=0.004)
    np.testing.assert_allclose(end.tool.position, END.position, atol=0.003)
    assert end.held is None


@given(st.floats(-0.15, 0.05), st.floats(-0.12, 0.12), st.floats(-pi / 4, pi / 4))
def test_no_step_is_faster_than_the_tempo_or_the_wrist(x: float, y: float, yaw: float) -> None:
    script = script_for(standing(x, y, yaw))
    paces = np.linalg.norm(np.diff(script.positions, axis=0), axis=1)
    assert paces.max() <= TEMPO.travel + 1e-9
    assert paces[np.array(script.phases) == "lower"].max() <= TEMPO.lower + 1e-9
    assert np.abs(np.diff(script.yaws)).max() <= TURN_LIMIT * REACHED_SHARE


def test_a_hand_or_a_cube_that_is_elsewhere_has_left_the_script() -> None:
    place = standing()
    script = script_for(place)
    scenes = play(script, place)
    before, carrying = 3, script.grasp + 6

    def moved(step: int) -> HandScene:
        tool = scenes[step].tool
        return replace(scenes[step], tool=Tool(tool.position + np.array([0, 1.1 * STRAY, 0]), tool.rotation))

    assert not script.follows(moved(before), before, 0, place)
    assert not script.follows(moved(carrying), carrying, 0, place)
    assert not script.follows(replace(scenes[before], cubes=(standing(1.1 * SHIFTED),)), before, 0, place)
    assert not script.follows(replace(scenes[carrying], held=None), carrying, 0, place)
    assert not script.follows(scenes[-1], len(script.grippers), 0, place)
    assert not script.follows(scenes[0], -1, 0, place)
