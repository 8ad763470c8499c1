"""Forward kinematics of an arm, from the origins and axes of its joints."""

from __future__ import annotations

import numpy as np

from kc_vla.core.chain import Chain, cross_matrices
from kc_vla.core.robot import Vector


class Kinematics:
    """The forward kinematics of an arm of N joints.

    Attributes:
        links: the chain of joints.
    """

    def __init__(self, links: Chain) -> None:
        """Prepare the matrices that do not depend on the joints.

        Args:
            links: from the base to the flange.
        """
        self.links = links
        across = cross_matrices(links.axes)
        turned = links.origins[:, :3, :3]
        # origin @ (1 + sin K + (1 - cos) K^2), with what does not depend on the angle worked out once
        self._sines, self._cosines = turned @ across, -turned @ across @ across
        self._still = turned - self._cosines
        self._places = links.origins[:, :3, 3]

    def frames(self, joints: Vector) -> Vector:
        """Return the poses of the joints' frames in the base frame, and behind them that of the flange.

        Args:
            joints: (..., N) rad.

        Returns:
            (..., N + 1, 4, 4) homogeneous matrices, m.
        """
        count = len(self.links)
        if np.shape(joints)[-1:] != (count,):
            raise ValueError(f"joints have shape {np.shape(joints)}: this arm has {count}")
        theta = np.asarray(joints)[..., None, None]
        steps = np.zeros((*theta.shape[:-2], 4, 4))
        steps[..., :3, :3] = self._still + np.sin(theta) * self._sines + np.cos(theta) * self._cosines
        steps[..., :3, 3], steps[..., 3, 3] = self._places, 1.0
        poses = np.empty((*theta.shape[:-3], count + 1, 4, 4))
        poses[..., 0, :, :] = steps[..., 0, :, :]
        for k in range(1, count):
            np.matmul(poses[..., k - 1, :, :], steps[..., k, :, :], out=poses[..., k, :, :])
        np.matmul(poses[..., -2, :, :], self.links.end, out=poses[..., -1, :, :])
        return poses

    def flange(self, joints: Vector) -> Vector:
        """Return the pose (..., 4, 4) of the flange in the base frame, m, at joint angles (..., N), rad."""
        return np.asarray(self.frames(joints)[..., -1, :, :])

    def axes(self, frames: Vector) -> Vector:
        """Return what the joints turn about, unit vectors (..., N, 3) in the base frame, at `frames`."""
        return np.asarray((frames[..., :-1, :3, :3] @ self.links.axes[:, :, None])[..., 0])

    def jacobian(self, joints: Vector) -> Vector:
        """Return the velocity of the flange in the base frame by the joints' speeds, (6, N).

        The rows are x, y, z (m) and rotation (rad).
        """
        frames = self.frames(joints)
        axes, origins = self.axes(frames), frames[:, :3, 3]
        return np.concatenate([np.cross(axes, origins[-1] - origins[:-1]).T, axes.T])
