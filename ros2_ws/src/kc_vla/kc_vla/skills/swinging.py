"""Grips the bar of a door from above, and leads it along its arc."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kc_vla.perception.front_record import OPENING
from kc_vla.skills.context import SkillContext
from kc_vla.skills.door_panel import door_panel
from kc_vla.skills.handle_search import seen_handle
from kc_vla.skills.handles import PULL_SLACK, Handle, handle_of
from kc_vla.skills.hands import ABOVE, BRISK, CLOSED_M, SLOW, facing_down
from kc_vla.skills.interface import ArmPath, SkillError, Step, first_possible
from kc_vla.skills.perceived import numbers_of
from kc_vla.skills.tool_path import ToolPose

WIDE_OPEN = (1.55, 1.5, 1.44)
"""How far a door is opened, rad: the first to which the arm can lead it."""
_REACHED_INTO = 1.49
"""A hand reaches in where a door is open by this, rad: one that is less open stands in the way."""
_DOOR_PAST = 0.08
"""A door that is shut is led so far past that: the arm gives way, rad."""
_GRIP_HIGH = 0.036
"""Above the middle of a standing bar the tool is so high, m."""
_CHUNKS = 12
"""Parts of the arc of a door."""


def is_wide_open(context: SkillContext, object_id: str) -> bool:
    """Return whether a hand can pass the door of a thing; so it can where no door is seen."""
    thing = context.scene.need(object_id)
    if door_panel(thing) is not None:
        opening = numbers_of(thing, OPENING, 1)
        return opening is not None and float(opening[0]) > _REACHED_INTO
    try:
        handle = handle_of(thing)
    except SkillError:
        return True
    return handle.hinge is None or handle.opening > _REACHED_INTO


def opened_wide(context: SkillContext, object_id: str) -> Iterator[Step]:
    """Yield the steps that lead a door, which is open already, out of the way of a hand."""
    if not is_wide_open(context, object_id):
        handle = yield from seen_handle(context, object_id)
        yield from swung(context, object_id, handle, WIDE_OPEN)
        yield from context.look_for(object_id)


def swung(context: SkillContext, object_id: str, handle: Handle, ends: Sequence[float]) -> Iterator[Step]:
    """Yield the steps that lead a door to the first of some openings that the arm reaches.

    Args:
        context: of the skill.
        object_id: of what has the door.
        handle: of the door, as it is now.
        ends: openings, rad; 0 for closed.

    Raises:
        SkillError: there is no handle between the fingers, or the arm cannot lead it there.
    """
    wide = context.opening

    def grip(opening: float) -> ToolPose:
        return ToolPose(handle.at(opening) + np.array([0.0, 0.0, _GRIP_HIGH]), facing_down(handle.yaw(opening)))

    def arc(end: float) -> tuple[ArmPath, ToolPose]:
        shares = np.linspace(0, 1, _CHUNKS + 1)[1:]
        poses = [grip(handle.opening + share * ((end or -_DOOR_PAST) - handle.opening)) for share in shares]
        return context.straight("swing", poses, CLOSED_M, SLOW, PULL_SLACK), poses[-1]

    start = grip(handle.opening)
    yield context.free("approach", start.moved(z=ABOVE), wide)
    yield context.straight("reach", [start], wide, SLOW)
    yield context.fingers("grip", CLOSED_M)
    if not context.grips:
        yield from _released(context, start)
        raise SkillError("there is no handle between the fingers where it was seen")
    end, (swing, last) = first_possible(ends, arc, SkillError("the arm cannot lead the door"))
    yield swing
    yield context.settled("swing")
    context.scene.led(object_id, handle.led_to(end))
    yield from _released(context, last)


def _released(context: SkillContext, at: ToolPose) -> Iterator[Step]:
    yield context.fingers("release", context.opening)
    yield context.straight("retreat", [at.moved(z=ABOVE)], context.opening, BRISK)
