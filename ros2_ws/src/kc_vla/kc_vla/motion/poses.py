"""Poses (4, 4) of motions: checked at the door, moved, turned and divided into steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation, Slerp

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Vector
from kc_vla.motion.problem import MotionError, MotionProblem

FARTHEST = 5.0
"""Nothing that an arm moves about is further from its base, m."""
_ORTHONORMAL = 1e-3


def checked_pose(pose: ArrayLike, what: str) -> Pose:
    """Return a pose (4, 4) with an exact rotation.

    Args:
        pose: homogeneous matrix, m.
        what: it is the pose of, for the error.

    Raises:
        MotionError: it is not finite, no rigid pose, or farther than `FARTHEST` from the origin.
    """
    try:
        matrix = np.array(pose, float)
    except (TypeError, ValueError):
        raise MotionError(MotionProblem.INPUT, f"the pose of {what} is no matrix of numbers") from None
    if matrix.shape != (4, 4):
        raise MotionError(MotionProblem.INPUT, f"the pose of {what} has shape {matrix.shape}: (4, 4) is needed")
    if not np.isfinite(matrix).all():
        raise MotionError(MotionProblem.INPUT, f"the pose of {what} has a number that is not finite")
    turn = np.clip(matrix[:3, :3], -2.0, 2.0)
    rigid = np.abs(turn @ turn.T - np.eye(3)).max() < _ORTHONORMAL and np.linalg.det(turn) > 0
    if not rigid or np.abs(matrix[3] - (0, 0, 0, 1)).max() > _ORTHONORMAL:
        raise MotionError(MotionProblem.INPUT, f"the pose of {what} has no rotation matrix in it")
    if (far := float(np.abs(matrix[:3, 3]).max())) > FARTHEST:
        raise MotionError(
            MotionProblem.INPUT, f"the pose of {what} is {far:.4g} m from the base: it is in m, are these mm?"
        )
    matrix[:3, :3] = Rotation.from_matrix(turn).as_matrix()
    matrix[3] = 0, 0, 0, 1
    return matrix


def checked_vector(values: ArrayLike, what: str, most: float = FARTHEST) -> Vector:
    """Return three finite numbers (3,), none larger than `most`; raise MotionError for anything else."""
    try:
        vector = np.array(values, float)
    except (TypeError, ValueError):
        raise MotionError(MotionProblem.INPUT, f"{what} is no list of numbers") from None
    if vector.shape != (3,) or not np.isfinite(vector).all() or np.abs(vector).max() > most:
        raise MotionError(MotionProblem.INPUT, f"{what} must be three finite numbers, none beyond {most:g}")
    return vector


def checked_unit(values: ArrayLike, what: str) -> Vector:
    """Return a direction as a unit vector (3,); raise MotionError for one of no length."""
    vector = checked_vector(values, what, 1e6)
    length = float(np.linalg.norm(vector))
    if length < 1e-6:
        raise MotionError(MotionProblem.INPUT, f"{what} has no direction")
    return np.asarray(vector / length)


def moved_by(pose: Pose, offset: ArrayLike) -> Pose:
    """Return a pose (4, 4) moved by x, y, z (m) of the frame that it is in."""
    moved = pose.copy()
    moved[:3, 3] += np.asarray(offset, float)
    return moved


def about(pose: Pose, point: Vector, axis: Vector, angle: float) -> Pose:
    """Return a pose (4, 4) turned by an angle, rad, about an axis through a point, as with a door on its hinge."""
    turn = Rotation.from_rotvec(axis * angle).as_matrix()
    turned = np.eye(4)
    turned[:3, :3] = turn @ pose[:3, :3]
    turned[:3, 3] = point + turn @ (pose[:3, 3] - point)
    return turned


def straight(start: Pose, end: Pose, step: float, turn_step: float) -> list[Pose]:
    """Return the poses from `start` (left out) to `end` in equal steps of at most `step`, m, and `turn_step`, rad."""
    ends = Rotation.from_matrix(np.array([start[:3, :3], end[:3, :3]]))
    turned = float((ends[1] * ends[0].inv()).magnitude())
    far = float(np.linalg.norm(end[:3, 3] - start[:3, 3]))
    count = max(1, int(np.ceil(max(far / step, turned / turn_step))))
    shares = np.linspace(0.0, 1.0, count + 1)[1:]
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Slerp([0.0, 1.0], ends)(shares).as_matrix()
    poses[:, :3, 3] = start[:3, 3] + shares[:, None] * (end[:3, 3] - start[:3, 3])
    return list(poses)


def pose_of_axes(columns: Sequence[Vector], place: Vector) -> Pose:
    """Return the pose whose x, y and z axes are unit vectors `columns` and whose origin is `place` (3,), m."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = np.stack(columns, axis=1), place
    return pose
