"""Puts what is in the hand on or into something from above, and judges that by looking again."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from functools import cache
from itertools import product

import numpy as np

from kc_vla.perception.same_thing import ALIKE_SIZE
from kc_vla.skills.boxes import HOLLOW, UprightBox, hand_boxes, meets_any, obstacles
from kc_vla.skills.context import SkillContext
from kc_vla.skills.front_reach import opened_front, put_tilted, take_tilted
from kc_vla.skills.grasping import pick_up
from kc_vla.skills.hands import ABOVE, CLOSED_M, SLOW, facing_down, yaw_of
from kc_vla.skills.held_thing import HeldThing
from kc_vla.skills.interface import ArmPath, Skill, SkillError, Step, Vector, first_possible
from kc_vla.skills.looking import look_into, look_towards
from kc_vla.skills.perceived import CLOSED, PerceivedThing, is_carried
from kc_vla.skills.releasing import carried, lowered_and_released
from kc_vla.skills.sliding import can_open_further, pulled_out
from kc_vla.skills.swinging import is_wide_open, opened_wide
from kc_vla.skills.tool_path import ToolPose

SURFACE = "worktop"
"""Id and type of the surface that the arm stands on."""
_RIM = 0.014
"""Thickness of the walls of what is hollow, m."""
_MARGINS = (0.02, 0.01, 0.003)
"""Around a thing where it is put; the first that leaves room counts, m."""
_GRID, _FINE_GRID = 0.02, 0.01
"""Between two spots that are tried on the worktop, and in or on something, m."""
_APART = 3
"""On the worktop one of so many spots in each direction is tried first: the arm may reach none around the nearest."""
_FLOOR = {"drawer": 0.01, "sink": 0.009, "tray": 0.005}
"""Height of the floor of what is hollow above its lower side, m; where none is named, that of a drawer."""
_DROPS = (0.004, 0.03, 0.055, 0.08)
"""A thing is released so far above what it is to stand on, m; higher where a hollow has no room for the hand."""
_FREED, _FREED_OPEN = 0.018, 0.03
"""The fingers open by so much to release a thing in a hollow, and elsewhere, m."""
_FOUND_M = 0.08
"""It is at its place when it is seen no further than this from it, m."""
_FOUND_HIGH_M, _FOUND_HIGH_IN_M = 0.04, 0.08
"""... and no higher than this above what it was put on, or above the floor of a hollow, which is measured badly, m."""
_NEAR_BASE = 0.3
"""Nothing is put down nearer to the axis of the base, m."""
_WORKTOP_RANGE = (0.34, 0.58)
_TURNS = np.radians([0, 30, -30, 60, -60, 90, 45, -45])


_WayDown = tuple[ToolPose, tuple[ArmPath, Vector]]
"""A pose of the tool at which a thing is released, the way to above it, and set-points (T, N) down to it."""


def put_down(context: SkillContext, object_id: str, holder_id: str) -> Skill:
    """Put what is in the hand on or into a thing."""
    yield from put(context, object_id, holder_id)
    return ""


def put(context: SkillContext, object_id: str, holder_id: str) -> Iterator[Step]:
    """Yield the steps that put what is in the hand on or into a thing.

    Raises:
        SkillError: it is not in the hand, has no room there, or is not seen there afterwards.
    """
    context.need_known_hand()
    held = context.held
    if held is None or held.thing.object_id != object_id:
        raise SkillError(f"{object_id} is not in the hand")
    if holder_id != SURFACE:
        yield from context.look_for(holder_id)
    holder = None if holder_id == SURFACE else context.scene.need(holder_id)
    if holder is not None and CLOSED in holder.states and holder.object_type in HOLLOW:
        raise SkillError(f"{holder_id} is closed")
    space = None if holder is None else opened_front(context.scene, holder_id)
    if held.raised and space is None and holder is not None:
        yield from put(context, object_id, SURFACE)
        yield from pick_up(context, object_id)
    elif space is not None and not (held.raised and is_wide_open(context, holder_id)):
        yield from put(context, object_id, SURFACE)
        yield from opened_wide(context, holder_id)
        yield from context.look_for(object_id)
        yield from take_tilted(context, context.scene.need(object_id), None)
    held = context.held
    assert held is not None
    thing, before = held.thing, {each.object_id: each.position for each in context.scene.all()}
    if held.raised:
        grid = () if space is not None else _places(context, None)
        target = yield from put_tilted(context, held, space, grid)
    else:
        way = yield from _way_or_room(context, held, holder, holder_id)
        assert context.held is not None
        target = yield from _put_from_above(context, context.held, holder_id, way)
    since_s = context.scene.now_s
    if holder is not None and (space is not None or holder.object_type in HOLLOW):
        yield from look_into(context, holder_id)
    yield from context.look_for(object_id)

    def seen_there() -> PerceivedThing | None:
        return _seen_at(context, thing, before, since_s, target)

    if seen_there() is None:  # the hand may be before it
        yield from look_towards(context, target, object_id, lambda: seen_there() is not None)
    seen = seen_there()
    if seen is None:
        raise SkillError(f"{object_id} is not seen after it was put on or into {holder_id}")
    context.scene.same(seen.object_id, thing)
    hollow = holder is not None and holder.object_type in HOLLOW
    _check_there(context.scene.need(object_id), holder_id, target, _FOUND_HIGH_IN_M if hollow else _FOUND_HIGH_M)


def _seen_at(
    context: SkillContext, thing: PerceivedThing, before: Mapping[str, Vector], since_s: float, target: Vector
) -> PerceivedThing | None:
    """Return a thing as it is seen after it was put down; None where it is not.

    What is new at its place and about as large is that thing, whatever it is taken for there.

    Args:
        context: of the skill.
        thing: that was put down.
        before: where everything was before that, by its id (3,), m.
        since_s: stamp after which it was released, s.
        target: where it should be (3,), m.
    """
    found = context.seen_since(thing.object_id, since_s)
    if found is not None:
        return found

    def is_new(each: PerceivedThing) -> bool:
        was = before.get(each.object_id)
        return _off(each.position, target) < _FOUND_M and (was is None or _off(was, target) > _FOUND_M)

    large = float(np.linalg.norm(thing.extent))
    things = (each for each in context.scene.since(since_s) if is_carried(each.object_type) and is_new(each))
    return next(
        (each for each in things if large / ALIKE_SIZE < np.linalg.norm(each.extent) < large * ALIKE_SIZE), None
    )


def _off(place: Vector, target: Vector) -> float:
    return float(np.linalg.norm(place[:2] - target[:2]))


def _way_or_room(
    context: SkillContext, held: HeldThing, holder: PerceivedThing | None, holder_id: str
) -> Generator[Step, None, _WayDown]:
    """Return the way to a spot for what is in the hand; a drawer without room is pulled out further for that.

    Raises:
        SkillError: there is no room.
    """
    try:
        return _way_down(context, held, holder, holder_id)
    except SkillError:
        if not can_open_further(context, holder_id):
            raise
    yield from put(context, held.thing.object_id, SURFACE)
    yield from pulled_out(context, holder_id)
    yield from pick_up(context, held.thing.object_id)
    assert context.held is not None
    return _way_down(context, context.held, context.scene.need(holder_id), holder_id)


def _way_down(context: SkillContext, held: HeldThing, holder: PerceivedThing | None, holder_id: str) -> _WayDown:
    """Return a spot for what is in the hand, and the ways to above it and down to it.

    Raises:
        SkillError: there is no room.
    """
    failure = SkillError(f"there is no room for {held.thing.object_id} in or on {holder_id}")

    def ways(pose: ToolPose) -> tuple[ArmPath, Vector]:
        approach = context.free("carry", pose.moved(z=ABOVE), CLOSED_M, then=[pose])
        return approach, context.paths.straight(approach.joints[-1], [pose], SLOW)

    return first_possible(spots(context, held, holder), ways, failure)


def _put_from_above(
    context: SkillContext, held: HeldThing, holder_id: str, way: _WayDown
) -> Generator[Step, None, Vector]:
    """Yield the steps that put what is in the hand down from above; return where its lower side is then (3,), m."""
    holder = context.scene.find(holder_id)
    inside = holder is not None and holder.object_type in HOLLOW
    pose, (approach, lower) = way
    yield from carried(context, approach, f"on the way to {holder_id}")
    wide = min(context.opening, held.width + (_FREED if inside else _FREED_OPEN))
    yield from lowered_and_released(context, context.along("lower", lower, CLOSED_M), wide, holder_id)
    middle = pose.position + held.ahead * _along(yaw_of(pose))
    return np.array([*middle[:2], _ground(holder)])


def _check_there(seen: PerceivedThing, holder_id: str, target: Vector, highest: float) -> None:
    """Check that a thing is where it was put; on the worktop it may have rolled.

    Args:
        seen: the thing, afterwards.
        holder_id: what it was put on or into.
        target: where the middle of its lower side should be (3,), m.
        highest: its lower side may be measured so far above that, m.

    Raises:
        SkillError: it is not.
    """
    object_id, off = seen.object_id, _off(seen.position, target)
    high = float(seen.bottom - target[2])
    if high < -_FOUND_HIGH_M and not _is_at(seen, holder_id):
        raise SkillError(f"{object_id} fell beside {holder_id}")
    if high > highest:
        raise SkillError(f"{object_id} is seen {high * 100:.0f} cm above where it was put: it may stick to the hand")
    if holder_id != SURFACE and not _is_at(seen, holder_id) and off > _FOUND_M:
        raise SkillError(f"{object_id} is seen {off * 100:.0f} cm away from where it was put")


def spots(context: SkillContext, held: HeldThing, holder: PerceivedThing | None) -> Iterator[ToolPose]:
    """Yield poses of the tool at which what is in the hand can be released, the best first.

    Args:
        context: of the skill.
        held: what is in the hand.
        holder: what it is put on or into; None for the worktop.
    """
    thing = held.thing
    inside = holder is not None and holder.object_type in HOLLOW
    beneath = {holder.object_id} if holder is not None and not inside else set()
    around = obstacles(context.scene, {thing.object_id} | beneath)
    if holder is None:
        around += context.keep_clear
    ground = _ground(holder)
    size = np.array([*thing.footprint[0], thing.extent[2]])
    wide = min(context.opening, held.width + _FREED)

    @cache
    def room(x: float, y: float, turn: float) -> float:
        """Return the widest margin that there is around the thing at a yaw, m; a negative number for no room."""
        body = UprightBox(np.array([x, y, ground + size[2] / 2 + 0.012]), size, turn)
        found = -1.0
        for margin in reversed(_MARGINS):
            if not _within(body.grown(margin / 2), holder, inside) or meets_any(body.grown(margin), around):
                break
            found = margin
        return found

    tried = set[tuple[float, float, float]]()
    for drop in _DROPS if inside else _DROPS[:1]:
        for margin in _MARGINS:
            for x, y in _places(context, holder):
                ahead = holder.yaw if holder is not None and inside else float(np.arctan2(y, x))
                for yaw in ahead + (np.concatenate([_TURNS, _TURNS + np.pi]) if inside else _TURNS):
                    place = np.array([x, y, ground + held.below + drop]) - held.ahead * _along(float(yaw))
                    spot = (drop, x, y)
                    if spot in tried or room(x, y, round(float(yaw + held.turn) % np.pi, 6)) < margin:
                        continue
                    if any(meets_any(each, around) for each in hand_boxes(place, float(yaw), wide)):
                        continue
                    tried.add(spot)
                    yield ToolPose(place, facing_down(float(yaw)))
                    break


def _along(yaw: float) -> Vector:
    """Return the direction of a hand (3,)."""
    return np.array([np.cos(yaw), np.sin(yaw), 0.0])


def _ground(holder: PerceivedThing | None) -> float:
    """Return the height on which a thing stands in or on something, m."""
    if holder is None:
        return 0.0
    if holder.object_type in HOLLOW:
        return holder.bottom + _FLOOR.get(holder.object_type, _FLOOR["drawer"])
    return holder.top


def _places(context: SkillContext, holder: PerceivedThing | None) -> Iterator[tuple[float, float]]:
    """Yield the middles of a grid, m: those in the middle of the holder first; on the worktop those near the hand.

    On the worktop a wide grid comes before the spots between.
    """
    if holder is None:
        low, high = _WORKTOP_RANGE
        tool = context.tool.position
        steps = np.arange(-high, high + 1e-9, _GRID)
        cells = list(product(range(len(steps)), repeat=2))
        cells.sort(key=lambda each: (any(index % _APART for index in each), np.hypot(*(steps[[*each]] - tool[:2]))))
        grid = [(float(steps[i]), float(steps[j])) for i, j in cells]
        grid = [(x, y) for x, y in grid if low < np.hypot(x, y) < high and x > 0.0]
    else:
        half = holder.size[:2] / 2
        xs, ys = (np.arange(0.0, side, _FINE_GRID) for side in half)
        own = [(sx * x, sy * y) for x in xs for y in ys for sx in (1, -1) for sy in (1, -1)]
        own = sorted(dict.fromkeys(own), key=lambda each: (_is_fine(each), float(np.hypot(*each))))
        points = holder.out(np.array([[x, y, 0.0] for x, y in own]))
        grid = [(float(x), float(y)) for x, y, _ in points]
    yield from (each for each in grid if np.hypot(*each) > _NEAR_BASE)


def _is_fine(spot: tuple[float, float]) -> bool:
    """Return whether a spot lies between those of the coarse grid."""
    steps = np.round(np.array(spot) / _FINE_GRID)
    return bool((steps % round(_GRID / _FINE_GRID)).any())


def _within(body: UprightBox, holder: PerceivedThing | None, inside: bool) -> bool:
    """Return whether the footprint of a thing is over that of what holds it."""
    if holder is None:
        return True
    c, s = np.cos(holder.yaw), np.sin(holder.yaw)
    corners = (body.corners - holder.position[:2]) @ np.array([[c, -s], [s, c]])
    room = holder.size[:2] / 2 - (_RIM if inside else 0.0)
    return bool((np.abs(corners) <= room).all())


def _is_at(seen: PerceivedThing, holder_id: str) -> bool:
    return seen.container[1] == holder_id
