from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from piper import KINEMATICS, OLDER
from scipy.spatial.transform import Rotation

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.chain import Chain
from kc_vla.core.robot import load_robot

angles = st.lists(st.floats(-2.5, 2.5), min_size=6, max_size=6).map(np.array)
FORMER = Path(__file__).parent / "former_robot_files"
"""The robot files of before, whose links are tables."""


def turned_about(axis: str, angle: float) -> np.ndarray:
    return Rotation.from_euler(axis, angle).as_matrix()


def oblique() -> Kinematics:
    """An arm whose joints turn about any axes, with a tool that is turned, too."""
    random = np.random.default_rng(3)
    origins = np.tile(np.eye(4), (7, 1, 1))
    origins[:, :3, :3] = Rotation.random(7, random_state=3).as_matrix()
    origins[:, :3, 3] = random.uniform(-0.3, 0.3, (7, 3))
    axes = random.normal(size=(6, 3))
    return Kinematics(Chain(origins[:6], axes / np.linalg.norm(axes, axis=1)[:, None], origins[6]))


TABLES = {
    name: yaml.safe_load((FORMER / f"{name}.yaml").read_text())["links"]
    for name in ("piper", "piper_h", "piper_l", "piper_x", "piper_ros", "six_axis_ros", "ur5e_ros")
}


def by_table(rows: list[list[float]], joints: np.ndarray) -> np.ndarray:
    """The pose of the flange, out of a modified Denavit-Hartenberg table in m and degrees."""
    pose = np.eye(4)
    for (a, alpha, d, offset), joint in zip(rows, joints, strict=True):
        for axis, place, angle in (("x", (a, 0, 0), np.radians(alpha)), ("z", (0, 0, d), joint + np.radians(offset))):
            step = np.eye(4)
            step[:3, :3], step[:3, 3] = turned_about(axis, angle), place
            pose = pose @ step
    return pose


@pytest.mark.parametrize("name", sorted(TABLES))
@given(angles)
def test_a_robot_moves_by_its_urdf_as_it_did_by_its_table(name, joints):
    found = Kinematics(load_robot(name).links).flange(joints)
    np.testing.assert_allclose(found, by_table(TABLES[name], joints), atol=1e-9)


@given(angles)
def test_an_older_piper_moves_by_its_zero_as_it_did_by_its_table(joints):
    rows = yaml.safe_load((FORMER / "piper.yaml").read_text())["older"]["links"]
    np.testing.assert_allclose(OLDER.flange(joints), by_table(rows, joints), atol=1e-9)


arms = st.sampled_from(
    [KINEMATICS, OLDER, oblique(), *(Kinematics(load_robot(f"piper_{model}").links) for model in "hlx")]
)


@pytest.mark.parametrize(
    ("arm", "position"),
    [(OLDER, (0.05495, 0.0, 0.20339)), (KINEMATICS, (0.05613, 0.0, 0.21327))],
    ids=["older", "newer"],
)
def test_the_zero_pose_is_that_of_the_vendor(arm, position):
    pose = arm.flange(np.zeros(6))
    np.testing.assert_allclose(pose[:3, 3], position, atol=1e-5)
    assert Rotation.from_matrix(pose[:3, :3]).as_euler("xyz", degrees=True)[1] == pytest.approx(85.0, abs=0.01)


