"""The room that a drawer or a door needs as it opens, with the hand at its bar."""

from __future__ import annotations

import numpy as np

from kc_vla.skills.handles import STANDOFF_M, Handle, handle_of
from kc_vla.skills.interface import SkillError, Vector
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.upright_box import UprightBox

_TRAVEL_M = 0.2
"""A drawer comes out by about so much, m."""
_HAND_M = 0.08
"""A hand at a bar reaches so far beyond it, m."""
_OPENINGS = np.linspace(0.0, np.pi / 2, 7)
"""Openings of a door at which its room is looked at, rad."""


def swept_boxes(thing: PerceivedThing) -> list[UprightBox]:
    """Return boxes, from the surface up, of where a front passes as it opens or closes.

    Of what has no front that is seen there are none.
    """
    try:
        handle = handle_of(thing)
    except SkillError:
        return []
    high = max(thing.top, float(handle.position[2]))
    if handle.hinge is None:
        long = _TRAVEL_M + STANDOFF_M + _HAND_M
        front = handle.at(0.0, STANDOFF_M)
        return [_column(front + long / 2 * handle.out, (long, float(thing.size[1])), high, handle.yaw(0.0))]
    return [_door_column(handle, handle.hinge, float(each), high) for each in _OPENINGS]


def _door_column(handle: Handle, hinge: Vector, opening: float, high: float) -> UprightBox:
    """Return the room of a door, and of the hand before its bar, at an opening, rad."""
    to_bar = handle.at(opening)[:2] - hinge
    wide = float(np.linalg.norm(to_bar)) + _HAND_M
    middle = hinge + to_bar / np.linalg.norm(to_bar) * wide / 2
    return _column(np.array([*middle, 0.0]), (wide, 2 * _HAND_M), high, float(np.arctan2(to_bar[1], to_bar[0])))


def _column(middle: Vector, sides: tuple[float, float], high: float, yaw: float) -> UprightBox:
    return UprightBox(np.array([middle[0], middle[1], high / 2]), np.array([*sides, high]), yaw)
