"""Handles of drawers and doors, and how they move, from what is perceived.

A detector says where a handle is with attributes of the drawer or the door: `handle` is the middle of its bar, x, y, z
in the base's frame, m; `hinge` a point x, y on the axis of a door, m; `opening` how far it is open, m or rad. Without
`handle` the drawer of a cabinet is taken to have its bar in the middle of its front, near the upper edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.perception.front_record import HANDLE, HINGE, OPENING, front_attributes
from kc_vla.skills.interface import SkillError, Vector
from kc_vla.skills.perceived import CLOSED, PerceivedThing, numbers_of

STANDOFF_M, _BELOW_TOP_M = 0.045, 0.01
"""Usual distances of a drawer's bar from its front, and from the upper edge of that, m."""
PULL_SLACK, SHUT_PAST_M = 0.6, 0.014
"""Joints may be so far behind where something gives way, rad; a drawer that is shut is led so far past that, m."""


@dataclass(frozen=True, eq=False)
class Handle:
    """A handle, where it is now, and how it moves.

    Attributes:
        position: of the middle of its bar (3,), m, in the frame of the base.
        out: direction in which a drawer opens, or in which the front of a closed door looks (3,).
        hinge: point on the axis of a door (2,), m; None for a drawer.
        turn: +1 or -1, in which a door opens about z.
        opening: how far it is open, m or rad.
    """

    position: Vector
    out: Vector
    hinge: Vector | None
    turn: int
    opening: float

    def at(self, opening: float, behind: float = 0.0) -> Vector:
        """Return where the bar is at another opening (3,), m, or a point so far behind it, towards the front."""
        if self.hinge is None:
            return np.asarray(self.position + (opening - self.opening - behind) * self.out)
        turned = Rotation.from_euler("z", self.turn * (opening - self.opening))
        axis = np.array([*self.hinge, 0.0])
        away = behind * Rotation.from_euler("z", self.turn * opening).apply(self.out)
        return np.asarray(axis + turned.apply(self.position - axis) - away)

    def led_to(self, opening: float) -> dict[str, str]:
        """Return the attributes of what it belongs to when it is open so far, m or rad, as perception reports them."""
        return front_attributes(self.at(opening), self.hinge, opening)

    def yaw(self, opening: float) -> float:
        """Return the yaw of a hand that stands straight before the front at an opening, rad."""
        ahead = float(np.arctan2(-self.out[1], -self.out[0]))
        return ahead if self.hinge is None else ahead + self.turn * opening


def handle_of(thing: PerceivedThing) -> Handle:
    """Return the handle of a drawer or a door.

    Raises:
        SkillError: none was seen, or what was reported of it is no place.
    """
    out = thing.rotation.apply((-1.0, 0.0, 0.0))
    opening = numbers_of(thing, OPENING, 1)
    wide = 0.0 if opening is None else float(opening[0])
    if opening is None and CLOSED not in thing.states:
        raise SkillError(f"it is not seen how far {thing.object_id} is open")
    place, hinge = numbers_of(thing, HANDLE, 3), numbers_of(thing, HINGE, 2)
    if place is None and thing.object_type == "drawer":
        place = thing.out(np.array([-thing.size[0] / 2 - STANDOFF_M, 0.0, thing.size[2] / 2 - _BELOW_TOP_M]))
    if place is None:
        raise SkillError(f"no handle of {thing.object_id} is seen")
    if hinge is None:
        return Handle(place, out, None, 1, wide)
    closed = -np.cross(out, (0.0, 0.0, 1.0))[:2]  # along the front
    side = float(np.dot(place[:2] - hinge, closed)) if wide < np.pi / 4 else 0.0
    if not side:
        left = float(np.dot(thing.position[:2] - hinge, closed))
        side = left
    turn = -1 if side > 0 else 1
    return Handle(place, out, hinge, turn, wide)
