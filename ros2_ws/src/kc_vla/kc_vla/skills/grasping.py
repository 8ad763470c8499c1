"""Picks things up from above, and judges that by the fingers and by looking again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from kc_vla.skills.boxes import hand_boxes, meets_any, obstacles
from kc_vla.skills.context import SkillContext
from kc_vla.skills.front_reach import opened_front, take_tilted
from kc_vla.skills.hands import ABOVE, CLOSED_M, SLOW, facing_down, yaw_of
from kc_vla.skills.held_thing import held_by
from kc_vla.skills.interface import ArmPath, HoldStage, Skill, SkillError, first_possible
from kc_vla.skills.perceived import PerceivedScene, PerceivedThing
from kc_vla.skills.sliding import can_open_further, pulled_out
from kc_vla.skills.swinging import opened_wide
from kc_vla.skills.tool_path import ToolPose

_SPARE_M = 0.002
"""The gripper has to open by so much more than a thing is wide, m ..."""
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
_ASIDE, _END = (0.0, 0.02, -0.02, 0.04, -0.04, 0.06, -0.06), 0.02
"""Grasps are tried so far from the middle of something long, and no nearer to its ends than this, m."""
_OPEN_S = 1.0
"""The fingers may take so long to open, s."""


def pick_up(context: SkillContext, object_id: str) -> Skill:
    """Take a thing into the hand."""
    context.need_known_hand()
    if context.held is not None:
        raise SkillError(f"the hand holds {context.held.thing.object_id} already")
    yield from context.look_for(object_id)
    thing = context.scene.need(object_id)
    if context.scene.is_shut_in(thing):
        raise SkillError(f"{object_id} is in {thing.container[1]}, which is closed")
    relation, holder_id = thing.container
    if relation == "in" and (space := opened_front(context.scene, holder_id)) is not None:
        yield from opened_wide(context, holder_id)
        yield from take_tilted(context, thing, space)
        return ""
    try:
        (pose, wide, across), approach = _way_to(context, thing)
    except SkillError:
        if not can_open_further(context, holder_id):
            raise
        yield from pulled_out(context, holder_id)
        yield from context.look_for(object_id)
        thing = context.scene.need(object_id)
        (pose, wide, across), approach = _way_to(context, thing)
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
        yield context.fingers("release", wide)
        yield context.along("retreat", reach.joints[::-1], wide)
        raise SkillError(f"there is nothing between the fingers where {object_id} was seen")
    context.held = held_by(thing, pose.position, yaw_of(pose), context.arm.width)
    yield context.along("lift", reach.joints[::-1], CLOSED_M)  # the way back, which is there
    lifted_s = context.now_s
    yield from context.look_for(object_id)
    if context.grips and not context.is_still_there(thing, lifted_s):
        return ""
    context.held = None
    raise SkillError(f"{object_id} slipped out of the fingers as it was lifted")


def _way_to(context: SkillContext, thing: PerceivedThing) -> tuple[tuple[ToolPose, float, float], ArmPath]:
    """Return the first of the grasps of a thing that the arm reaches, see `grasps`, and the way to above it.

    Raises:
        SkillError: there is none.
    """
    failure = SkillError(f"{thing.object_id} cannot be reached from above: something is in the way of the hand")
    return first_possible(
        grasps(context.scene, context.opening, thing), lambda grasp: _approach(context, grasp[0], grasp[1]), failure
    )


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


def grasps(scene: PerceivedScene, opening: float, thing: PerceivedThing) -> Iterator[tuple[ToolPose, float, float]]:
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
    holder = scene.find(thing.container[1])
    ahead = float(np.arctan2(thing.position[1], thing.position[0]))
    if holder is not None and holder.object_type == "drawer":
        ahead = holder.yaw  # between its front and that of its cabinet a hand has room straight ahead
    ways = _ways(thing, ahead)
    if min(across for _, across in ways) > opening - _SPARE_M:
        raise SkillError(
            f"{thing.object_id} is {min(across for _, across in ways) * 100:.1f} cm wide, and the gripper opens "
            f"{opening * 100:.1f} cm"
        )
    deep = max(thing.position[2], thing.top - _DEPTH, thing.bottom + _LOWEST)
    high = max(deep, thing.top - (0.0 if thing.extent[2] < _THIN else _LEAST_DEPTH))
    heights = [deep + higher for higher in _HIGHER if deep + higher <= high]
    for aside, (yaw, across) in product(_ASIDE, ways):
        if across > opening - _SPARE_M or abs(aside) > max(0.0, _length(thing, across) / 2 - _END):
            continue
        along = aside * np.array([np.cos(yaw), np.sin(yaw)])
        for height, wide in product(heights, (opening, min(across + 2 * _NEAR_M, opening))):
            place = np.array([*(thing.position[:2] + along), height])
            if not any(meets_any(each, around) for each in hand_boxes(place, yaw, wide)):
                yield ToolPose(place, facing_down(yaw)), wide, across
                break


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
