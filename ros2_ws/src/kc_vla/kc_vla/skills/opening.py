"""Opens and closes drawers and doors at their handles, and judges that by looking again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kc_vla.skills.boxes import SUPPORTS, hand_boxes, meets_any, named_obstacles
from kc_vla.skills.context import SkillContext
from kc_vla.skills.handle_search import seen_handle
from kc_vla.skills.handles import Handle
from kc_vla.skills.hands import CLOSED_M
from kc_vla.skills.hooking import check_above, is_beneath
from kc_vla.skills.interface import Skill, SkillError, Step
from kc_vla.skills.looking import is_seen, look_into
from kc_vla.skills.perceived import CLOSED, OPENED, PerceivedThing
from kc_vla.skills.set_aside import with_free_hand
from kc_vla.skills.sliding import FINGER, HOOK_LOW, pulled_out, slid
from kc_vla.skills.swept import swept_boxes
from kc_vla.skills.swinging import WIDE_OPEN, swung


def open_thing(context: SkillContext, object_id: str) -> Skill:
    """Open a drawer or a door, and look into it. What is in the hand is put aside meanwhile."""
    yield from context.look_for(object_id)
    if OPENED in context.scene.need(object_id).states and (yield from is_seen(context, object_id, OPENED)):
        return f"{object_id} is open already"
    handle = yield from seen_handle(context, object_id)
    thing = context.scene.need(object_id)
    _check_access(context, thing, handle)
    yield from with_free_hand(context, _opened(context, object_id, handle), swept_boxes(thing))
    return ""


def close_thing(context: SkillContext, object_id: str) -> Skill:
    """Close a drawer or a door. What is in the hand is put aside meanwhile."""
    yield from context.look_for(object_id)
    if CLOSED in context.scene.need(object_id).states and (yield from is_seen(context, object_id, CLOSED)):
        return f"{object_id} is closed already"
    handle = yield from seen_handle(context, object_id)
    swept = swept_boxes(context.scene.need(object_id))
    yield from with_free_hand(context, _shut(context, object_id, handle), swept)
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
    place = handle.at(handle.opening, FINGER) + np.array([0.0, 0.0, HOOK_LOW])
    hand = hand_boxes(place, handle.yaw(0.0), CLOSED_M)
    for other, box in named_obstacles(context.scene, (name, drawer.container[1])):
        if context.scene.need(other).object_type in SUPPORTS and meets_any(box, hand):
            raise SkillError(f"a hand from above does not get to the bar of {name}: {other} is in the way")


def _opened(context: SkillContext, object_id: str, handle: Handle) -> Iterator[Step]:
    if handle.hinge is not None:
        yield from swung(context, object_id, handle, WIDE_OPEN)
    else:
        yield from pulled_out(context, object_id)
    yield from look_into(context, object_id)
    if not (yield from is_seen(context, object_id, OPENED)):
        raise SkillError(f"{object_id} is not seen open after it was pulled: the handle may have slipped away")


def _shut(context: SkillContext, object_id: str, handle: Handle) -> Iterator[Step]:
    if handle.hinge is not None:
        yield from swung(context, object_id, handle, (0.0,))
    else:
        yield from slid(context, object_id, handle, opens=False)
    if not (yield from is_seen(context, object_id, CLOSED)):
        raise SkillError(f"{object_id} is not seen closed after it was pushed")
