"""Takes things out of what has a door, and puts them into it, with a hand that comes from the front.

A tilted hand goes in level, as far as the thing, and out level again. What a tilted hand holds stays upright.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kc_vla.skills.boxes import SUPPORTS, UprightBox, named_obstacles
from kc_vla.skills.context import SkillContext
from kc_vla.skills.front_space import FrontSpace, front_space
from kc_vla.skills.hand_turns import facing
from kc_vla.skills.hands import CLOSED_M, SLOW
from kc_vla.skills.held_thing import HeldThing
from kc_vla.skills.interface import ArmPath, MissedGraspError, SkillError, Step, Vector, first_possible
from kc_vla.skills.perceived import OPENED, PerceivedThing
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.releasing import carried, lowered_and_released
from kc_vla.skills.tool_path import ToolPose

Boxes = list[tuple[str, UprightBox]]
_NO_DOOR = frozenset({"drawer", "cabinet"})
_RAISED = np.radians([60.0, 50.0, 70.0, 45.0, 80.0, 35.0])
"""The hand is raised so far from straight down, rad: those that are tried."""
_YAWS = np.radians([0.0, 15.0, -15.0, 30.0, -30.0, 45.0, -45.0])
"""Turns of the hand from straight into the front, rad."""
_HALVES = (0.0, np.pi)
"""Turns of the hand about its own axis, rad: the fingers are the same, and one of them may be within reach."""
_ROUND = 0.9
"""What is as wide as this share of its length can be taken from any side."""
_ASKEW = np.radians(50.0)
"""The hand is turned no further than this from the front to meet a side of what is not round, rad."""
_SPARE_M, _WIDER_M = 0.005, 0.03
"""The gripper opens by at least the first more than a thing is wide, and by the second where it can, m."""
_PALM_M = 0.03
"""What is between the fingers reaches no further than this behind the tool center point, m."""
_OVER_FLOOR, _UNDER_TOP = 0.022, 0.012
"""The tool stays so far over what a thing stands on, and under its top, m."""
_LIFT_M, _OUT_M = 0.02, 0.06
"""A thing is lifted so far, and the hand begins and ends so far before the front, m."""
_DROP_M = 0.005
"""A thing is released so far above what it is to stand on, m."""
_BESIDE_M, _GRID_M = 0.008, 0.025
"""Around a thing where it is put, and between two spots that are tried, m."""
_MOST_PLANS = 12
"""So many poses, in which the hand touches nothing, are planned to at most."""


@dataclass(frozen=True, eq=False)
class TiltedPose:
    """A pose of a tilted hand at a thing.

    Attributes:
        pose: of the tool.
        wide: the fingers are so far apart before or afterwards, m.
        across: width of what is between them, m.
        turned: of the hand about its own axis, rad.
    """

    pose: ToolPose
    wide: float
    across: float
    turned: float = 0.0


def opened_front(scene: PerceivedScene, holder_id: str) -> FrontSpace | None:
    """Return the space behind the open door of a thing; None where it is none that a hand reaches into from before.

    Raises:
        SkillError: its door is closed.
    """
    holder = scene.find(holder_id)
    if holder is None or holder.object_type not in SUPPORTS - _NO_DOOR:
        return None
    if OPENED not in holder.states:
        raise SkillError(f"{holder_id} is closed")
    return front_space(holder)


def take_tilted(context: SkillContext, thing: PerceivedThing, space: FrontSpace | None) -> Iterator[Step]:
    """Yield the steps that take a thing with a tilted hand: out of a space, or from where it stands in the open.

    Raises:
        SkillError: the hand has no way to it, or has not got it.
    """
    around = _around(context.scene, thing.object_id, space)
    touch = {thing.object_id}
    failure = SkillError(f"{thing.object_id} cannot be reached from the front: there is no room for the hand")

    def ways(grasp: TiltedPose) -> tuple[ArmPath, ArmPath]:
        outside, over = _way_in(grasp.pose, space)
        approach = context.free("approach", outside, grasp.wide, around)
        way = [over, grasp.pose]
        return approach, context.clear("reach", approach.joints[-1], way, grasp.wide, SLOW, around, touch)

    grasps = _fitting(context, _grasps(context, thing, space), around, touch)
    grasp, (approach, reach) = first_possible(grasps, ways, failure)
    yield approach
    yield reach
    yield context.settled("reach")
    yield context.fingers("grasp", CLOSED_M, 0.7)
    if not context.holds(grasp.across):
        yield context.fingers("release", grasp.wide)
        yield context.along("retreat", reach.joints[::-1], grasp.wide)
        raise MissedGraspError(f"there is nothing between the fingers where {thing.object_id} was seen")
    context.held = _held(context, thing, grasp)
    yield context.along("lift", reach.joints[::-1], CLOSED_M)
    lifted_s = context.now_s
    yield from context.look_for(thing.object_id)
    if not context.grips or context.is_still_there(thing, lifted_s):
        context.held = None
        raise MissedGraspError(f"{thing.object_id} slipped out of the fingers on its way out")


def put_tilted(
    context: SkillContext, held: HeldThing, space: FrontSpace | None, grid: Iterable[tuple[float, float]]
) -> Generator[Step, None, Vector]:
    """Yield the steps that put down what a tilted hand holds.

    Args:
        context: of the skill.
        held: what is in the hand.
        space: it is put into; None for the worktop.
        grid: places on the worktop that are tried, x and y, m, the best first.

    Returns:
        Where the middle of its lower side is then (3,), m.

    Raises:
        SkillError: there is no room for it, or it fell on the way.
    """
    name = held.thing.object_id
    target = "the worktop" if space is None else space.holder.object_id
    around = _around(context.scene, name, space)
    wide = min(context.opening, held.width + _WIDER_M)

    def ways(spot: TiltedPose) -> tuple[ArmPath, ArmPath]:
        outside, over = _way_in(spot.pose, space)
        approach = context.free("carry", outside, CLOSED_M, around)
        lower = [over, spot.pose]
        return approach, context.clear("lower", approach.joints[-1], lower, CLOSED_M, SLOW, around)

    places = _on_worktop(held, grid) if space is None else _in_space(held, space)
    taken = around if space is not None else [*around, *(("", each) for each in context.keep_clear)]
    spots = _fitting(context, _spots(context, held, places, taken, space), around, ())
    failure = SkillError(f"there is no room for {name} and the hand in or on {target}")
    spot, (approach, lower) = first_possible(spots, ways, failure)
    yield from carried(context, approach, f"on the way to {target}")
    yield from lowered_and_released(context, lower, wide, target)
    return np.asarray(spot.pose.position - np.array([0.0, 0.0, held.below + _DROP_M]))


def _around(scene: PerceivedScene, name: str, space: FrontSpace | None) -> Boxes:
    """Return the boxes around a thing and a hand; the furniture that is reached into counts as its walls."""
    found = named_obstacles(scene, [name])
    if space is None:
        return found
    holder = space.holder
    whole = UprightBox.around(holder)
    kept = [
        (each, box)
        for each, box in found
        if each != holder.object_id or not np.allclose(box.middle, whole.middle, atol=1e-6)
    ]
    return [*kept, *space.walls()]


def _fitting(
    context: SkillContext,
    candidates: Iterable[TiltedPose],
    around: Boxes,
    touch: Iterable[str],
) -> Iterator[TiltedPose]:
    """Yield those of some poses at which the hand touches nothing."""
    allowed, count = frozenset(touch), 0
    for each in candidates:
        context.paths.avoid(around, context.held, each.wide)
        if context.paths.fits(each.pose, allowed):
            yield each
            count += 1
        if count >= _MOST_PLANS:
            return


def _grasps(context: SkillContext, thing: PerceivedThing, space: FrontSpace | None) -> Iterator[TiltedPose]:
    """Yield poses of a tilted hand at a thing.

    Raises:
        SkillError: the thing is too wide for the gripper.
    """
    ahead = space.yaw if space is not None else float(np.arctan2(thing.position[1], thing.position[0]))
    sides = list(_sides(thing, ahead))
    if not sides or min(across for _, across, _ in sides) > context.opening - _SPARE_M:
        raise SkillError(f"{thing.object_id} is wider than the gripper opens, {context.opening * 100:.1f} cm")
    lowest, highest = thing.bottom + _OVER_FLOOR, thing.top - _UNDER_TOP
    middle = min(max(float(thing.position[2]), lowest), max(highest, lowest))
    for raised in map(float, _RAISED):
        for yaw, across, deep in sides:
            if across > context.opening - _SPARE_M:
                continue
            back = max(0.0, deep / 2 - _PALM_M)
            place = np.array([*thing.position[:2], middle]) - back * np.array([np.cos(yaw), np.sin(yaw), 0.0])
            wide = min(context.opening, across + _WIDER_M)
            for turned in _HALVES:
                yield TiltedPose(ToolPose(place, facing(yaw, raised, turned)), wide, across, turned)


def _sides(thing: PerceivedThing, ahead: float) -> Iterator[tuple[float, float, float]]:
    """Yield yaws of the hand, and how wide and how deep the thing is then, m: those nearest to straight ahead first."""
    (x, y), yaw = thing.footprint
    if min(x, y) > _ROUND * max(x, y):
        yield from ((ahead + float(turn), max(x, y), max(x, y)) for turn in _YAWS)
        return
    quarter = np.pi / 2
    turned = [((yaw + k * quarter - ahead + np.pi) % (2 * np.pi) - np.pi, k % 2) for k in range(4)]
    for turn, odd in sorted(turned, key=lambda each: abs(each[0])):
        if abs(turn) < _ASKEW:
            yield ahead + float(turn), float(x if odd else y), float(y if odd else x)


def _way_in(pose: ToolPose, space: FrontSpace | None) -> tuple[ToolPose, ToolPose]:
    """Return poses before a front and over a pose, from which the hand goes level to it and then down."""
    ahead = pose.rotation.apply((0.0, 0.0, 1.0))
    level = np.array([ahead[0], ahead[1], 0.0])
    level /= np.linalg.norm(level)
    deep = 0.0
    if space is not None:
        into = space.holder.rotation.apply((1.0, 0.0, 0.0))
        deep = max(0.0, float(space.holder.into(pose.position)[0]) - space.front) / max(0.3, float(level @ into))
    over = pose.moved(z=_LIFT_M)
    return over.moved(*(-(deep + _OUT_M) * level).tolist()), over


def _held(context: SkillContext, thing: PerceivedThing, grasp: TiltedPose) -> HeldThing:
    pose = grasp.pose
    ahead = pose.rotation.apply((0.0, 0.0, 1.0))
    yaw = float(np.arctan2(ahead[1], ahead[0]))
    raised = float(np.arctan2(np.hypot(ahead[0], ahead[1]), -ahead[2]))
    far = float((thing.position - pose.position)[:2] @ [np.cos(yaw), np.sin(yaw)])
    below = float(pose.position[2]) - thing.bottom
    return HeldThing(thing, context.arm.width, below, thing.footprint[1] - yaw, raised, far, grasp.turned)


def _spots(
    context: SkillContext,
    held: HeldThing,
    places: Iterable[tuple[Vector, float]],
    around: Boxes,
    space: FrontSpace | None,
) -> Iterator[TiltedPose]:
    """Yield poses of the tool at which what it holds stands at a place, and touches nothing else."""
    thing = held.thing
    size = np.array([*thing.footprint[0], thing.extent[2]])
    wide = min(context.opening, held.width + _WIDER_M)
    things = [box for name, box in around if space is None or name != space.holder.object_id]
    for place, yaw in places:
        body = UprightBox(place + np.array([0.0, 0.0, size[2] / 2 + _DROP_M]), size, yaw + held.turn)
        if space is not None and not _within(body, space):
            continue
        if any(body.grown(_BESIDE_M).meets(each) for each in things):
            continue
        level = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        tool = place - held.ahead * level + np.array([0.0, 0.0, held.below + _DROP_M])
        yield TiltedPose(ToolPose(tool, facing(yaw, held.raised, held.turned)), wide, held.width)


def _on_worktop(held: HeldThing, grid: Iterable[tuple[float, float]]) -> Iterator[tuple[Vector, float]]:
    """Yield places on the worktop (3,), m, and yaws of the hand there."""
    for x, y in grid:
        ahead = float(np.arctan2(y, x))
        yield from ((np.array([x, y, 0.0]), ahead + float(turn)) for turn in _YAWS)


def _in_space(held: HeldThing, space: FrontSpace) -> Iterator[tuple[Vector, float]]:
    """Yield places in a space (3,), m, and yaws of the hand there."""
    for x, y in _grid(space, float(np.min(held.thing.footprint[0])) / 2):
        place = space.holder.out(np.array([x, y, space.low[2]]))
        yield from ((place, space.yaw + float(turn)) for turn in _YAWS)


def _grid(space: FrontSpace, reach: float) -> list[tuple[float, float]]:
    """Return places in the frame of the furniture, m: those in front and in the middle first."""
    middle = float(space.low[1] + space.high[1]) / 2
    xs = np.arange(space.low[0] + min(reach, 0.03), space.high[0], _GRID_M)
    ys = np.arange(space.low[1], space.high[1], _GRID_M)
    found = [(float(x), float(y)) for x in xs for y in ys]
    return sorted(found, key=lambda each: 0.7 * (each[0] - space.low[0]) + abs(each[1] - middle))


def _within(body: UprightBox, space: FrontSpace) -> bool:
    corners = space.holder.into(np.column_stack([body.corners, np.full(4, body.middle[2])]))
    high = body.middle[2] + body.size[2] / 2 + _LIFT_M - space.holder.position[2]
    inside = (corners[:, :2] >= space.low[:2]).all() and (corners[:, :2] <= space.high[:2]).all()
    return bool(inside and high <= space.high[2])
