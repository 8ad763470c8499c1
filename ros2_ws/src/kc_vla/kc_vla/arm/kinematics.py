"""Forward kinematics of an arm, from its modified Denavit-Hartenberg table (Craig's convention)."""

from __future__ import annotations

import numpy as np

from kc_vla.core.rig import Vector


class Kinematics:
    """Of an arm of N joints, each of which turns about the z axis of its own frame.

    Attributes:
        links: the table, see `kc_vla.core.rig.Rig.links`.
    """

    def __init__(self, links: Vector) -> None:
        """Args: `links` (N, 4)."""
        self.links = links
        a, alpha, d, _ = links.T
        cosines, sines = np.cos(alpha), np.sin(alpha)
        self._places = np.stack([a, -d * sines, d * cosines], axis=1)
        self._alpha = np.stack([cosines, sines], axis=1)

    def frames(self, joints: Vector) -> Vector:
        """Poses of the joints' frames in the base frame, the last that of the flange.

        Args:
            joints: (..., N) rad.

        Returns:
            (..., N, 4, 4) homogeneous matrices, m.
        """
        count = len(self.links)
        if np.shape(joints)[-1:] != (count,):
            raise ValueError(f"joints have shape {np.shape(joints)}: this arm has {count}")
        theta = np.asarray(joints) + self.links[:, 3]
        c, s = np.cos(theta), np.sin(theta)
        ca, sa = self._alpha.T
        steps = np.zeros((*theta.shape, 4, 4))
        steps[..., 0, 0], steps[..., 0, 1] = c, -s
        steps[..., 1, 0], steps[..., 1, 1], steps[..., 1, 2] = s * ca, c * ca, -sa
        steps[..., 2, 0], steps[..., 2, 1], steps[..., 2, 2] = s * sa, c * sa, ca
        steps[..., :3, 3], steps[..., 3, 3] = self._places, 1.0
        poses = np.empty_like(steps)
        poses[..., 0, :, :] = steps[..., 0, :, :]
        for k in range(1, count):
            np.matmul(poses[..., k - 1, :, :], steps[..., k, :, :], out=poses[..., k, :, :])
        return poses

    def flange(self, joints: Vector) -> Vector:
        """Pose (..., 4, 4) of the flange in the base frame, m, at joint angles (..., N), rad."""
        return np.asarray(self.frames(joints)[..., -1, :, :])

    def jacobian(self, joints: Vector) -> Vector:
        """Velocity of the flange in the base frame by the joints' speeds: rows x, y, z (m), rotation (rad), (6, N)."""
        poses = self.frames(joints)
        axes, origins = poses[:, :3, 2], poses[:, :3, 3]
        return np.concatenate([np.cross(axes, origins[-1] - origins).T, axes.T])
