"""Pulls and pushes drawers at their bars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.perception.front_record import OPENING
from kc_vla.skills.context import SkillContext
from kc_vla.skills.handles import PULL_SLACK, SHUT_PAST_M, Handle, handle_of
from kc_vla.skills.hands import ABOVE, CLOSED_M, SLOW, facing_down
from kc_vla.skills.hooking import check_above, is_beneath, slid_from_front
from kc_vla.skills.interface import ArmPath, SkillError, Step, Vector, first_possible
from kc_vla.skills.tool_path import ToolPose

_FREED_M = 0.006
"""A finger goes so far away from the bar that it pulled, before it rises, m."""
FINGER, HOOK_LOW = 0.022, 0.002
"""A finger that moves a bar is so far behind or before its middle, and the tool so high above that, m."""
_OF_DEPTH, _OF_DEPTH_TILTED = 0.9, 0.6
"""A drawer is pulled out by no more than the first share of its depth, by a tilted hand the second: it has a stop
before that, or else it would fall."""
_LEAST_DEPTH = 0.2
"""A drawer is at least so deep, m: of a closed one perception may know the front alone."""
_WELL_PAST_M = 0.05
"""A drawer is pushed until it stops, no further than this past where it is taken to be shut, m."""
_NEARER_M = 0.01
"""Where the arm cannot pull a drawer so far, it is pulled by so much less, m."""
_AT_STOP_M = 0.015
"""A drawer that was seen no further open than that, after it was pulled to its stop, is at its stop, m."""
_BENEATH_BAR = 0.065
"""A hand from above pushes a drawer with a bar above its own no further than to this opening, m."""


def can_open_further(context: SkillContext, object_id: str) -> bool:
    """Return whether a thing is a drawer that is open in part, and was not pulled to its stop before."""
    thing = context.scene.find(object_id)
    if thing is None or thing.object_type != "drawer" or OPENING not in thing.attributes:
        return False
    opening = handle_of(thing).opening
    return 0.0 < opening < context.stops.get(object_id, np.inf) - _AT_STOP_M


def pulled_out(context: SkillContext, object_id: str) -> Iterator[Step]:
    """Yield the steps that pull a drawer out until it stops, or the arm reaches no further, and that look at it then.

    Raises:
        SkillError: its bar cannot be reached.
    """
    yield from slid(context, object_id, handle_of(context.scene.need(object_id)), opens=True)
    yield from context.look_for(object_id)
    opened = context.scene.need(object_id)
    if OPENING in opened.attributes:
        context.stops[object_id] = handle_of(opened).opening


def slid(context: SkillContext, object_id: str, handle: Handle, opens: bool) -> Iterator[Step]:
    """Yield the steps that pull or push a drawer: from above, or where another one is above it, from the front.

    Args:
        context: of the skill.
        object_id: of the drawer.
        handle: of it.
        opens: it is pulled out as far as it goes, or else shut.

    Raises:
        SkillError: its bar cannot be reached.
    """
    drawer = context.scene.need(object_id)
    cabinet = context.scene.find(drawer.container[1])
    depth = max(_LEAST_DEPTH, float(drawer.size[0]), 0.0 if cabinet is None else float(cabinet.size[0]))
    if is_beneath(context.scene, drawer, handle):
        check_above(context.scene, drawer)
        if handle.opening > _BENEATH_BAR and not opens:
            yield from _from_above(context, handle, _BENEATH_BAR)
            yield from context.look_for(object_id)
            drawer = context.scene.need(object_id)
            handle = handle_of(drawer)
        yield from slid_from_front(context, drawer, handle, _OF_DEPTH_TILTED * depth if opens else 0.0)
    else:
        yield from _from_above(context, handle, _OF_DEPTH * depth if opens else 0.0)


def _from_above(context: SkillContext, handle: Handle, to: float) -> Iterator[Step]:
    """Hook the bar of a drawer from above, and pull or push it; a pull ends where the drawer or the arm stops."""
    pulls = to > handle.opening
    side = FINGER if pulls else -FINGER
    down, high = facing_down(handle.yaw(0.0)), np.array([0.0, 0.0, HOOK_LOW])
    start = ToolPose(handle.at(handle.opening, side) + high, down)
    yield context.free("approach", start.moved(z=ABOVE), CLOSED_M, then=[start])
    yield context.straight("reach", [start], CLOSED_M, SLOW)
    if pulls:
        ends = np.arange(to, handle.opening + _NEARER_M, -_NEARER_M)
        failure = SkillError("the arm cannot pull the drawer any further")
        _, pull = first_possible(ends, lambda end: _pull(context, start, (end - handle.opening) * handle.out), failure)
        yield replace(pull, to_stop=True)
        freed = context.tool.moved(*(-_FREED_M * handle.out).tolist())
    else:
        failure = SkillError("the arm cannot push the drawer shut")
        shut = (to,) if to else (-_WELL_PAST_M, -SHUT_PAST_M)
        push = first_possible(shut, lambda end: _push(context, handle.at(end, side) + high, down), failure)[1]
        yield push if to else replace(push, to_stop=True)
        yield context.settled("push")
        freed = context.tool.moved(*((SHUT_PAST_M + 0.004) * handle.out).tolist())
    yield context.straight("retreat", [freed, freed.moved(z=ABOVE)], CLOSED_M, SLOW)


def _push(context: SkillContext, place: Vector, down: Rotation) -> ArmPath:
    return context.straight("push", [ToolPose(place, down)], CLOSED_M, SLOW, PULL_SLACK)


def _pull(context: SkillContext, start: ToolPose, by: Vector) -> ArmPath:
    """Return the way that pulls a bar by a vector (3,), m, from whose end the arm can free its hand and rise."""
    end = start.moved(*by.tolist())
    path = context.straight("pull", [end], CLOSED_M, SLOW, PULL_SLACK)
    context.paths.straight(path.joints[-1], [end.moved(z=ABOVE)], SLOW)
    return path
