"""The wrapper of an arm whose encoders are off by constants: it reports and takes true angles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kc_vla.arm.interface import ArmState, CompliantArm, Impedance, MovableArm
from kc_vla.core.robot import JointLimits, Vector

_A_BIT = 1e-9
"""Difference of two angles, rad, that rounding may cause."""


@dataclass(frozen=True, eq=False)
class Offsets:
    """The result of a calibration of N joints.

    Attributes:
        angles: offsets (N,), rad: true angle = angle that the arm reports + offset.
        limits: limits of the true angles, rad, and of the velocities, rad/s.
    """

    angles: Vector
    limits: JointLimits


class OffsetArm:
    """A `MovableArm` in true angles."""

    def __init__(self, arm: MovableArm, offsets: Offsets) -> None:
        """Wrap a connected arm.

        Args:
            arm: arm of N joints, connected. Its limits and home pose are in the angles that it reports.
            offsets: offsets of its joints. The narrower of the arm's limits, in true angles, and of theirs count.
        """
        self._arm, self._offsets = arm, offsets.angles
        own = arm.limits
        shifted = replace(own, lowest=own.lowest + self._offsets, highest=own.highest + self._offsets)
        self.limits, self.home_pose = shifted.narrowed(offsets.limits), arm.home_pose + self._offsets
        self.has_brakes = arm.has_brakes

    def enable(self) -> None:
        """Enable the wrapped arm."""
        self._arm.enable()

    def read_state(self) -> ArmState:
        """Return the state of the wrapped arm with its true joint angles (N,), rad.

        Raises:
            ArmError: The wrapped arm does not report its state.
        """
        state = self._arm.read_state()
        return replace(state, angles=state.angles + self._offsets)

    def set_target(self, angles: Vector, gripper: float) -> None:
        """Send the wrapped arm a target whose true angles are converted to those of its encoders.

        Args:
            angles: True angles of the joints (N,), rad.
            gripper: Width of the gripper, m.

        Raises:
            ValueError: The target is not finite or out of the limits; nothing is sent.
        """
        self._arm.set_target(self._told(angles), gripper)

    def _told(self, angles: Vector) -> Vector:
        """Return true angles (N,), rad, as the encoders of the wrapped arm have them."""
        told, own = angles - self._offsets, self._arm.limits
        inside = np.clip(told, own.lowest, own.highest)
        # A limit with the offset, and without it again, may lie beyond itself by a bit: that is no wrong target.
        return np.where(np.abs(told - inside) < _A_BIT, inside, told)

    def disable(self) -> None:
        """Disable the wrapped arm."""
        self._arm.disable()


class CompliantOffsetArm(OffsetArm):
    """A `CompliantArm` in true angles."""

    def __init__(self, arm: CompliantArm, offsets: Offsets) -> None:
        """Wrap a connected arm, see `OffsetArm`."""
        super().__init__(arm, offsets)
        self._soft = arm

    def torque_limits(self) -> Vector:
        """Return those of the wrapped arm (N,), N m. Raises: ArmError: it takes no impedance commands."""
        return self._soft.torque_limits()

    def set_impedance(self, impedance: Impedance) -> None:
        """Send the wrapped arm a command whose angles are converted to those of its encoders.

        Raises:
            ValueError: The command is not finite or out of the limits; nothing is sent.
        """
        self._soft.set_impedance(replace(impedance, angles=self._told(impedance.angles)))


def offset_arm(arm: MovableArm, offsets: Offsets | None) -> MovableArm:
    """Return an arm in true angles; the arm itself where it was not calibrated."""
    if offsets is None:
        return arm
    return CompliantOffsetArm(arm, offsets) if isinstance(arm, CompliantArm) else OffsetArm(arm, offsets)
