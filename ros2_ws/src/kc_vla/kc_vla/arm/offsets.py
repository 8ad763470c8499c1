"""An arm whose encoders are off by constants, seen with its true angles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kc_vla.arm.interface import ArmState, MovableArm
from kc_vla.core.rig import JointLimits, Vector

_A_BIT = 1e-9
"""rad, of rounding."""


@dataclass(frozen=True, eq=False)
class Offsets:
    """What a calibration of joints found.

    Attributes:
        angles: to be added to the angles that the arm tells (N,), rad.
        limits: of the true angles.
    """

    angles: Vector
    limits: JointLimits


class OffsetArm:
    """A `MovableArm` in true angles."""

    def __init__(self, arm: MovableArm, offsets: Offsets) -> None:
        """Args: `arm` is connected; the narrower of its limits and of those that come with the offsets count."""
        self._arm, self._offsets = arm, offsets.angles
        own = arm.limits
        shifted = replace(own, lowest=own.lowest + self._offsets, highest=own.highest + self._offsets)
        self.limits, self.home_pose = shifted.narrowed(offsets.limits), arm.home_pose + self._offsets
        self.has_brakes = arm.has_brakes

    def enable(self) -> None:
        """Enable the wrapped arm."""
        self._arm.enable()

    def read_state(self) -> ArmState:
        """Return the state of the wrapped arm with its true joint angles."""
        state = self._arm.read_state()
        return replace(state, angles=state.angles + self._offsets)

    def set_target(self, angles: Vector, gripper: float) -> None:
        """Send the wrapped arm a target whose true angles are converted to those of its encoders.

        Args:
            angles: true angles of the joints (N,), rad.
            gripper: opening, m.

        Raises:
            ValueError: the target is not finite or out of the limits; nothing is sent.
        """
        told, own = angles - self._offsets, self._arm.limits
        inside = np.clip(told, own.lowest, own.highest)
        # A limit with the offset, and without it again, may lie beyond itself by a bit: that is no wrong target.
        self._arm.set_target(np.where(np.abs(told - inside) < _A_BIT, inside, told), gripper)

    def disable(self) -> None:
        """Disable the wrapped arm."""
        self._arm.disable()
