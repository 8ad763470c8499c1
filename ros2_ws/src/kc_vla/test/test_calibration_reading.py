"""Calibration files where they are used: checked, and applied the right way round."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from piper import HIGHEST, LIMITS, LOWEST, PIPER, REST
from stepped_arm import SteppedArm

from kc_vla.arm.offsets import OffsetArm, Offsets
from kc_vla.calibration.files import write_joints, write_latency
from kc_vla.calibration.hand_eye import JointOffsets
from kc_vla.calibration.latency import Latency
from kc_vla.calibration.reading import load_latency, load_offsets
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core.robot import JointLimits

OFFSETS = np.radians([0.0, 1.5, -2.0, 0.5, 1.0, 0.0])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "joints.yaml"
    write_joints(path, "PP-7", JointOffsets(OFFSETS, 3.0, 0.4), PIPER)
    return path


def test_offsets_are_read_as_they_were_written(file):
    found = load_offsets(file, LIMITS)
    np.testing.assert_allclose(found.angles, OFFSETS, atol=1e-6)
    np.testing.assert_allclose(found.limits.lowest, LOWEST, atol=1e-6)


@pytest.mark.parametrize("key", ["robot", "rig"])
def test_offsets_of_another_arm_are_refused(file, key):
    """The key was called `rig` before."""
    content = yaml.safe_load(file.read_text())
    content = {key: content.pop("robot"), **content}
    file.write_text(yaml.safe_dump(content))
    for known in (("piper",), ("piper_ros", "piper")):  # the same arm by another driver
        np.testing.assert_allclose(load_offsets(file, LIMITS, known).angles, OFFSETS, atol=1e-6)
    file.write_text(yaml.safe_dump({**content, key: "piper_ros"}))
    load_offsets(file, LIMITS, ("piper", "piper"))
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(CalibrationError, match=r"is of the arm 'piper', not of a 'piper_h': .* joints --robot piper_h"):
        load_offsets(file, LIMITS, ("piper_h", "piper_h"))


def test_an_arm_with_offsets_tells_and_takes_true_angles_within_what_its_encoders_allow():
    arm = SteppedArm()
    seen = OffsetArm(arm, Offsets(OFFSETS, LIMITS))
    np.testing.assert_allclose(seen.read_state().angles, REST + OFFSETS)
    np.testing.assert_allclose(seen.home_pose, REST + OFFSETS)
    assert (seen.limits.lowest - OFFSETS >= LOWEST - 1e-9).all()
    assert (seen.limits.highest - OFFSETS <= HIGHEST + 1e-9).all()
    there = np.radians([10.0, 60.0, -40.0, 0.0, 20.0, 5.0])
    seen.set_target(there, 0.02)
    np.testing.assert_allclose(arm.sent[-1], there - OFFSETS)
    narrow = JointLimits(LOWEST + 0.5, HIGHEST - 0.5, LIMITS.speed)
    assert (OffsetArm(arm, Offsets(OFFSETS, narrow)).limits.lowest == LOWEST + 0.5).all()


@given(st.lists(st.floats(-0.3, 0.3), min_size=6, max_size=6))
def test_every_limit_of_an_arm_with_offsets_can_be_gone_to(angles):
    arm = SteppedArm()  # which refuses what is beyond its own limits, be it by a bit
    seen = OffsetArm(arm, Offsets(np.array(angles), JointLimits(LOWEST - 1.0, HIGHEST + 1.0, LIMITS.speed)))
    for limit in (seen.limits.lowest, seen.limits.highest):
        seen.set_target(limit, 0.0)
    with pytest.raises(AssertionError):
        seen.set_target(seen.limits.highest + 1e-3, 0.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.pop("joints"), "'joints' must be a list of 6"),
        (lambda c: c["joints"].pop(), "made for another arm"),
        (lambda c: c["joints"][1].update(offset=1.0), "joint 2: offset is 1.0"),
        (lambda c: c["joints"][1].update(offset=float("nan")), "joint 2: offset is nan"),
        (lambda c: c["joints"][2].update(offset="much"), "joint 3: offset is 'much'"),
        (lambda c: c["joints"][3].update(sign=-1), "joint 4: offset, sign 1 and limits"),
        (lambda c: c["joints"][4].update(limits=[1.0, 0.5]), "joint 5: its first limit is not below its second"),
        (lambda c: c["joints"][4].update(limits=[1.0]), "joint 5: limits must be two angles"),
    ],
)
def test_offsets_that_cannot_be_are_refused(file, change, words):
    content = yaml.safe_load(file.read_text())
    change(content)
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(CalibrationError, match=words):
        load_offsets(file, LIMITS)


def test_a_latency_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "latency.yaml"
    write_latency(path, "wrist", "D405", Latency(0.043, 0.9))
    assert load_latency(path) == pytest.approx(0.043)
    path.write_text("camera_to_joints_s: 40\n")
    with pytest.raises(CalibrationError, match="must be a number from -1 to 1"):
        load_latency(path)
    with pytest.raises(CalibrationError, match="cannot read"):
        load_latency(tmp_path / "no.yaml")
