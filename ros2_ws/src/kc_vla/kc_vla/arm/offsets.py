"""An arm whose encoders are off by constants, seen with its true angles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kc_vla.arm.interface import ArmState, MovedArm
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
    """A `MovedArm` in true angles."""

    def __init__(self, arm: MovedArm, offsets: Offsets) -> None:
        """Args: `arm` is connected; the narrower of its limits and of those that come with the offsets count."""
        self._arm, self._offsets = arm, offsets.angles
        own = arm.limits
        shifted = JointLimits(own.lowest + self._offsets, own.highest + self._offsets, own.speed)
        self.limits, self.rest = shifted.narrowed(offsets.limits), arm.rest + self._offsets

    def give_power(self) -> None:
        """See `MovedArm.give_power`."""
        self._arm.give_power()

    def read(self) -> ArmState:
        """See `MovedArm.read`."""
        state = self._arm.read()
        return replace(state, angles=state.angles + self._offsets)

    def command(self, angles: Vector, gripper: float) -> None:
        """See `MovedArm.command`."""
        told, own = angles - self._offsets, self._arm.limits
        inside = np.clip(told, own.lowest, own.highest)
        # A limit with the offset, and without it again, may lie beyond itself by a bit: that is no wrong target.
        self._arm.command(np.where(np.abs(told - inside) < _A_BIT, inside, told), gripper)

    def take_power(self) -> None:
        """See `MovedArm.take_power`."""
        self._arm.take_power()
