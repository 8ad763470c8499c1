"""The scripted policy: smooth from where the arm is, through all poses, again and again."""

from pathlib import Path

import numpy as np
import pytest
from piper import HIGHEST, KINEMATICS, LOWEST, OLDER, PIPER, REST

from kc_vla.arm.workspace import Workspace
from kc_vla.core.episode import Episode
from kc_vla.policy.interface import PolicyError, PolicyInput
from kc_vla.policy.scripted import ScriptedBackend, load_script

SCRIPT = """
- {joints: [10, 60, -40, 0, 20, 0], gripper: 0.05, seconds: 2.0}
- {joints: [-10, 50, -30, 0, 10, 0], gripper: 0.0, seconds: 1.0}
"""
CALIBRATION_SCRIPT = Path(__file__).parents[4] / "launch" / "params" / "hand_eye_script.yaml"
EPISODE = Episode("e", "", "", 0, 50_000_000, running=True)


@pytest.fixture
def backend(tmp_path):
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT)
    backend = ScriptedBackend(load_script(path, PIPER), 16, PIPER)
    backend.reset(EPISODE)
    return backend


def rows(backend, frame: int, start: np.ndarray) -> np.ndarray:
    given = PolicyInput(frame, {}, [], start, "", np.empty((0, 0), np.float32))
    return backend.infer(given)


def test_it_begins_where_the_arm_is_and_goes_through_all_poses(backend):
    start = np.array([0.1, 0.2, -0.3, 0.0, 0.0, 0.0, 0.02])
    way = np.concatenate([rows(backend, frame, start if frame == 7 else start * 9) for frame in range(7, 200, 16)])
    np.testing.assert_allclose(way[0], start, atol=1e-6)
    np.testing.assert_allclose(way[40], [*np.radians([10, 60, -40, 0, 20, 0]), 0.05], atol=1e-6)
    np.testing.assert_allclose(way[60], [*np.radians([-10, 50, -30, 0, 10, 0]), 0.0], atol=1e-6)
    np.testing.assert_allclose(way[100], way[160], atol=1e-6)
    speeds = np.abs(np.diff(way, axis=0)) / 0.05
    assert speeds.max() < 1.875 * np.radians(70) / 1.0 + 1e-6


def test_it_stays_where_it_is_to_stay(tmp_path):
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT.replace("2.0}", "2.0, hold: 1.5}"))
    backend = ScriptedBackend(load_script(path, PIPER), 16, PIPER)
    backend.reset(EPISODE)
    rows(backend, 0, np.zeros(7))
    held = [*np.radians([10, 60, -40, 0, 20, 0]), 0.05]
    for seconds in (2.0, 2.7, 3.5):
        np.testing.assert_allclose(backend.at(seconds), held, atol=1e-9)
    np.testing.assert_allclose(backend.at(4.5), [*np.radians([-10, 50, -30, 0, 10, 0]), 0.0], atol=1e-6)


@pytest.mark.parametrize("zero", [OLDER, KINEMATICS], ids=["older", "newer"])
def test_the_script_for_calibration_stays_clear_of_the_table_and_is_slow(zero):
    """A gripper of 0.14 m on the flange; whether the poses say enough is tested where the calibration is."""
    backend = ScriptedBackend(load_script(CALIBRATION_SCRIPT, PIPER), 16, PIPER)
    backend.reset(EPISODE)
    rows(backend, 0, np.array([*REST, 0.0]))
    way = np.array([backend.at(seconds)[:6] for seconds in np.arange(0.0, 120.0, 0.05)])
    assert (way >= np.minimum(LOWEST, REST) - 1e-9).all()
    assert (way <= HIGHEST + 1e-9).all()
    assert np.abs(np.diff(way, axis=0)).max() / 0.05 < 0.8
    for angles in way:
        assert Workspace(zero).outside(angles) == ""
        flange = zero.flange(angles)
        assert (flange[:3, 3] + 0.14 * flange[:3, 2])[2] > 0.05


def test_a_new_episode_begins_anew(backend):
    first = rows(backend, 0, np.zeros(7))
    backend.reset(EPISODE)
    np.testing.assert_allclose(rows(backend, 30, np.zeros(7)), first)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "[]",
        "- 3",
        "- {joints: [1, 2], gripper: 0, seconds: 1}",
        "- {joints: [0, 0, 0, 0, 0, 0], gripper: 0}",
        "- {joints: [0, 0, 0, 0, 0, .nan], gripper: 0, seconds: 1}",
        "- {joints: [0, 0, 0, 0, 0, 0], gripper: 0, seconds: 0}",
        "- {joints: [0, 0, 0, 0, 0, 0], gripper: 0, seconds: 1, hold: -1}",
        "- {joints: [0, 0, 0, 0, 0, 0], gripper: 0, seconds: 1, holt: 1}",
        "{",
    ],
)
def test_a_script_that_is_none_is_told_with_its_name(tmp_path, text):
    path = tmp_path / "script.yaml"
    path.write_text(text)
    with pytest.raises(PolicyError, match=r"script\.yaml"):
        load_script(path, PIPER)
    with pytest.raises(PolicyError, match="absent"):
        load_script(tmp_path / "absent", PIPER)
