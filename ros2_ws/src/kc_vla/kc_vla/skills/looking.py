"""Looks at a thing, into what is open, and around."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

import numpy as np

from kc_vla.skills.context import SkillContext
from kc_vla.skills.hands import looking_from
from kc_vla.skills.interface import ArmPath, HoldStage, Skill, SkillError, Step, Vector, first_possible
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.tool_path import ToolPose

_AT = ((0.33, 0.45, 0.45), (0.25, 0.3, 0.45), (0.25, 0.3, 0.75))
"""Distance from the base's axis and height (m), and tilt (rad), from which the hand looks at something: the first that
the arm reaches counts."""
_INTO = (
    ((0.36, 0.5, 0.25), (0.28, 0.32, 0.25), (0.28, 0.25, 0.6)),
    ((0.28, 0.5, 0.75), (0.2, 0.3, 0.75), (0.25, 0.3, 0.75)),
)
"""The same from which it looks down into something that is open, and into it from the front."""
_AROUND = np.radians([85.0, 40.0, 0.0, -40.0, -85.0])
"""Directions in which it looks around, rad."""
_STAY_S = 0.4


def look_at(context: SkillContext, object_id: str) -> Skill:
    """Look at a thing that was seen before."""
    thing = context.scene.need(object_id)
    yield _turn(context, "look at", _direction(thing), _AT)
    since_s = context.scene.now_s
    yield from context.look_for(object_id)
    if context.seen_since(object_id, since_s) is None and not context.scene.is_shut_in(thing):
        raise SkillError(f"{object_id} is not seen any more where it was")
    return ""


def look_towards(context: SkillContext, place: Vector, object_id: str, is_seen: Callable[[], bool]) -> Iterator[Step]:
    """Yield the steps of looks from near at a place where a thing should be, from one side after the other.

    Args:
        context: of the skill.
        place: (x, y, ...), m.
        object_id: of the thing.
        is_seen: whether it is seen there, so that no other look is needed.
    """
    for view in _AT:
        try:
            turn = _turn(context, "look at", float(np.arctan2(place[1], place[0])), (view,))
        except SkillError:  # the hand cannot look from there
            continue
        yield turn
        yield from context.look_for(object_id)
        if is_seen():
            return


_VIEWS = 2
"""So many views of one thing are tried."""


def look_from(
    context: SkillContext, views: Iterable[ToolPose], object_id: str, is_seen: Callable[[], bool]
) -> Iterator[Step]:
    """Yield the steps of looks at a thing from the first poses that the arm reaches.

    Args:
        context: of the skill.
        views: poses of the hand, the best first.
        object_id: of the thing.
        is_seen: whether what is looked for is seen, so that no other look is needed.
    """
    left = _VIEWS
    for view in views:
        try:
            turn = context.free("look at", view, context.kept_width)
        except SkillError:  # the hand cannot look from there
            continue
        yield turn
        yield from context.look_for(object_id)
        left -= 1
        if is_seen() or not left:
            return


def look_around(context: SkillContext) -> Skill:
    """Look at all that the arm reaches."""
    for angle in _AROUND:
        yield _turn(context, "look around", float(angle), _AT)
        yield HoldStage("look around", context.steps(_STAY_S))
    yield from context.look(lambda since_s: True)
    return ""


def look_into(context: SkillContext, object_id: str) -> Iterator[Step]:
    """Yield the steps of a look into something that is open, from two sides."""
    angle = _direction(context.scene.need(object_id))
    for places in _INTO:
        yield _turn(context, "look into", angle, places)
        yield HoldStage("look into", context.steps(_STAY_S))
    yield from context.look_for(object_id)


def is_seen(context: SkillContext, object_id: str, state: str) -> Generator[Step, None, bool]:
    """Yield the steps of a look at a thing, and return whether it is seen in a state.

    Only reports from now on count: of what is hidden, the last state that was seen stays known. The hand looks at a
    thing that is not seen in that state from where it is.

    Raises:
        SkillError: it is not seen at all.
    """

    def is_so(since_s: float) -> bool:
        found = context.seen_since(object_id, since_s)
        return found is not None and state in found.states

    since_s = yield from context.look(is_so)
    if not is_so(since_s):
        yield _turn(context, "look at", _direction(context.scene.need(object_id)), _AT)
        since_s = yield from context.look(is_so)
    if context.seen_since(object_id, since_s) is None:
        raise SkillError(f"{object_id} is not seen now, so it is not known whether it is {state}: clear the view of it")
    return is_so(since_s)


def _turn(context: SkillContext, stage: str, angle: float, places: Sequence[tuple[float, float, float]]) -> ArmPath:
    """Return the way to the first of some places from which the hand looks outwards.

    Raises:
        SkillError: the arm reaches none of them.
    """

    def way(place: tuple[float, float, float]) -> ArmPath:
        distance, height, tilt = place
        pose = looking_from(angle, distance, height, tilt - context.paths.lean)
        return context.free(stage, pose, context.kept_width)

    return first_possible(places, way, SkillError("there is no place to look from"))[1]


def _direction(thing: PerceivedThing) -> float:
    return float(np.arctan2(thing.position[1], thing.position[0]))
