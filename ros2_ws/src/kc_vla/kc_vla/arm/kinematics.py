"""Forward kinematics of the AgileX Piper, from its modified Denavit-Hartenberg table (Craig's convention)."""

from __future__ import annotations

import numpy as np

from kc_vla.arm.interface import Vector
from kc_vla.arm.piper_limits import JOINTS


def _table(shoulder: float, elbow: float) -> Vector:
    """Rows a(i-1) in m, alpha(i-1) in rad, d in m, offset of theta in rad."""
    rows = [
        (0.0, 0.0, 0.123, 0.0),
        (0.0, -90.0, 0.0, shoulder),
        (0.28503, 0.0, 0.0, elbow),
        (-0.02198, 90.0, 0.25075, 0.0),
        (0.0, -90.0, 0.0, 0.0),
        (0.0, 90.0, 0.091, 0.0),
    ]
    table = np.array(rows)
    table[:, [1, 3]] = np.radians(table[:, [1, 3]])
    return table


_TABLES = (_table(-174.22, -100.78), _table(-172.22, -102.78))
"""By the vendor's `dh_is_offset`: 0 for arms of firmware before S-V1.6-3, 1 for later ones, whose zero pose differs."""


def joint_frames(joints: Vector, dh_is_offset: int = 1) -> Vector:
    """Poses of the six joint frames in the base frame, the last that of the flange.

    Args:
        joints: (6,) rad.
        dh_is_offset: 0 or 1, see the vendor's SDK.

    Returns:
        (6, 4, 4) homogeneous matrices, m.
    """
    if np.shape(joints) != (JOINTS,):
        raise ValueError(f"joints have shape {np.shape(joints)}: a Piper has {JOINTS}")
    if dh_is_offset not in (0, 1):
        raise ValueError(f"dh_is_offset is {dh_is_offset}: it must be 0 or 1")
    pose = np.eye(4)
    poses = []
    for (a, alpha, d, offset), angle in zip(_TABLES[dh_is_offset], joints, strict=True):
        pose = pose @ _step(a, alpha, d, angle + offset)
        poses.append(pose)
    return np.stack(poses)


def flange_pose(joints: Vector, dh_is_offset: int = 1) -> Vector:
    """Pose (4, 4) of the flange in the base frame, m, at joint angles (6,), rad."""
    return np.asarray(joint_frames(joints, dh_is_offset)[-1])


def flange_jacobian(joints: Vector, dh_is_offset: int = 1) -> Vector:
    """Velocity of the flange in the base frame by the joints' speeds: rows x, y, z (m) and rotation (rad), (6, 6)."""
    poses = joint_frames(joints, dh_is_offset)
    axes, origins = poses[:, :3, 2], poses[:, :3, 3]  # Craig: each joint turns about the z axis of its own frame
    return np.concatenate([np.cross(axes, origins[-1] - origins).T, axes.T])


def _step(a: float, alpha: float, d: float, theta: float) -> Vector:
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    return np.array(
        [[ct, -st, 0.0, a], [st * ca, ct * ca, -sa, -d * sa], [st * sa, ct * sa, ca, d * ca], [0.0, 0.0, 0.0, 1.0]]
    )
