"""Opens and closes drawers and doors at their handles, and judges that by looking again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kc_vla.skills.context import SkillContext
from kc_vla.skills.handles import Handle, handle_of
from kc_vla.skills.hands import ABOVE, BRISK, CLOSED_M, SLOW, facing_down
from kc_vla.skills.hooking import is_beneath, slid_from_front
from kc_vla.skills.interface import Skill, SkillError, Step
from kc_vla.skills.looking import look_into
from kc_vla.skills.perceived import CLOSED, OPENED
from kc_vla.skills.set_aside import with_free_hand
from kc_vla.skills.tool_path import ToolPose

_DRAWER_OPEN, _DOOR_OPEN = 0.126, 1.44
"""How far drawers and doors are opened, m and rad."""
_FINGER = 0.022
"""Between the middle of a bar and that of a finger behind or before it, m."""
_DRAWER_PAST, _DOOR_PAST = 0.014, 0.08
"""What is shut is led so far past that: the arm gives way, m and rad."""
_HOOK_LOW, _GRIP_HIGH = 0.002, 0.036
"""Above the middle of a lying and of a standing bar the tool is so high, m."""
_CHUNKS = 12
"""Parts of the arc of a door."""
_PULL_SLACK = 0.6
"""Joints may be so far behind where something gives way, rad."""


def open_thing(context: SkillContext, object_id: str) -> Skill:
    """Open a drawer or a door, and look into it. What is in the hand is put aside meanwhile."""
    yield from context.look_for(object_id)
    thing = context.scene.need(object_id)
    if OPENED in thing.states:
        return f"{object_id} is open already"
    handle = handle_of(thing)
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


def _opened(context: SkillContext, object_id: str, handle: Handle) -> Iterator[Step]:
    yield from _moved(context, object_id, handle, _DRAWER_OPEN if handle.hinge is None else _DOOR_OPEN)
    yield from look_into(context, object_id)
    if OPENED not in context.scene.need(object_id).states:
        raise SkillError(f"{object_id} is not seen open after it was pulled: the handle may have slipped away")


def _shut(context: SkillContext, object_id: str, handle: Handle) -> Iterator[Step]:
    yield from _moved(context, object_id, handle, 0.0)
    yield from context.look_for(object_id)
    if CLOSED not in context.scene.need(object_id).states:
        raise SkillError(f"{object_id} is not seen closed after it was pushed")


def _moved(context: SkillContext, object_id: str, handle: Handle, to: float) -> Iterator[Step]:
    if handle.hinge is not None:
        yield from _swung(context, handle, to)
    elif is_beneath(context.scene, drawer := context.scene.need(object_id), handle):
        yield from slid_from_front(context, drawer, handle, to)
    else:
        yield from _slid(context, handle, to)


def _slid(context: SkillContext, handle: Handle, to: float) -> Iterator[Step]:
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


def _swung(context: SkillContext, handle: Handle, to: float) -> Iterator[Step]:
    """Grip the bar of a door from above and lead it along its arc."""
    to = to or -_DOOR_PAST
    wide = context.opening

    def grip(opening: float) -> ToolPose:
        return ToolPose(handle.at(opening) + np.array([0.0, 0.0, _GRIP_HIGH]), facing_down(handle.yaw(opening)))

    start = grip(handle.opening)
    yield context.free("approach", start.moved(z=ABOVE), wide)
    yield context.straight("reach", [start], wide, SLOW)
    yield context.fingers("grip", CLOSED_M)
    if not context.grips:
        yield from _released(context, start)
        raise SkillError("there is no handle between the fingers where it was seen")
    arc = [grip(handle.opening + share * (to - handle.opening)) for share in np.linspace(0, 1, _CHUNKS + 1)[1:]]
    yield context.straight("swing", arc, CLOSED_M, SLOW, _PULL_SLACK)
    yield context.settled("swing")
    yield from _released(context, arc[-1])


def _released(context: SkillContext, at: ToolPose) -> Iterator[Step]:
    yield context.fingers("release", context.opening)
    yield context.straight("retreat", [at.moved(z=ABOVE)], context.opening, BRISK)
