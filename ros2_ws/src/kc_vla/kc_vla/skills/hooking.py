"""Pulls and pushes drawers with a tilted hand, where another handle is in the way of a hand from above."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from kc_vla.perception.front_record import HANDLE
from kc_vla.planning.obstacles import Clearing, Obstacle
from kc_vla.skills.boxes import UprightBox, fitted, named_obstacles
from kc_vla.skills.context import SkillContext
from kc_vla.skills.hand_turns import facing
from kc_vla.skills.handles import PULL_SLACK, SHUT_PAST_M, Handle, handle_of
from kc_vla.skills.hands import ABOVE, CLOSED_M, SLOW
from kc_vla.skills.interface import ArmPath, ObstructedError, SkillError, Step, first_possible
from kc_vla.skills.perceived import CLOSED, OPENED, PerceivedThing
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.tool_path import ToolPose

_HANDS = tuple((np.radians(raised), turned) for raised in (40, 45, 50, 35, 55, 30, 65) for turned in (np.pi, 0.0))
"""How far the hand is raised from straight down, and turned about its own axis, rad: those that are tried."""
_OVER, _DEEP = 0.022, 0.005
"""The middle of a finger that pulls is so far from that of the bar, across the hand, and this is how far its tool
center point is beyond the bar, along the hand, m."""
_BEFORE, _HIGH = 0.026, 0.003
"""The tool center point of a finger that pushes is so far before the middle of the bar, and so high above it, m."""
_LESS = 0.6
"""A drawer is pulled by this share of the way where the arm cannot follow for all of it."""
_FREED = 0.006
"""A finger goes so far away from the bar before it is drawn back, m."""
_BESIDE_M, _ABOVE_M = 0.1, 0.02
"""A bar is above another that is no further beside it than the first, and lower by the second, m."""
_LOW_M = 0.06
"""A bar so far below the top of its cabinet has another drawer above it, m."""
_SLIP = 0.02
"""A tilted finger goes so far along a bar before that follows, m."""


def is_beneath(scene: PerceivedScene, drawer: PerceivedThing, handle: Handle) -> bool:
    """Return whether a hand from above would touch what is above a handle: another drawer or its bar."""
    cabinet = scene.find(drawer.container[1])
    if cabinet is not None and cabinet.top - handle.position[2] > _LOW_M:
        return True
    for _, other in _handles(scene):
        away = other.position - handle.position
        if away[2] > _ABOVE_M and np.linalg.norm(away[:2]) < _BESIDE_M:
            return True
    return False


def slid_from_front(context: SkillContext, drawer: PerceivedThing, handle: Handle, to: float) -> Iterator[Step]:
    """Yield the steps that hook the bar of a drawer with a tilted hand, and pull or push it.

    Args:
        context: of the skill.
        drawer: that is moved.
        handle: of it.
        to: how far it is to be open, m; 0 for closed.
    """
    pulls, name = to > handle.opening, drawer.object_id
    around = [*named_obstacles(context.scene), *_closed_drawers(context.scene)]

    def ways(way: tuple[float, tuple[float, float]]) -> tuple[ArmPath, ArmPath, ArmPath, ArmPath]:
        to, hand = way
        start = _hooked(handle, handle.opening, hand, pulls)
        end = _hooked(handle, to + _SLIP if pulls else to - SHUT_PAST_M, hand, pulls)
        ahead = start.rotation.apply((0.0, 0.0, 1.0))
        freed = end.moved(*((-_FREED if pulls else SHUT_PAST_M + _FREED) * handle.out).tolist())
        back = freed.moved(*(-ABOVE * ahead).tolist())
        approach = context.free("approach", start.moved(*(-ABOVE * ahead).tolist()), CLOSED_M, around)
        reach = context.clear("reach", approach.joints[-1], [start], CLOSED_M, SLOW, around, {name})
        stage = "pull" if pulls else "push"
        move = context.clear(stage, reach.joints[-1], [end], CLOSED_M, SLOW, around, {name})
        retreat = context.clear("retreat", move.joints[-1], [freed, back], CLOSED_M, SLOW, around, {name})
        return approach, reach, ArmPath(stage, move.joints, move.widths, PULL_SLACK), retreat

    ends = (to, _LESS * to) if pulls else (to,)
    failure = SkillError(f"the handle of {name} cannot be reached from the front")
    _, (approach, reach, move, retreat) = first_possible(product(ends, _HANDS), ways, failure)
    yield approach
    yield reach
    yield move
    yield context.settled(move.stage)
    yield retreat


def check_above(scene: PerceivedScene, drawer: PerceivedThing) -> None:
    """Check that nothing above a drawer is open. Raises: SkillError: another drawer is, and hides its handle."""
    for each in scene.all():
        over = each.position[2] > drawer.position[2] and each.container == drawer.container
        if each.object_type == "drawer" and over and OPENED in each.states:
            what = f"{each.object_id} is open above the handle of {drawer.object_id}"
            raise ObstructedError(what, Obstacle(each.object_id, Clearing.CLOSE))


def _hooked(handle: Handle, opening: float, hand: tuple[float, float], pulls: bool) -> ToolPose:
    """Return the pose of a hand at a bar: behind and above it to pull, before it to push."""
    yaw, (raised, turned) = handle.yaw(0.0), hand
    rotation = facing(yaw, raised, turned)
    if not pulls:
        return ToolPose(handle.at(opening, -_BEFORE) + np.array([0.0, 0.0, _HIGH]), rotation)
    over, ahead = facing(yaw, raised).apply((1.0, 0.0, 0.0)), rotation.apply((0.0, 0.0, 1.0))
    return ToolPose(handle.at(opening) + _OVER * over + _DEEP * ahead, rotation)


def _closed_drawers(scene: PerceivedScene) -> Iterator[tuple[str, UprightBox]]:
    """Yield the boxes of drawers that are closed: their fronts are before that of the cabinet."""
    for each in scene.all():
        if each.object_type == "drawer" and CLOSED in each.states:
            yield each.object_id, fitted(scene, each)


def _handles(scene: PerceivedScene) -> Iterator[tuple[PerceivedThing, Handle]]:
    """Yield each thing that a handle was seen of, with that; what is reported of it and is no place is left out."""
    for each in scene.all():
        if HANDLE in each.attributes:
            try:
                yield each, handle_of(each)
            except SkillError:
                continue
