"""The torques by which an arm carries itself and its payload, and its mass matrix, by the inertias of its URDF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.compliance import NO_PAYLOAD, Payload
from kc_vla.core.inertia import Inertia
from kc_vla.core.robot import Vector
from kc_vla.core.robot_model import DOWN

GRAVITY = 9.80665
"""m/s2."""


@dataclass(frozen=True, eq=False)
class ArmDynamics:
    """The statics and inertia of an arm of N joints, in any mount.

    Attributes:
        kinematics: of the arm.
        inertia: of the bodies that its joints carry.
        payload: at the flange; a point mass.
        down: direction of gravity in the base frame, a unit vector.
    """

    kinematics: Kinematics
    inertia: Inertia
    payload: Payload = NO_PAYLOAD
    down: tuple[float, float, float] = DOWN

    def gravity(self, angles: Vector) -> Vector:
        """Return the torques (..., N), N m, that hold the arm still at joint angles (..., N), rad.

        Each joint holds what lies behind it: the sums of mass and of moment run from the flange to the base.
        """
        frames = self.kinematics.frames(angles)
        moments = self.inertia.masses[:, None] * self._centers(frames)
        masses = self.inertia.masses.copy()
        moments[..., -1, :] += self.payload.mass * self._payload_at(frames)
        masses[-1] += self.payload.mass
        behind = np.cumsum(moments[..., ::-1, :], axis=-2)[..., ::-1, :]
        carried = np.cumsum(masses[::-1])[::-1]
        levers = behind - carried[:, None] * frames[..., :-1, :3, 3]
        return np.asarray(-GRAVITY * (np.cross(self.kinematics.axes(frames), levers) @ np.array(self.down)))

    def potential(self, angles: Vector) -> float:
        """Return the potential energy, J, at joint angles (N,), rad: that of the masses' heights over the base."""
        frames = self.kinematics.frames(angles)
        moment = self.inertia.masses @ self._centers(frames) + self.payload.mass * self._payload_at(frames)
        return float(-GRAVITY * np.dot(moment, self.down))

    def mass_matrix(self, angles: Vector) -> Vector:
        """Return the inertia (N, N), kg m2, of all joints together at joint angles (N,), rad."""
        frames = self.kinematics.frames(angles)
        axes, origins, count = self.kinematics.axes(frames), frames[:-1, :3, 3], len(angles)
        turned = frames[:-1, :3, :3]
        moves = np.tril(np.ones((count, count)))[..., None]  # body k by joint i, if i is not behind k
        centers = self._centers(frames)
        linear = moves * np.cross(axes[None], centers[:, None] - origins[None])
        angular = moves * axes[None]
        tensors = turned @ self.inertia.tensors @ turned.transpose(0, 2, 1)
        matrix = np.einsum("k,kia,kja->ij", self.inertia.masses, linear, linear)
        matrix += np.einsum("kia,kab,kjb->ij", angular, tensors, angular)
        lever = np.cross(axes, self._payload_at(frames) - origins)
        return np.asarray(matrix + self.payload.mass * lever @ lever.T)

    def _centers(self, frames: Vector) -> Vector:
        """Return the center of mass of each body in the base frame (..., N, 3), m."""
        turned = (frames[..., :-1, :3, :3] @ self.inertia.centers[:, :, None])[..., 0]
        return np.asarray(turned + frames[..., :-1, :3, 3])

    def _payload_at(self, frames: Vector) -> Vector:
        flange = frames[..., -1, :, :]
        return np.asarray(flange[..., :3, :3] @ np.array(self.payload.center) + flange[..., :3, 3])
