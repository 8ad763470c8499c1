"""The space behind a front that opens, and its walls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.skills.boxes import UprightBox
from kc_vla.skills.handles import Handle, handle_of
from kc_vla.skills.interface import SkillError, Vector
from kc_vla.skills.perceived import PerceivedThing

_EDGE_M = 0.022
"""From the bar of the handle of a door to its free edge, m."""
_WALL_M, _SILL_M = 0.01, 0.006
"""Thickness of the walls of furniture, and of one beside a door, m."""


def door_line(handle: Handle) -> Vector:
    """Return the way from the hinge of a door that is closed to its free edge (2,), m."""
    assert handle.hinge is not None
    out = handle.out[:2]
    across = handle.at(0.0)[:2] - handle.hinge
    along = across - float(across @ out) * out
    far = float(np.linalg.norm(along))
    return np.asarray(along * (far + _EDGE_M) / far if far > 1e-3 else 0.0 * along)


@dataclass(frozen=True, eq=False)
class FrontSpace:
    """The space behind a front that opens.

    Attributes:
        holder: the furniture.
        low: least corner of the space in the frame of its box (3,), m.
        high: greatest corner (3,), m.
    """

    holder: PerceivedThing
    low: Vector
    high: Vector

    @property
    def yaw(self) -> float:
        """Return the direction into it, rad."""
        return self.holder.yaw

    @property
    def floor(self) -> float:
        """Return the height of its floor, m."""
        return float(self.holder.position[2] + self.low[2])

    @property
    def front(self) -> float:
        """Return x of its front in the frame of the box of the furniture, m."""
        return float(self.low[0])

    def walls(self) -> list[tuple[str, UprightBox]]:
        """Return what is around it: floor, top, back and sides, each with the id of the furniture."""
        half, low, high = self.holder.size / 2, self.low, self.high
        ends = [
            ((low[0], -half[1], -half[2]), (half[0], half[1], low[2])),
            ((low[0], -half[1], high[2]), (half[0], half[1], half[2])),
            ((high[0], -half[1], -half[2]), (half[0], half[1], half[2])),
            ((low[0], -half[1], -half[2]), (half[0], low[1], half[2])),
            ((low[0], high[1], -half[2]), (half[0], half[1], half[2])),
        ]
        name, yaw = self.holder.object_id, self.holder.yaw
        return [
            (name, UprightBox(self.holder.out(np.add(one, other) / 2), np.subtract(other, one), yaw))
            for one, other in ends
        ]


def front_space(holder: PerceivedThing) -> FrontSpace:
    """Return the space behind the door of a thing: as wide as the door, where its hinge and handle are seen."""
    half = holder.size / 2 - _WALL_M
    low, high = np.array([-holder.size[0] / 2, -half[1], -half[2]]), half
    try:
        handle = handle_of(holder)
    except SkillError:
        handle = None
    if handle is not None and handle.hinge is not None:
        free = handle.hinge + door_line(handle)
        ends = [float(holder.into(np.array([*end, holder.position[2]]))[1]) for end in (handle.hinge, free)]
        low[1], high[1] = max(low[1], min(ends) + _SILL_M), min(high[1], max(ends) - _SILL_M)
    return FrontSpace(holder, low, high)
