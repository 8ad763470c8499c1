"""Opens and closes drawers and doors at their handles, and judges that by looking again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kc_vla.skills.boxes import SUPPORTS, hand_boxes, meets_any, named_obstacles
from kc_vla.skills.context import SkillContext
from kc_vla.skills.handles import Handle, handle_of
from kc_vla.skills.hands import ABOVE, CLOSED_M, SLOW, facing_down
from kc_vla.skills.hooking import check_above, is_beneath, slid_from_front
from kc_vla.skills.interface import Skill, SkillError, Step
from kc_vla.skills.looking import look_into
from kc_vla.skills.perceived import CLOSED, OPENED, PerceivedThing
from kc_vla.skills.set_aside import with_free_hand
from kc_vla.skills.swinging import WIDE_OPEN, swung
from kc_vla.skills.tool_path import ToolPose

_DRAWER_OPEN = 0.126
"""How far drawers are opened, m."""
_FINGER = 0.022
"""Between the middle of a bar and that of a finger behind or before it, m."""
_BENEATH_BAR = 0.065
"""A hand from above pushes a drawer with a bar above its own no further than to this opening, m."""
_DRAWER_PAST = 0.014
"""What is shut is led so far past that: the arm gives way, m."""
_HOOK_LOW = 0.002
"""Above the middle of a lying bar the tool is so high, m."""
_PULL_SLACK = 0.6
"""Joints may be so far behind where something gives way, rad."""


def open_thing(context: SkillContext, object_id: str) -> Skill:
    """Open a drawer or a door, and look into it. What is in the hand is put aside meanwhile."""
    yield from context.look_for(object_id)
    thing = context.scene.need(object_id)
    if OPENED in thing.states:
        return f"{object_id} is open already"
    handle = handle_of(thing)
    _check_access(context, thing, handle)
    yield from with_free_hand(context, _opened(context, object_id, handle))
    return ""


def close_thing(context: SkillContext, object_id: str) -> Skill:
    """Close a drawer or a door. What is in the hand is put aside meanwhile."""
    yield from context.look_for(object_id)
    thing = context.scene.need(object_id)
    if CLOSED in thing.states:
        return f"{object_id} is closed already"
    yield from with_free_hand(context, _shut(context, object_id, handle_of(thing)))
    return ""


def _check_access(context: SkillContext, drawer: PerceivedThing, handle: Handle) -> None:
    """Check that a hand gets to the bar of a drawer, before anything is put aside for that.

    Raises:
        SkillError: another drawer or door is in the way.
    """
    if handle.hinge is not None:
        return
    if is_beneath(context.scene, drawer, handle):
        check_above(context.scene, drawer)
        return
    name = drawer.object_id
    place = handle.at(handle.opening, _FINGER) + np.array([0.0, 0.0, _HOOK_LOW])
    hand = hand_boxes(place, handle.yaw(0.0), CLOSED_M)
    for other, box in named_obstacles(context.scene, (name, drawer.container[1])):
        if context.scene.need(other).object_type in SUPPORTS and meets_any(box, hand):
            raise SkillError(f"a hand from above does not get to the bar of {name}: {other} is in the way")


def _opened(context: SkillContext, object_id: str, handle: Handle) -> Iterator[Step]:
    if handle.hinge is not None:
        yield from swung(context, handle, WIDE_OPEN)
    else:
        yield from _slid(context, object_id, handle, _DRAWER_OPEN)
    yield from look_into(context, object_id)
    if OPENED not in context.scene.need(object_id).states:
        raise SkillError(f"{object_id} is not seen open after it was pulled: the handle may have slipped away")


def _shut(context: SkillContext, object_id: str, handle: Handle) -> Iterator[Step]:
    if handle.hinge is not None:
        yield from swung(context, handle, (0.0,))
    else:
        yield from _slid(context, object_id, handle, 0.0)
    yield from context.look_for(object_id)
    if CLOSED not in context.scene.need(object_id).states:
        raise SkillError(f"{object_id} is not seen closed after it was pushed")


def _slid(context: SkillContext, object_id: str, handle: Handle, to: float) -> Iterator[Step]:
    """Pull or push a drawer at its bar: from above, or where another one is above it, from the front."""
    drawer = context.scene.need(object_id)
    if is_beneath(context.scene, drawer, handle):
        check_above(context.scene, drawer)
        if handle.opening > _BENEATH_BAR > to:
            yield from _slid_from_above(context, handle, _BENEATH_BAR)
            yield from context.look_for(object_id)
            drawer = context.scene.need(object_id)
            handle = handle_of(drawer)
        yield from slid_from_front(context, drawer, handle, to)
    else:
        yield from _slid_from_above(context, handle, to)


def _slid_from_above(context: SkillContext, handle: Handle, to: float) -> Iterator[Step]:
    """Hook the bar of a drawer from above, and pull or push it."""
    pulls = to > handle.opening
    side = _FINGER if pulls else -_FINGER
    down, high = facing_down(handle.yaw(0.0)), np.array([0.0, 0.0, _HOOK_LOW])
    start = ToolPose(handle.at(handle.opening, side) + high, down)
    end = ToolPose(handle.at(to if to else -_DRAWER_PAST, side) + high, down)
    back = end.moved(*((0.004 if pulls else _DRAWER_PAST + 0.004) * handle.out).tolist())
    if pulls:
        back = end.moved(*(-0.006 * handle.out).tolist())
    yield context.free("approach", start.moved(z=ABOVE), CLOSED_M)
    yield context.straight("reach", [start], CLOSED_M, SLOW)
    yield context.straight("pull" if pulls else "push", [end], CLOSED_M, SLOW, _PULL_SLACK)
    yield context.settled("pull" if pulls else "push")
    yield context.straight("retreat", [back, back.moved(z=ABOVE)], CLOSED_M, SLOW)
