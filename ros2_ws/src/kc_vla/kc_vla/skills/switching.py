"""Switches devices on and off with closed fingers, and judges that by looking again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.skills.boxes import named_obstacles
from kc_vla.skills.context import SkillContext
from kc_vla.skills.hand_turns import facing
from kc_vla.skills.hands import CLOSED_M, SLOW
from kc_vla.skills.interface import ArmPath, HoldStage, Skill, SkillError, Step, Vector, first_possible
from kc_vla.skills.looking import is_seen, look_at
from kc_vla.skills.set_aside import with_free_hand
from kc_vla.skills.switches import SwitchPlace, switch_of
from kc_vla.skills.tool_path import ToolPose

ON, OFF = "on", "off"
_TIP_M = 0.01
"""Closed fingers reach so far beyond the tool center point, m."""
_BEFORE, _NEAR, _BEYOND = 0.07, 0.014, 0.01
"""The hand goes straight from so far before a switch to the second, and presses up to the third beyond it, m."""
_FELT_M = 0.002
"""It presses until the arm is held back by so much, m."""
_PRESS_SPEED, _PRESSED_AT_ONCE = 0.03, 2
"""It presses so fast, m/s, in pieces of so many set-points, and waits after each, s."""
_STAY_S = 0.15
_OFF_M = 0.008
"""A finger that was so far beside a switch has not pressed it, m."""
_UP = 0.7
"""A switch whose direction rises by more than this is pressed from above."""
_FROM_ABOVE = tuple(
    (np.radians(yaw), np.radians(raised), np.radians(turned))
    for raised, yaws in ((0, (0,)), *((raised, (0, 40, -40, 75, -75)) for raised in (30, 50, 65)))
    for yaw in yaws
    for turned in (0, 90)
)
_FROM_BEFORE = tuple(
    (np.radians(yaw), np.radians(raised), np.radians(turned))
    for raised in (90, 75, 60, 45)
    for yaw in (0, 20, -20, 40, -40)
    for turned in (0, 90)
)


def switch_on(context: SkillContext, object_id: str) -> Skill:
    """Switch a device on. What is in the hand is put aside meanwhile."""
    return _switched(context, object_id, ON)


def switch_off(context: SkillContext, object_id: str) -> Skill:
    """Switch a device off. What is in the hand is put aside meanwhile."""
    return _switched(context, object_id, OFF)


def _switched(context: SkillContext, object_id: str, state: str) -> Skill:
    yield from context.look_for(object_id)
    if state in context.scene.need(object_id).states and (yield from is_seen(context, object_id, state)):
        return f"{object_id} is {state} already"
    thing = context.scene.need(object_id)
    next(_hands(switch_of(thing), thing.yaw))  # nothing moves for a switch that cannot be pressed
    yield from look_at(context, object_id)  # from near its place is measured better
    switch = switch_of(context.scene.need(object_id))
    yield from with_free_hand(context, _pressed(context, object_id, switch, state))
    return ""


def _pressed(context: SkillContext, name: str, switch: SwitchPlace, state: str) -> Iterator[Step]:
    yield from _touched(context, name, switch)
    if (yield from is_seen(context, name, state)):
        return
    again = switch_of(context.scene.need(name))
    if float(np.linalg.norm(again.position - switch.position)) > _OFF_M:  # it was pressed beside the switch
        yield from _touched(context, name, again)
    if not (yield from is_seen(context, name, state)):
        raise SkillError(f"{name} is not seen {state} after its switch was pressed")


def _touched(context: SkillContext, name: str, switch: SwitchPlace) -> Iterator[Step]:
    """Yield the steps that press a switch, and look at the device then."""
    around, yaw = named_obstacles(context.scene), context.scene.need(name).yaw
    failure = SkillError(f"a finger cannot reach the switch of {name}")

    def ways(hand: Rotation) -> tuple[ArmPath, ArmPath, ArmPath]:
        before, near, beyond = (_at(switch, hand, far) for far in (-_BEFORE, -_NEAR, _BEYOND))
        approach = context.free("approach", before, CLOSED_M, around)
        reach = context.clear("reach", approach.joints[-1], [near], CLOSED_M, SLOW, around)
        return (
            approach,
            reach,
            context.clear("press", reach.joints[-1], [beyond], CLOSED_M, _PRESS_SPEED, around, {name}),
        )

    hand, (approach, reach, press) = first_possible(_hands(switch, yaw), ways, failure)
    yield approach
    yield reach
    yield context.settled("reach")
    yield from _pushed(context, press.joints, hand.apply((0.0, 0.0, 1.0)))
    yield context.along("retreat", reach.joints[::-1], CLOSED_M)
    yield from look_at(context, name)


def _pushed(context: SkillContext, joints: Vector, ahead: Vector) -> Iterator[Step]:
    """Yield a way in pieces until the arm is held back along a direction (3,), and the way back to its beginning."""
    free_m, done = _behind(context, ahead), 0
    while done < len(joints) and _behind(context, ahead) < free_m + _FELT_M:
        yield context.along("press", joints[done : done + _PRESSED_AT_ONCE], CLOSED_M)
        yield HoldStage("press", context.steps(_STAY_S))
        done = min(done + _PRESSED_AT_ONCE, len(joints))
    yield context.along("retreat", joints[:done][::-1], CLOSED_M)


def _behind(context: SkillContext, ahead: Vector) -> float:
    """Return how far the tool is behind where it was sent, along a direction (3,), m."""
    return float((context.tool.position - context.paths.tool_at(context.arm.joints).position) @ ahead)


def _at(switch: SwitchPlace, hand: Rotation, far: float) -> ToolPose:
    """Return the pose of a hand whose fingers end so far beyond a switch, m."""
    return ToolPose(switch.position + (far - _TIP_M) * hand.apply((0.0, 0.0, 1.0)), hand)


def _hands(switch: SwitchPlace, ahead: float) -> Iterator[Rotation]:
    """Yield turns of a hand that presses a switch, the straightest first.

    Args:
        switch: that is pressed.
        ahead: direction into the front of the device, rad.

    Raises:
        SkillError: the switch looks down.
    """
    x, y, z = switch.normal.tolist()
    if z < -_UP:
        raise SkillError("a switch that looks down cannot be pressed")
    inwards = ahead if z > _UP else float(np.arctan2(-y, -x))
    ways = _FROM_ABOVE if z > _UP else _FROM_BEFORE
    yield from (facing(inwards + yaw, raised, turned) for yaw, raised, turned in ways)
