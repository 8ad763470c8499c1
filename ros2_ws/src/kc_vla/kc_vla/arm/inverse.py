"""Inverse kinematics on the forward kinematics of an arm and its Jacobian.

`joints_for` and `joints_after` are for single motions of a client, by SciPy's bounded least squares. `joints_near` is
for the many poses of a path, by damped least squares: joints that the pose does not need stay where they are.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import JointLimits, Vector

_METRES_PER_RADIAN = 0.1
"""How much a wrong rotation weighs beside a wrong place."""
_PLACE, _ROTATION = 1e-3, 0.01
"""Greatest distances that are put up with, m and rad."""
_LEAP, _LEAP_PER_METRE, _LEAP_PER_RADIAN = 0.1, 10.0, 5.0
"""How far, rad, a joint may turn for a motion of the flange. Away from singular poses a fifth of it is enough."""
_EVALUATIONS = 50
_TIGHT = 1e-10
_ITERATIONS, _STEP_RAD, _DAMPING = 40, 0.3, 1e-4
_NEAR_M, _NEAR_RAD = 5e-5, 5e-4
"""So near a pose of a path counts as reached."""
_BACK = 0.1
"""Share of their way back to the start that joints go in each iteration, as far as the pose leaves them free."""


class UnreachableError(ValueError):
    """A pose that the arm cannot take."""


def joints_for(pose: Vector, start: Vector, limits: JointLimits, kinematics: Kinematics) -> Vector:
    """Return joint angles (N,), rad, that bring the flange to `pose`, near those it has now.

    Args:
        pose: (4, 4), base frame, m.
        start: angles (N,) to begin with, rad.
        limits: of the joints.
        kinematics: of the arm.

    Raises:
        UnreachableError: no such angles are found.
    """
    if not np.isfinite(pose).all():
        raise UnreachableError("a pose that is not finite")
    weights = np.repeat([1.0, _METRES_PER_RADIAN], 3)

    def errors(angles: Vector) -> Vector:
        return weights * pose_difference(pose, kinematics.flange(angles))

    def slopes(angles: Vector) -> Vector:
        # the logarithm of a small rotation is that rotation
        return weights[:, None] * kinematics.jacobian(angles)

    found = least_squares(
        errors,
        np.clip(start, limits.lowest, limits.highest),
        slopes,
        bounds=(limits.lowest, limits.highest),
        x_scale=1.0,
        xtol=_TIGHT,
        ftol=_TIGHT,
        gtol=_TIGHT,
        max_nfev=_EVALUATIONS,
    )
    left = np.abs(found.fun / weights)
    if left[:3].max() > _PLACE or left[3:].max() > _ROTATION:
        raise UnreachableError("the pose asked for is out of the arm's reach")
    return np.asarray(found.x)


def joints_near(pose: Vector, start: Vector, limits: JointLimits, kinematics: Kinematics) -> Vector:
    """Return joint angles (N,), rad, that bring the flange to `pose`, as near as can be to those of the pose before.

    Args:
        pose: (4, 4), base frame, m.
        start: angles (N,) of the pose before, rad.
        limits: of the joints.
        kinematics: of the arm.

    Raises:
        UnreachableError: no such angles are found.
    """
    lower, upper = limits.lowest, limits.highest
    angles = np.clip(start, lower, upper)
    for _ in range(_ITERATIONS):
        error = pose_difference(pose, kinematics.flange(angles))
        if np.abs(error[:3]).max() < _NEAR_M and np.abs(error[3:]).max() < _NEAR_RAD:
            return angles
        slopes = kinematics.jacobian(angles)
        inverse = slopes.T @ np.linalg.inv(slopes @ slopes.T + _DAMPING * np.eye(6))
        back = (np.eye(len(angles)) - inverse @ slopes) @ (start - angles)
        angles = np.clip(angles - np.clip(inverse @ error, -_STEP_RAD, _STEP_RAD) + _BACK * back, lower, upper)
    raise UnreachableError("the pose asked for is out of the arm's reach")


def joints_after(delta: Vector, start: Vector, limits: JointLimits, kinematics: Kinematics) -> Vector:
    """Return joint angles (N,), rad, that move the flange by `delta` from where `start` has it.

    `delta` is as `moved_pose` takes it.

    Raises:
        UnreachableError: there are none, or only by a leap of the joints, as near a pose in which two axes are one.
    """
    angles = joints_for(moved_pose(kinematics.flange(start), delta), start, limits, kinematics)
    way, turn = np.linalg.norm(delta[:3]), np.linalg.norm(delta[3:])
    if np.abs(angles - start).max() > _LEAP + _LEAP_PER_METRE * way + _LEAP_PER_RADIAN * turn:
        raise UnreachableError("the pose asked for can only be reached by a leap of the arm's joints")
    return angles


def moved_pose(pose: Vector, delta: Vector) -> Vector:
    """Return a pose (4, 4) moved by dx, dy, dz (m) and turned by a rotation vector (rad), both in the base frame."""
    moved = pose.copy()
    moved[:3, 3] += delta[:3]
    moved[:3, :3] = Rotation.from_rotvec(delta[3:]).as_matrix() @ pose[:3, :3]
    return moved


def pose_difference(wanted: Vector, pose: Vector) -> Vector:
    """Return the difference from `wanted` to `pose` in the base frame (N,): x, y, z in m, rotation vector in rad."""
    turn = Rotation.from_matrix(pose[:3, :3] @ wanted[:3, :3].T).as_rotvec()
    return np.concatenate([pose[:3, 3] - wanted[:3, 3], turn])
