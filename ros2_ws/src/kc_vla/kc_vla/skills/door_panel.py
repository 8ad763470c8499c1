"""A door that stands open and whose handle was not seen: the room that it takes, and where its handle may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.perception.front_record import EDGE, HINGE
from kc_vla.perception.open_door import outer_side
from kc_vla.skills.handles import STANDOFF_M
from kc_vla.skills.interface import SkillError, Vector
from kc_vla.skills.perceived import PerceivedThing, numbers_of
from kc_vla.skills.upright_box import UprightBox

_INNER_M, _OUTER_M = 0.02, STANDOFF_M + 0.02
"""A door and its handle reach so far from the axis inwards, and outwards, m."""
_HANDLE_AT, _HANDLE_HIGH = 0.85, 0.6
"""Where a handle is as a rule: shares of the width of the door, and of the height of the furniture."""


@dataclass(frozen=True, eq=False)
class DoorPanel:
    """An open door.

    Attributes:
        hinge: point of its axis (2,), m.
        edge: point of its free edge (2,), m.
        outwards: direction in which the side with the handle looks (2,).
        low: height of its lower edge, m.
        high: height of its upper edge, m.
    """

    hinge: Vector
    edge: Vector
    outwards: Vector
    low: float
    high: float

    @property
    def handle(self) -> Vector:
        """Return where its handle is as a rule (3,), m."""
        at = self.hinge + _HANDLE_AT * (self.edge - self.hinge)
        return np.array([*at, self.low + _HANDLE_HIGH * (self.high - self.low)])

    @property
    def box(self) -> UprightBox:
        """Return the box around the door and the handle that it may have."""
        way = self.edge - self.hinge
        middle = (self.hinge + self.edge) / 2 + (_OUTER_M - _INNER_M) / 2 * self.outwards
        size = np.array([float(np.linalg.norm(way)), _OUTER_M + _INNER_M, self.high - self.low])
        return UprightBox(np.array([*middle, (self.low + self.high) / 2]), size, float(np.arctan2(way[1], way[0])))


def door_panel(thing: PerceivedThing) -> DoorPanel | None:
    """Return the open door of a thing whose handle was not seen; None where none is known, or its numbers are wrong."""
    try:
        hinge, edge = numbers_of(thing, HINGE, 2), numbers_of(thing, EDGE, 2)
    except SkillError:  # the skill that needs this door says what is wrong with it
        return None
    if hinge is None or edge is None:
        return None
    out = thing.rotation.apply((-1.0, 0.0, 0.0))[:2]
    outwards = outer_side(hinge, edge, thing.position[:2], out)
    return DoorPanel(hinge, edge, outwards, thing.bottom, thing.top)
