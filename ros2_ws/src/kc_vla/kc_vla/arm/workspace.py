"""Where the arm may be: a box for its flange, and nothing of it below a floor or behind what it is mounted on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import Vector
from kc_vla.core.robot_model import DOWN

_BOUNDS = (
    "floor of the workspace",
    *(f"{axis} of the workspace" for axis in "xyz"),
    *(f"{axis} of the workspace" for axis in "xyz"),
)
"""What each column of `Workspace.slack` is the distance to."""
_ROUNDING = 1e-9
"""m."""


@dataclass(frozen=True)
class Workspace:
    """Bounds in the base frame, m: the flange stays in the box, every joint above the box's floor.

    The floor is the side of the box that lies towards `down`. Of an arm that is mounted on its side, every joint also
    stays before the surface that it is mounted on, the lower side of the box in z.

    Attributes:
        kinematics: of the arm.
        lowest: x, y, z.
        highest: x, y, z.
        down: direction of gravity, a unit vector along an axis.
    """

    kinematics: Kinematics
    lowest: tuple[float, float, float] = (-0.7, -0.7, 0.0)
    highest: tuple[float, float, float] = (0.7, 0.7, 0.9)
    down: tuple[float, float, float] = DOWN

    def slack(self, angles: Vector) -> Vector:
        """Return how far joint angles (..., N), rad, are inside of each bound, m (..., 7).

        A negative number says how far they are outside.
        """
        origins = self.kinematics.frames(angles)[..., :3, 3]
        flange = origins[..., -1, :]
        floor = origins[..., 2].min(axis=-1, keepdims=True) - self.lowest[2]
        if self.down != DOWN:
            up = -np.array(self.down)
            ground = min(np.dot(self.lowest, up), np.dot(self.highest, up))
            floor = np.minimum(floor, (origins @ up).min(axis=-1, keepdims=True) - ground)
        return np.concatenate([floor, flange - self.lowest, self.highest - flange], axis=-1)

    def outside(self, angles: Vector) -> str:
        """Return what an arm with these joint angles (N,), rad, would cross; empty if nothing."""
        return self.crossed(self.slack(angles))

    def keeps_inside(self, angles: Vector, margin: float) -> bool:
        """Return whether poses (n, N), rad, the first of them that of now, all stay at least `margin`, m, inside.

        An arm that is outside a bound already may move, but not further out of it.
        """
        return not self.left_by(angles, margin)

    def left_by(self, angles: Vector, margin: float) -> str:
        """Return the bound that the poses leave, as `keeps_inside` understands it; empty if none."""
        slack = self.slack(angles) - margin
        return self.crossed((slack - np.minimum(slack[0], 0.0)).min(axis=0) + _ROUNDING)

    def height(self, angles: Vector) -> float:
        """Return how high the flange is above the base at joint angles (N,), rad, against gravity, m."""
        return float(-np.dot(self.down, self.kinematics.flange(angles)[:3, 3]))

    @staticmethod
    def crossed(slack: Vector) -> str:
        """Return the first bound that a row (7,) of `slack` is outside of; empty if it is inside all."""
        out = np.flatnonzero(slack < 0.0)
        return _BOUNDS[int(out[0])] if out.size else ""
