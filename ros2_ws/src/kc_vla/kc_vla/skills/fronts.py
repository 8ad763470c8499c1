"""What stands out before furniture: the bars of drawers, and doors with theirs, wherever they are now."""

from __future__ import annotations

import numpy as np

from kc_vla.perception.front_record import HANDLE
from kc_vla.skills.door_panel import door_panel
from kc_vla.skills.handles import STANDOFF_M, Handle, handle_of
from kc_vla.skills.interface import SkillError
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.upright_box import UprightBox

_BAR_M, _THICK_M, _PANEL_M = 0.12, 0.014, 0.018
"""Usual length and thickness of a bar, and thickness of a door, m."""


def front_boxes(thing: PerceivedThing) -> list[UprightBox]:
    """Return what stands out before a drawer or a door: its bar with its posts, and a door wherever it is now.

    Of what has no front that is seen, and of one whose numbers are wrong, there are none.
    """
    if HANDLE not in thing.attributes and thing.object_type != "drawer":
        panel = door_panel(thing)
        return [] if panel is None else [panel.box]
    try:
        handle = handle_of(thing)
    except SkillError:  # the skill that needs this handle says what is wrong with it
        return []
    yaw, doors = handle.yaw(handle.opening), list[UprightBox]()
    bar = (_BAR_M, _THICK_M)
    if handle.hinge is not None:
        doors, bar = [_door(thing, handle, yaw)], (_THICK_M, _BAR_M)  # the bar of a door is upright
    middle = handle.at(handle.opening, STANDOFF_M / 2)
    return [*doors, UprightBox(middle, np.array([STANDOFF_M + _THICK_M, *bar]), yaw)]


def _door(thing: PerceivedThing, handle: Handle, yaw: float) -> UprightBox:
    """Return a door from its hinge to just past its bar."""
    assert handle.hinge is not None
    along = np.array([-np.sin(yaw), np.cos(yaw)])
    to_bar = float((handle.position[:2] - handle.hinge) @ along)
    wide = abs(to_bar) + 2 * _THICK_M
    middle = handle.hinge + np.sign(to_bar) * wide / 2 * along - _PANEL_M / 2 * np.array([np.cos(yaw), np.sin(yaw)])
    return UprightBox(np.array([*middle, thing.position[2]]), np.array([_PANEL_M, wide, thing.size[2]]), yaw)
