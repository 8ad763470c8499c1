"""Picks things up from above, and judges that by the fingers and by looking again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from kc_vla.planning.obstacles import Clearing, Obstacle
from kc_vla.skills.boxes import UprightBox, hand_boxes, meets_any, named_obstacles, obstacles
from kc_vla.skills.context import SkillContext
from kc_vla.skills.front_reach import opened_front, take_tilted
from kc_vla.skills.hands import ABOVE, CLOSED_M, SLOW, facing_down, yaw_of
from kc_vla.skills.held_thing import held_by
from kc_vla.skills.interface import (
    ArmPath,
    HoldStage,
    MissedGraspError,
    ObstructedError,
    Skill,
    SkillError,
    Step,
    first_possible,
)
from kc_vla.skills.looking import look_at
from kc_vla.skills.missed_grasps import Grasp
from kc_vla.skills.perceived import OPENED, PerceivedThing, is_carried
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.sliding import can_open_further, pulled_out
from kc_vla.skills.swinging import opened_wide
from kc_vla.skills.tool_path import ToolPose

_SPARE_M, _UNSURE_M = 0.002, 0.006
"""The gripper has to open by so much more than a thing is wide, m; what is not seen surely may be measured too wide by
the second, m ..."""
_NEAR_M = 0.005
"""... and opens by so much on each side where there is no room for more, m."""
_DEPTH, _LOWEST = 0.035, 0.011
"""The tool goes so far below the top of a thing, and no nearer than this to what it stands on, m."""
_ROUND = 0.93
"""What is as wide as this share of its length can be taken from any side."""
_TURNS = np.radians([0, 15, -15, 30, -30, 45, -45, 60, -60, 75, -75, 90])
"""Turns of the hand that are tried at something round, rad from straight ahead."""
_HIGHER = (0.0, 0.003, 0.01, 0.02)
"""Grasps are tried so much higher, m ..."""
_LEAST_DEPTH, _THIN = 0.008, 0.02
"""... but no nearer to the top than this, m; what is thinner than the second is taken with the tips, at its top."""
_ASIDE, _END = (0.0, 0.01, -0.01, 0.02, -0.02, 0.04, -0.04, 0.06, -0.06), 0.015
"""Grasps are tried so far from the middle of something long, and no nearer to its ends than this, m."""
_OPEN_S = 1.0
"""The fingers may take so long to open, s."""
_HAND_ROUND = np.array([0.24, 0.24, 0.24])
"""A hand over a thing is within a box of this size, however it is turned, m."""
_SURE = 0.95
"""What is seen less surely may look otherwise from near: narrower, or away from what seems to be in the way."""
_TRIES = 3
"""Grasps that may miss a thing."""
_MISSED = "grasps that missed before: {}"
_WayToThing = tuple[Grasp, ArmPath]
"""A grasp, and the way to above it."""


def pick_up(context: SkillContext, object_id: str) -> Skill:
    """Take a thing into the hand; a grasp that misses it is followed by another one."""
    context.need_known_hand()
    if context.held is not None:
        raise SkillError(f"the hand holds {context.held.thing.object_id} already")
    for missed in range(_TRIES - 1):
        try:
            yield from _take(context, object_id)
        except MissedGraspError:
            continue
        return _MISSED.format(missed) if missed else ""
    yield from _take(context, object_id)
    return _MISSED.format(_TRIES - 1)


def _take(context: SkillContext, object_id: str, from_near: bool = False) -> Iterator[Step]:
    """Yield the steps that take a thing from where it is seen now.

    Args:
        context: of the skill.
        object_id: of the thing.
        from_near: the hand has looked at it already.

    Raises:
        MissedGraspError: the hand has not got it.
        SkillError: the hand has no way to it.
    """
    yield from context.look_for(object_id)
    thing = context.scene.need(object_id)
    if context.scene.is_shut_in(thing):
        raise SkillError(f"{object_id} is in {thing.container[1]}, which is closed")
    relation, holder_id = thing.container
    if relation == "in" and (space := opened_front(context.scene, holder_id)) is not None:
        yield from opened_wide(context, holder_id)
        yield from take_tilted(context, thing, space)
        return
    try:
        way = _way_to(context, thing)
    except SkillError as failure:
        if thing.confidence < _SURE and not from_near:
            try:
                yield from look_at(context, object_id)
            except SkillError:
                raise failure from None
            yield from _take(context, object_id, from_near=True)
            return
        if can_open_further(context, holder_id):
            yield from pulled_out(context, holder_id)
            yield from context.look_for(object_id)
            thing = context.scene.need(object_id)
            way = _way_to(context, thing)
        elif relation == "in" and context.scene.need(holder_id).object_type == "drawer":
            raise
        else:
            yield from _take_from_aside(context, thing, failure)
            return
    yield from _take_from_above(context, thing, way)


def _take_from_aside(context: SkillContext, thing: PerceivedThing, failure: SkillError) -> Iterator[Step]:
    """Yield the steps that take a thing in the open with a tilted hand, where it cannot be reached from above.

    Args:
        context: of the skill.
        thing: that is to be taken.
        failure: why it cannot be reached from above.

    Raises:
        MissedGraspError: the hand has not got it.
        SkillError: it cannot be reached so either.
    """
    try:
        yield from take_tilted(context, thing, None)
    except MissedGraspError:
        raise
    except SkillError:
        raise failure from None


def _take_from_above(context: SkillContext, thing: PerceivedThing, way: _WayToThing) -> Iterator[Step]:
    """Yield the steps that take a thing from above.

    Raises:
        MissedGraspError: the hand has not got it.
    """
    (pose, wide, across), approach = way
    yield approach
    yield HoldStage("approach", context.steps(_OPEN_S), lambda: context.arm.width > wide / 2)
    if context.arm.width <= wide / 2:
        raise SkillError(
            f"the fingers do not open: they are {context.arm.width * 100:.1f} cm apart, and {wide * 100:.1f} cm were "
            "asked for; is the gripper set up (of a Piper with 'kc-vla setup piper')?"
        )
    reach = context.straight("reach", [pose], wide, SLOW)
    yield reach
    yield context.settled("reach")
    yield context.fingers("grasp", CLOSED_M, 0.7)
    if not context.holds(across):
        context.missed.note(thing, pose)
        yield context.fingers("release", wide)
        yield context.along("retreat", reach.joints[::-1], wide)
        raise MissedGraspError(f"there is nothing between the fingers where {thing.object_id} was seen")
    context.held = held_by(thing, pose.position, yaw_of(pose), context.arm.width)
    yield context.along("lift", reach.joints[::-1], CLOSED_M)  # the way back, which is there
    lifted_s = context.now_s
    yield from context.look_for(thing.object_id)
    if not context.grips or context.is_still_there(thing, lifted_s):
        context.held = None
        context.missed.note(thing, pose)
        raise MissedGraspError(f"{thing.object_id} slipped out of the fingers as it was lifted")
    context.missed.forget(thing.object_id)


def _way_to(context: SkillContext, thing: PerceivedThing) -> _WayToThing:
    """Return the first of the grasps of a thing that the arm reaches, see `grasps`, and the way to above it.

    A grasp that took nothing before is tried again where there is no other one.

    Raises:
        SkillError: there is none.
    """
    wanted = context.missed.last(thing, grasps(context.scene, context.opening, thing))
    failure = SkillError(f"{thing.object_id} cannot be reached from above: something is in the way of the hand")
    try:
        return first_possible(wanted, lambda grasp: _approach(context, grasp[0], grasp[1]), failure)
    except SkillError as error:
        if (opened := _open_beside(context.scene, thing, str(error))) is not None:
            obstacle = Obstacle(opened, Clearing.CLOSE)
            raise ObstructedError(f"{opened} is open in the way of a hand at {thing.object_id}", obstacle) from None
        if (other := in_the_way(context.scene, context.opening, thing)) is not None:
            obstacle = Obstacle(other, Clearing.MOVE)
            raise ObstructedError(f"{other} is in the way of a hand at {thing.object_id}", obstacle) from None
        raise


def _open_beside(scene: PerceivedScene, thing: PerceivedThing, failure: str) -> str | None:
    """Return the id of an open drawer or door that keeps a hand from a thing; None where there is none.

    Args:
        scene: what is there.
        thing: that is to be taken.
        failure: why no way to it was found.
    """
    around = UprightBox(np.array([*thing.position[:2], thing.top + _HAND_ROUND[2] / 2]), _HAND_ROUND, 0.0)
    for name, box in named_obstacles(scene, (thing.object_id, *thing.container)):
        if OPENED in scene.need(name).states and (f"'{name}'" in failure or box.meets(around)):
            return name
    return None


def _approach(context: SkillContext, pose: ToolPose, wide: float) -> ArmPath:
    """Return the way to a pose above a grasp from which the arm can reach it.

    Raises:
        SkillError: there is none.
    """

    def above(height: float) -> ArmPath:
        path = context.free("approach", pose.moved(z=height), wide, then=[pose])
        context.paths.straight(path.joints[-1], [pose], SLOW)
        return path

    return first_possible((ABOVE, ABOVE / 2), above, SkillError(""))[1]


def grasps(scene: PerceivedScene, opening: float, thing: PerceivedThing) -> Iterator[Grasp]:
    """Yield poses of a hand that comes from above, how wide the fingers are there, and how wide the thing is, m.

    Those that need the least turn come first. A hand that would touch something else is left out.

    Args:
        scene: what else is there.
        opening: of the gripper when it is wide open, m.
        thing: that is to be taken.

    Raises:
        SkillError: the thing is too wide for the gripper.
    """
    around = obstacles(scene, (thing.object_id,))
    for tries in _tries(scene, opening, thing):
        for grasp in tries:
            if not any(meets_any(each, around) for each in _hand(grasp)):
                yield grasp
                break


def in_the_way(scene: PerceivedScene, opening: float, thing: PerceivedThing) -> str | None:
    """Return the id of the one thing that has to be moved so that a hand gets to another; None where there is none.

    Args:
        scene: what is there.
        opening: of the gripper when it is wide open, m.
        thing: that no hand gets to, see `grasps`.
    """
    around = named_obstacles(scene, (thing.object_id,))
    for tries in _tries(scene, opening, thing):
        for grasp in tries:
            hand = _hand(grasp)
            names = {name for name, box in around if meets_any(box, hand)}
            if len(names) == 1 and is_carried(scene.need(name := names.pop()).object_type):
                return name
    return None


def _hand(grasp: Grasp) -> tuple[UprightBox, ...]:
    """Return the boxes of the hand in a grasp."""
    pose, wide, _ = grasp
    return hand_boxes(pose.position, yaw_of(pose), wide)


def _tries(scene: PerceivedScene, opening: float, thing: PerceivedThing) -> Iterator[list[Grasp]]:
    """Yield grasps of one place and yaw, the best first, whatever is in the way of them.

    Raises:
        SkillError: the thing is too wide for the gripper.
    """
    holder = scene.find(thing.container[1])
    ahead = float(np.arctan2(thing.position[1], thing.position[0]))
    if holder is not None and holder.object_type == "drawer":
        ahead = holder.yaw  # between its front and that of its cabinet a hand has room straight ahead
    ways = _ways(thing, ahead)
    widest = opening - _SPARE_M + (_UNSURE_M if thing.confidence < _SURE else 0.0)
    if min(across for _, across in ways) > widest:
        raise SkillError(
            f"{thing.object_id} is {min(across for _, across in ways) * 100:.1f} cm wide, and the gripper opens "
            f"{opening * 100:.1f} cm"
        )
    deep = max(thing.position[2], thing.top - _DEPTH, thing.bottom + _LOWEST)
    high = max(deep, thing.top - (0.0 if thing.extent[2] < _THIN else _LEAST_DEPTH))
    heights = [deep + higher for higher in _HIGHER if deep + higher <= high]
    for aside, (yaw, across) in product(_ASIDE, ways):
        if across > widest or abs(aside) > max(0.0, _length(thing, across) / 2 - _END):
            continue
        along = aside * np.array([np.cos(yaw), np.sin(yaw)])
        yield [
            (ToolPose(np.array([*(thing.position[:2] + along), height]), facing_down(yaw)), wide, across)
            for height, wide in product(heights, (opening, min(across + 2 * _NEAR_M, opening)))
        ]


def _ways(thing: PerceivedThing, ahead: float) -> list[tuple[float, float]]:
    """Return yaws of the hand, nearest to straight ahead first, and how wide the thing is across the fingers, m."""
    sides, yaw = thing.footprint
    x, y = sides.tolist()
    if min(x, y) > _ROUND * max(x, y):
        return [(ahead + half + float(turn), max(x, y)) for half in (0.0, np.pi) for turn in _TURNS]
    across_each = [(yaw, y), (yaw + np.pi / 2, x)]  # the fingers close across the yaw
    turned = [(ahead + float((each - ahead + np.pi / 2) % np.pi - np.pi / 2), across) for each, across in across_each]
    about = [(each + half, across) for each, across in sorted(turned, key=lambda way: way[1]) for half in (0.0, np.pi)]
    return about  # the same between the fingers; perhaps the camera has room only so, or the arm reaches only so


def _length(thing: PerceivedThing, across: float) -> float:
    """Return how long a thing is along the hand, m; nothing for what is not longer than it is wide across."""
    sides = thing.footprint[0]
    return 0.0 if across > _ROUND * float(sides.max()) else float(sides.max())
