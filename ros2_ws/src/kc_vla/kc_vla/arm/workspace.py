"""Where the arm may be: a box for its flange, and nothing of it below a floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.arm.interface import Vector
from kc_vla.arm.kinematics import joint_frames


@dataclass(frozen=True)
class Workspace:
    """Bounds in the base frame, m: the flange stays in the box, every joint above the box's floor.

    Attributes:
        lowest: x, y, z.
        highest: x, y, z.
        dh_is_offset: of the arm, see `kc_vla.arm.kinematics`.
    """

    lowest: tuple[float, float, float] = (-0.7, -0.7, 0.0)
    highest: tuple[float, float, float] = (0.7, 0.7, 0.9)
    dh_is_offset: int = 1

    def outside(self, angles: Vector) -> str:
        """What an arm with these joint angles (6,), rad, would cross; empty if nothing."""
        origins = joint_frames(angles, self.dh_is_offset)[:, :3, 3]
        if origins[:, 2].min() < self.lowest[2]:
            return "floor of the workspace"
        flange = origins[-1]
        out = (flange < self.lowest) | (flange > self.highest)
        return f"{'xyz'[int(np.flatnonzero(out)[0])]} of the workspace" if out.any() else ""
