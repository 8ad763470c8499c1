"""Inverse kinematics: what forward kinematics gave is found again, small moves stay small, the unreachable is told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from piper import KINEMATICS, LIMITS, REST

from kc_vla.arm.inverse import (
    UnreachableError,
    joints_after,
    joints_for,
    joints_near,
    moved_pose,
    pose_difference,
)

RAISED = np.radians([10.0, 60.0, -40.0, 0.0, 20.0, 5.0])
angles = st.tuples(
    *(st.floats(low + 0.1, high - 0.1) for low, high in zip(LIMITS.lowest, LIMITS.highest, strict=True))
).map(np.array)


@tried(60, 300)
@given(angles, st.lists(st.floats(-0.1, 0.1), min_size=6, max_size=6).map(np.array))
def test_a_pose_near_the_start_is_found_within_the_limits(there, aside):
    pose = KINEMATICS.flange(there)
    start = np.clip(there + aside, LIMITS.lowest, LIMITS.highest)
    found = joints_for(pose, start, LIMITS, KINEMATICS)
    difference = np.abs(pose_difference(pose, KINEMATICS.flange(found)))
    assert difference[:3].max() < 1e-3
    assert difference[3:].max() < 0.01
    assert ((found >= LIMITS.lowest) & (found <= LIMITS.highest)).all()


@given(st.lists(st.floats(-0.01, 0.01), min_size=6, max_size=6).map(np.array))
def test_a_small_move_is_a_small_turn_of_the_joints(delta):
    pose = moved_pose(KINEMATICS.flange(RAISED), delta)
    found = joints_for(pose, RAISED, LIMITS, KINEMATICS)
    assert np.abs(found - RAISED).max() < 0.3


@given(st.lists(st.floats(-0.05, 0.05), min_size=6, max_size=6).map(np.array))
def test_the_next_pose_of_a_path_is_met_closely_by_a_small_turn_of_the_joints(aside):
    pose = KINEMATICS.flange(RAISED + aside)
    found = joints_near(pose, RAISED, LIMITS, KINEMATICS)
    assert np.abs(pose_difference(pose, KINEMATICS.flange(found))).max() < 1e-3
    assert np.abs(found - RAISED).max() < 0.1
    assert ((found >= LIMITS.lowest) & (found <= LIMITS.highest)).all()


def test_a_pose_of_a_path_that_is_out_of_reach_is_refused():
    pose = KINEMATICS.flange(RAISED)
    pose[0, 3] = 2.0
    with pytest.raises(UnreachableError, match="out of the arm's reach"):
        joints_near(pose, RAISED, LIMITS, KINEMATICS)


def test_a_move_is_in_the_base_frame():
    pose = KINEMATICS.flange(RAISED)
    moved = moved_pose(pose, np.array([0.01, 0.0, -0.02, 0.0, 0.0, 0.1]))
    np.testing.assert_allclose(moved[:3, 3] - pose[:3, 3], [0.01, 0.0, -0.02])
    np.testing.assert_allclose(pose_difference(pose, moved)[3:], [0.0, 0.0, 0.1], atol=1e-9)


@pytest.mark.parametrize("far", [2.0, np.nan])
def test_what_cannot_be_reached_is_told(far):
    pose = KINEMATICS.flange(RAISED)
    pose[0, 3] = far
    with pytest.raises(UnreachableError, match=r"out of the arm's reach|not finite"):
        joints_for(pose, RAISED, LIMITS, KINEMATICS)


def test_near_a_singular_pose_a_small_move_is_not_made_by_a_leap():
    sideways, up = np.zeros(6), np.zeros(6)
    sideways[1] = up[2] = 0.005
    with pytest.raises(UnreachableError, match="only be reached by a leap"):
        joints_after(sideways, REST, LIMITS, KINEMATICS)
    assert np.abs(joints_after(up, REST, LIMITS, KINEMATICS) - REST).max() < 0.05


@given(st.lists(st.floats(-0.01, 0.01), min_size=6, max_size=6).map(np.array))
def test_away_from_one_it_is_followed(delta):
    moved = KINEMATICS.flange(joints_after(delta, RAISED, LIMITS, KINEMATICS))
    np.testing.assert_allclose(moved, moved_pose(KINEMATICS.flange(RAISED), delta), atol=0.01)
