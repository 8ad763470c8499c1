import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kc_vla.arm.kinematics import flange_jacobian, flange_pose, joint_frames

angles = st.lists(st.floats(-2.5, 2.5), min_size=6, max_size=6).map(np.array)
variants = st.sampled_from([0, 1])


@pytest.mark.parametrize(
    ("dh_is_offset", "position"), [(0, (0.05495, 0.0, 0.20339)), (1, (0.05613, 0.0, 0.21327))], ids=["older", "newer"]
)
def test_the_zero_pose_is_that_of_the_vendor(dh_is_offset, position):
    pose = flange_pose(np.zeros(6), dh_is_offset)
    np.testing.assert_allclose(pose[:3, 3], position, atol=1e-5)
    assert Rotation.from_matrix(pose[:3, :3]).as_euler("xyz", degrees=True)[1] == pytest.approx(85.0, abs=0.01)


URDF = (
    ((0.0, 0.0, 0.123), (0.0, 0.0, 0.0)),
    ((0.0, 0.0, 0.0), (1.5708, -0.1359, -3.1416)),
    ((0.28503, 0.0, 0.0), (0.0, 0.0, -1.7939)),
    ((-0.021984, -0.25075, 0.0), (1.5708, 0.0, 0.0)),
    ((0.0, 0.0, 0.0), (-1.5708, 0.0, 0.0)),
    ((8.8259e-05, -0.091, 0.0), (1.5708, 0.0, 0.0)),
)
"""Origins of the joints, m and rad (roll, pitch, yaw), in the vendor's URDF for the newer zero pose; axes are z."""


@given(angles)
def test_the_flange_is_where_the_urdf_has_it(joints):
    pose = np.eye(4)
    for (place, turn), angle in zip(URDF, joints, strict=True):
        step = np.eye(4)
        step[:3, :3] = (Rotation.from_euler("xyz", turn) * Rotation.from_rotvec([0, 0, angle])).as_matrix()
        step[:3, 3] = place
        pose = pose @ step
    found = flange_pose(joints)
    assert np.linalg.norm(found[:3, 3] - pose[:3, 3]) < 2e-4  # the URDF is rounded, and has an offset of 0.09 mm
    assert Rotation.from_matrix(found[:3, :3].T @ pose[:3, :3]).magnitude() < 1e-4


@given(angles, variants)
def test_every_frame_is_a_rigid_motion(joints, dh_is_offset):
    for pose in joint_frames(joints, dh_is_offset):
        np.testing.assert_allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-12)
        assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0)
        np.testing.assert_array_equal(pose[3], [0, 0, 0, 1])


@given(angles, st.floats(-3.0, 3.0), variants)
def test_the_first_joint_turns_everything_about_the_vertical(joints, turn, dh_is_offset):
    turned = joints + np.array([turn, 0, 0, 0, 0, 0])
    about = np.eye(4)
    about[:3, :3] = Rotation.from_rotvec([0, 0, turn]).as_matrix()
    np.testing.assert_allclose(flange_pose(turned, dh_is_offset), about @ flange_pose(joints, dh_is_offset), atol=1e-9)


@given(angles, variants)
def test_the_jacobian_is_the_derivative_of_the_pose(joints, dh_is_offset):
    step = 1e-6
    jacobian = flange_jacobian(joints, dh_is_offset)
    for joint in range(6):
        there = flange_pose(joints + step * np.eye(6)[joint], dh_is_offset)
        back = flange_pose(joints - step * np.eye(6)[joint], dh_is_offset)
        np.testing.assert_allclose(jacobian[:3, joint], (there - back)[:3, 3] / (2 * step), atol=1e-8)
        turned = Rotation.from_matrix(there[:3, :3] @ back[:3, :3].T).as_rotvec() / (2 * step)
        np.testing.assert_allclose(jacobian[3:, joint], turned, atol=1e-7)


@pytest.mark.parametrize("joints", [np.zeros(5), np.zeros((1, 6))])
def test_a_wrong_number_of_joints_is_told(joints):
    with pytest.raises(ValueError, match="a Piper has 6"):
        flange_pose(joints)


def test_an_unknown_variant_is_told():
    with pytest.raises(ValueError, match="dh_is_offset is 2: it must be 0 or 1"):
        flange_pose(np.zeros(6), 2)