_BASE = ((0.0, 0.0, 0.123), (0.0, 0.0, 0.0))
_SHOULDER = ((0.0, 0.0, 0.0), (1.5707963, -0.1357866, -3.1415926))
_WRIST = ((0.0, 0.0, 0.0), (-1.5707963, 0.0, 0.0))
URDF = {
    "piper": (
        _BASE,
        _SHOULDER,
        ((0.28503, 0.0, 0.0), (0.0, 0.0, -1.7938494)),
        ((-0.02198, -0.25075, 0.0), (1.5707963, 0.0, 0.0)),
        _WRIST,
        ((8.8259e-05, -0.091, 0.0), (1.5707963, 0.0, 0.0)),
    ),
    "piper_h": (
        _BASE,
        _SHOULDER,
        ((0.28503, 0.0, 0.0), (0.0, 0.0, -1.7938494)),
        ((-0.02198, -0.25575, 0.0), (1.5707963, 0.0, 0.0)),
        _WRIST,
        ((0.0, -0.0963, 0.0), (1.5707963, 0.0, 0.0)),
    ),
    "piper_l": (
        _BASE,
        _SHOULDER,
        ((0.33823, 0.0, 0.0), (0.0, 0.0, -1.7938494)),
        ((-0.02301, -0.32075, 0.0), (1.5707963, 0.0, 0.0)),
        _WRIST,
        ((0.0, -0.091, 0.0), (1.5707963, 0.0, 0.0)),
    ),
    "piper_x": (
        ((0.0, 0.0, 0.123), (0.0, 0.0, 3.1415926)),
        ((0.0, 0.0, 0.0), (-1.5707963, -3.005806, -3.1415926)),
        ((0.28503, 0.0, 0.0), (0.0, 0.0, 2.8380798)),
        ((0.27364, 0.0, 0.0), (0.0, 0.0, 0.0806342)),
        ((0.07466, 0.0, 0.0), (-1.5707963, 1.5707963, 0.0)),
        ((0.0, -0.035, 0.0), (1.5707963, 0.0, 0.0)),
    ),
}
"""Origins of the joints, m and rad (roll, pitch, yaw), in the vendor's URDFs for the newer zero pose; axes are z."""


@given(angles, st.sampled_from(sorted(URDF)))
def test_the_flange_is_where_the_urdf_has_it(joints, model):
    pose = np.eye(4)
    for (place, turn), angle in zip(URDF[model], joints, strict=True):
        step = np.eye(4)
        step[:3, :3] = (Rotation.from_euler("xyz", turn) * Rotation.from_rotvec([0, 0, angle])).as_matrix()
        step[:3, 3] = place
        pose = pose @ step
    found = Kinematics(load_robot(model).links).flange(joints)
    assert np.linalg.norm(found[:3, 3] - pose[:3, 3]) < 1e-4  # the Piper's has an offset of 0.09 mm
    assert Rotation.from_matrix(found[:3, :3].T @ pose[:3, :3]).magnitude() < 1e-6


@given(angles, arms)
def test_every_frame_is_a_rigid_motion(joints, arm):
    for pose in arm.frames(joints):
        np.testing.assert_allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-12)
        assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0)
        np.testing.assert_array_equal(pose[3], [0, 0, 0, 1])


@given(st.lists(angles, min_size=1, max_size=5), arms)
def test_many_poses_at_once_are_those_of_one_after_the_other(rows, arm):
    np.testing.assert_allclose(arm.frames(np.array(rows)), [arm.frames(joints) for joints in rows], atol=1e-12)


@given(angles, st.floats(-3.0, 3.0), arms)
def test_the_first_joint_turns_everything_about_its_axis(joints, turn, arm):
    turned = joints + np.array([turn, 0, 0, 0, 0, 0])
    frames = arm.frames(joints)
    about, to, back = np.eye(4), np.eye(4), np.eye(4)
    about[:3, :3] = Rotation.from_rotvec(turn * arm.axes(frames)[0]).as_matrix()
    to[:3, 3], back[:3, 3] = -frames[0, :3, 3], frames[0, :3, 3]
    np.testing.assert_allclose(arm.flange(turned), back @ about @ to @ frames[-1], atol=1e-9)


@given(angles, arms)
def test_the_jacobian_is_the_derivative_of_the_pose(joints, arm):
    step = 1e-6
    jacobian = arm.jacobian(joints)
    for joint in range(6):
        there = arm.flange(joints + step * np.eye(6)[joint])
        back = arm.flange(joints - step * np.eye(6)[joint])
        np.testing.assert_allclose(jacobian[:3, joint], (there - back)[:3, 3] / (2 * step), atol=1e-8)
        turned = Rotation.from_matrix(there[:3, :3] @ back[:3, :3].T).as_rotvec() / (2 * step)
        np.testing.assert_allclose(jacobian[3:, joint], turned, atol=1e-7)


@pytest.mark.parametrize("joints", [np.zeros(5), np.zeros((6, 1)), 0.0])
def test_a_wrong_number_of_joints_is_told(joints):
    with pytest.raises(ValueError, match="this arm has 6"):
        KINEMATICS.flange(joints)
