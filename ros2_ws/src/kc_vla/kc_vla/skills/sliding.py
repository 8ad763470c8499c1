"""Pulls and pushes drawers at their bars."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kc_vla.perception.front_record import OPENING
from kc_vla.skills.context import SkillContext
from kc_vla.skills.handles import PULL_SLACK, SHUT_PAST_M, Handle, handle_of
from kc_vla.skills.hands import ABOVE, CLOSED_M, SLOW, facing_down
from kc_vla.skills.hooking import check_above, is_beneath, slid_from_front
from kc_vla.skills.interface import Step
from kc_vla.skills.tool_path import ToolPose

PULLED_OUT = 0.134
"""How far drawers are opened, m."""
FINGER, HOOK_LOW = 0.022, 0.002
"""A finger that moves a bar is so far behind or before its middle, and the tool so high above that, m."""
_REACHED_INTO = 0.12
"""A drawer that is open by less is pulled out further before a hand reaches into it, m."""
_BENEATH_BAR = 0.065
"""A hand from above pushes a drawer with a bar above its own no further than to this opening, m."""


def pulled_out(context: SkillContext, object_id: str) -> Iterator[Step]:
    """Yield the steps that pull a drawer out further, which is seen to be open in part; none for what is no drawer."""
    thing = context.scene.find(object_id)
    if thing is None or thing.object_type != "drawer" or OPENING not in thing.attributes:
        return
    handle = handle_of(thing)
    if 0.0 < handle.opening < _REACHED_INTO:
        yield from slid(context, object_id, handle, PULLED_OUT)
        yield from context.look_for(object_id)


def slid(context: SkillContext, object_id: str, handle: Handle, to: float) -> Iterator[Step]:
    """Yield the steps that pull or push a drawer: from above, or where another one is above it, from the front.

    Args:
        context: of the skill.
        object_id: of the drawer.
        handle: of it.
        to: how far it is to be open, m; 0 for closed.

    Raises:
        SkillError: its bar cannot be reached.
    """
    drawer = context.scene.need(object_id)
    if is_beneath(context.scene, drawer, handle):
        check_above(context.scene, drawer)
        if handle.opening > _BENEATH_BAR > to:
            yield from _from_above(context, handle, _BENEATH_BAR)
            yield from context.look_for(object_id)
            drawer = context.scene.need(object_id)
            handle = handle_of(drawer)
        yield from slid_from_front(context, drawer, handle, to)
    else:
        yield from _from_above(context, handle, to)


def _from_above(context: SkillContext, handle: Handle, to: float) -> Iterator[Step]:
    """Hook the bar of a drawer from above, and pull or push it."""
    pulls = to > handle.opening
    side = FINGER if pulls else -FINGER
    down, high = facing_down(handle.yaw(0.0)), np.array([0.0, 0.0, HOOK_LOW])
    start = ToolPose(handle.at(handle.opening, side) + high, down)
    end = ToolPose(handle.at(to if to else -SHUT_PAST_M, side) + high, down)
    back = end.moved(*((0.004 if pulls else SHUT_PAST_M + 0.004) * handle.out).tolist())
    if pulls:
        back = end.moved(*(-0.006 * handle.out).tolist())
    yield context.free("approach", start.moved(z=ABOVE), CLOSED_M)
    yield context.straight("reach", [start], CLOSED_M, SLOW)
    yield context.straight("pull" if pulls else "push", [end], CLOSED_M, SLOW, PULL_SLACK)
    yield context.settled("pull" if pulls else "push")
    yield context.straight("retreat", [back, back.moved(z=ABOVE)], CLOSED_M, SLOW)
