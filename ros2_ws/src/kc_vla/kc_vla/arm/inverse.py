"""Inverse kinematics of the Piper: SciPy's bounded least squares on the forward kinematics and its Jacobian."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from kc_vla.arm.interface import JointLimits, Vector
from kc_vla.arm.kinematics import flange_jacobian, flange_pose

_METRES_PER_RADIAN = 0.1
"""How much a wrong rotation weighs beside a wrong place."""
_PLACE, _ROTATION = 1e-3, 0.01
"""Greatest distances that are put up with, m and rad."""
_EVALUATIONS = 50
_TIGHT = 1e-10


class UnreachableError(ValueError):
    """A pose that the arm cannot take; the text says by how much."""


def joints_for(pose: Vector, start: Vector, limits: JointLimits, dh_is_offset: int = 1) -> Vector:
    """Joint angles (6,), rad, that bring the flange to `pose`, near those it has now.

    Args:
        pose: (4, 4), base frame, m.
        start: angles (6,) to begin with, rad.
        limits: of the joints.
        dh_is_offset: of the arm, see `kc_vla.arm.kinematics`.

    Raises:
        UnreachableError: no such angles are found.
    """
    if not np.isfinite(pose).all():
        raise UnreachableError("a pose that is not finite")
    weights = np.repeat([1.0, _METRES_PER_RADIAN], 3)

    def errors(angles: Vector) -> Vector:
        return weights * pose_difference(pose, flange_pose(angles, dh_is_offset))

    def slopes(angles: Vector) -> Vector:
        # the logarithm of a small rotation is that rotation
        return weights[:, None] * flange_jacobian(angles, dh_is_offset)

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
        raise UnreachableError(
            f"the pose asked for is out of the arm's reach, by {left[:3].max() * 1e3:.1f} mm and "
            f"{np.degrees(left[3:].max()):.1f} degrees: the arm stays where it is until it is asked for another"
        )
    return np.asarray(found.x)


def moved_pose(pose: Vector, delta: Vector) -> Vector:
    """A pose (4, 4) moved by dx, dy, dz in m and turned by a rotation vector in rad (6,), both in the base frame."""
    moved = pose.copy()
    moved[:3, 3] += delta[:3]
    moved[:3, :3] = Rotation.from_rotvec(delta[3:]).as_matrix() @ pose[:3, :3]
    return moved


def pose_difference(wanted: Vector, pose: Vector) -> Vector:
    """From `wanted` to `pose`: x, y, z in m and a rotation vector in rad (6,), in the base frame."""
    turn = Rotation.from_matrix(pose[:3, :3] @ wanted[:3, :3].T).as_rotvec()
    return np.concatenate([pose[:3, 3] - wanted[:3, 3], turn])
