"""Fetching a cube and putting it down, step by step, from the present scene alone.

Four moves make up every picking task. Each gives the next action for one `HandScene` and remembers nothing, so a caller
plans ahead with `scene = scene.after(action)` and asks again (`hand.see_scene` gives the first scene):

- `fetch(scene, cube, height, tempo)`: open, go above the cube, go down, close, and bring it up until the cube's center
  is at `height`. The caller asks for it until the cube is as high as it wants.
- `put(scene, place, tempo)`: carry the held cube to above `place`, lower it, release it.
- `go(scene, position, rotation, tempo)`: go there with nothing in hand and fingers closed; begins with releasing
  whatever is between the fingers, and rising from it. So it is also what follows `put`.
- `release(scene, tempo)`: the beginning of that alone: open the fingers and rise straight up.

Which of them is due is the caller's to know, from progress that its environment counts: `scene.held` tells what is in
the grip, and a held cube is on its way up (`fetch`) or down (`put`). All recover: a cube that slipped away is
approached anew, a hand that is low and off its place rises first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import pi

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.experts.hand import (
    LOOSE_GRIPPER,
    READY,
    READY_GRIPPER,
    Cube,
    HandScene,
    facing,
    grasp_clearance,
    hand_yaw,
    nearest_yaw,
)
from kc_vla_sim.experts.tool import Vector

Step = tuple[str, Vector]
"""Name of the phase, and the action: tool delta and gripper, (7,)."""

EMPTY_MARGIN = 0.035
"""An empty hand passes cubes with its tool center point so far above their tops, m."""
LEAVING_MARGIN = 0.05
"""The same before a hand that has released a cube turns away from it."""
CARRY_MARGIN = 0.045
"""The same for a hand with a cube in its grip."""
ABOVE = 0.006
"""An empty hand goes down when it is closer than this to its place in the plane, m."""
ABOVE_PLACE = 0.003
"""A held cube touches down when it is closer than this to its place in the plane, m."""
LENIENT = 0.008
"""The same for a hand in a funnel: who lifts a cube again for 4 mm may do so for ever."""
LENIENT_TURN = 0.25
"""... and that has to be turned by no more than this, rad: the rest is made up on the way down."""
NEAR_PLACE = 0.015
"""It is lowered, no further than the distance allows, when it is closer than this, m ..."""
FUNNEL = 2.5
"""... so many times higher above its place than it is off it in the plane."""
TURNED = 0.08
"""... and turned to within this, rad."""
ASTRAY = 0.012
"""A low hand that is further than this from its place in the plane rises and comes again, m."""
GRASP_DEPTH = 0.006
"""The fingers close when the tool center point is closer than this to the height of the cube's center, m."""
TOUCHDOWN = 0.003
"""A cube is released when its center is closer than this to its resting height, m."""
PRESS = 0.002
"""A cube is lowered towards so far below its resting height, m: it must touch down."""
GENTLE = 0.012
"""Highest speed (m per step) at which a hand starts from or comes to a cube's place: a jerk upwards shifts it aside."""
GENTLE_HEIGHT = 0.02
"""... as long as it is no higher than this above that place, m."""
FARTHEST_YAW = 1.75
"""The wrist turns no further than this from straight ahead, rad."""
TURN_LEVER = 0.05
"""What a turn that is still left counts for in a funnel, m per rad: the fingers reach so far out."""
CLIMBS = 0.03
"""An empty hand so far below its funnel climbs straight up, m; one that is less far below moves in the plane, too."""
CLEARS = 0.015
"""The same for one with a cube in its grip, which has to come clear of what it stood on."""
TIGHT = 0.004
"""Less free space than this around the fingers speaks against a way to grasp, m."""


@dataclass(frozen=True)
class Tempo:
    """How fast the hand moves; speeds in m per step.

    Attributes:
        travel: above everything.
        lower: down to a cube, or down with one.
        lift: up with a cube.
        settling: largest share of the way left that one step covers. Where actions arrive late, the first rows of a
            plan are never executed: a small error is only corrected if its correction outlasts them.
        funnel: go down to a cube as low as the distance, the turn and the fingers allow, in place of first coming
            above it and then going down: where it is a little off it does a little else, and never all at once.
    """

    travel: float = 0.03
    lower: float = 0.025
    lift: float = 0.03
    settling: float = 0.4
    funnel: bool = False


LEARNABLE = Tempo(travel=0.02, lower=0.012, lift=0.02, settling=0.2, funnel=True)
"""For those who learn from it: slow enough to correct on the way down what was off above, and without thresholds."""


def fetch(scene: HandScene, cube: int, height: float, tempo: Tempo) -> Step:
    """Return the next step towards holding `scene.cubes[cube]` with its center at `height` (m).

    Held cubes rise straight up. The hand must hold no other cube: `put` it down first.
    """
    target = scene.cubes[cube]
    tool = scene.tool
    if scene.held == cube:
        top = _at(tool.position, float(tool.position[2] + height - target.position[2]))
        speed = _gentle(tempo.lift, float(target.position[2]) - _floor_under(scene, cube))
        return "lift", _move(scene, tempo, top, facing(hand_yaw(tool.rotation)), speed, gripper=0.0)
    yaw = _grasp_yaw(scene, cube)
    rotation = facing(yaw)
    off = float(np.hypot(*(target.position[:2] - tool.position[:2])))
    turn = abs(hand_yaw(tool.rotation) - yaw)
    pass_height = _highest(scene.cubes) + EMPTY_MARGIN
    over = target.position[2] + CUBE_HALF_SIZE + EMPTY_MARGIN
    low = tool.position[2] < over - 0.01
    around = scene.between_fingers() == cube
    if around and scene.opening < READY - 0.004 and not _too_closed(scene):
        return "close", _move(scene, tempo, target.position, tool.rotation, tempo.lower, gripper=0.0)
    if not tempo.funnel and low and (off > ASTRAY or turn > 3 * TURNED or scene.opening < READY - 0.006):
        return "rise", _move(scene, tempo, _at(tool.position, pass_height + 0.02), tool.rotation, tempo.travel)
    deep = tool.position[2] - target.position[2] < GRASP_DEPTH
    if around and deep:
        return "close", _move(scene, tempo, target.position, rotation, tempo.lower, gripper=0.0)
    if tempo.funnel:
        return _in_funnel(scene, tempo, target, rotation, max(over, pass_height))
    ready = off < ABOVE and turn < TURNED and scene.opening > READY - 0.006
    if low or ready:
        return "descend", _move(scene, tempo, target.position, rotation, tempo.lower)
    height_there = over if off < 0.03 else max(over, pass_height)
    return "approach", _move(
        scene, tempo, _at(target.position, height_there), rotation, tempo.travel, floor=height_there
    )


def put(scene: HandScene, place: Cube, tempo: Tempo) -> Step:
    """Return the next step towards the held cube standing at `place`, its center and yaw (modulo 90 degrees), released.

    Lower `place` onto another cube by giving it the height of a cube that rests there. Once the cube is released (also
    when it slipped), this opens the fingers and rises; the caller sees `scene.held is None` and asks for what is next.
    """
    tool = scene.tool
    if scene.held is None:
        return release(scene, tempo)
    held = scene.cubes[scene.held]
    # How a cube was turned cannot be seen to the degree: on the table, one who is learnt from leaves it as it is.
    as_it_is = tempo.funnel and place.position[2] < 2 * CUBE_HALF_SIZE
    turn = 0.0 if as_it_is else nearest_yaw(place.yaw - held.yaw, 0.0)
    rotation = facing(_within_reach(hand_yaw(tool.rotation) + turn))
    grip = (rotation * tool.rotation.inv()).apply(held.position - tool.position)
    target = place.position - grip
    off = float(np.hypot(*(place.position[:2] - held.position[:2])))
    above = float(held.position[2] - place.position[2])
    near_enough = LENIENT if tempo.funnel else ABOVE_PLACE
    if above < TOUCHDOWN and off < near_enough:
        return "let go", _move(scene, tempo, tool.position, tool.rotation, tempo.lower, gripper=LOOSE_GRIPPER)
    others = (cube for k, cube in enumerate(scene.cubes) if k != scene.held)
    carry = max(_highest(others), float(place.position[2])) + CARRY_MARGIN
    if tempo.funnel:
        misfit = max(off - ABOVE_PLACE, 0.0) + TURN_LEVER * max(abs(turn) - LENIENT_TURN, 0.0)
        foot = _at(target, float(target[2]) - PRESS)
        goal, below = _funnel(scene, foot, misfit, carry, CLEARS)
        lowers = off < NEAR_PLACE and below <= 0
        speed = _gentle(tempo.lower, above) if lowers else tempo.travel
        return "lower" if lowers else "carry", _move(scene, tempo, goal, rotation, speed, gripper=0.0)
    if off < NEAR_PLACE and abs(turn) < TURNED:
        # A funnel: as low as the distance in the plane allows, so that both shrink together.
        wait_above = 0.0 if off < ABOVE_PLACE else FUNNEL * off
        lower = _at(target, float(target[2]) + wait_above - PRESS)
        return "lower", _move(scene, tempo, lower, rotation, _gentle(tempo.lower, above), gripper=0.0)
    return "carry", _move(scene, tempo, _at(target, carry), rotation, tempo.travel, gripper=0.0, floor=carry)


def release(scene: HandScene, tempo: Tempo) -> Step:
    """Return the next step towards standing open and clear above all cubes, straight up from here."""
    tool = scene.tool
    up = _at(tool.position, _highest(scene.cubes) + LEAVING_MARGIN + 0.02)
    between = scene.between_fingers()
    around = between is not None
    if around and scene.opening < READY - 0.008:
        return "let go", _move(scene, tempo, tool.position, tool.rotation, tempo.travel)
    # Fingers that are closed around nothing stay so: opening beside a cube would push it.
    gripper = READY_GRIPPER if around or not _too_closed(scene) else 0.0
    speed = _gentle(tempo.travel, 0.0 if around else GENTLE_HEIGHT)
    return "rise", _move(scene, tempo, up, tool.rotation, speed, gripper)


def go(scene: HandScene, position: Vector, rotation: Rotation, tempo: Tempo) -> Step:
    """Return the next step towards standing at `position` (3,), turned to `rotation`, with closed and empty fingers."""
    tool = scene.tool
    near = _highest(cube for cube in scene.cubes if np.hypot(*(cube.position[:2] - tool.position[:2])) < 0.06)
    if scene.held is not None or tool.position[2] < near + LEAVING_MARGIN:
        return release(scene, tempo)
    floor = min(_highest(scene.cubes) + EMPTY_MARGIN, float(position[2]))
    return "go", _move(scene, tempo, position, rotation, tempo.travel, gripper=0.0, floor=floor)


def _in_funnel(scene: HandScene, tempo: Tempo, target: Cube, rotation: Rotation, highest: float) -> Step:
    """Return the next step down to `target` with open fingers, no higher than `highest` (m)."""
    tool = scene.tool
    gap = target.position[:2] - tool.position[:2]
    off = float(np.hypot(*gap))
    turn = float((rotation * tool.rotation.inv()).magnitude())
    misfit = max(off - ABOVE_PLACE, 0.0) + TURN_LEVER * max(turn - TURNED / 2, 0.0)
    misfit += max(READY - 0.004 - scene.opening, 0.0)
    goal, below = _funnel(scene, target.position, misfit, highest, CLIMBS)
    phase = "rise" if below > CLIMBS / 2 else "descend" if off < NEAR_PLACE else "approach"
    speed = tempo.lower if off < NEAR_PLACE and below <= 0 else tempo.travel
    return phase, _move(scene, tempo, goal, rotation, speed)


def _funnel(scene: HandScene, foot: Vector, misfit: float, highest: float, climbs: float) -> tuple[Vector, float]:
    """Return where the hand goes next on its way down to `foot` (3,), and how far below its funnel it is, m.

    It is `FUNNEL` times the `misfit` above the foot, but no higher than `highest`, m; one that is lower than that by
    `climbs`, m, climbs straight up, and the closer it is, the more it moves in the plane, too.
    """
    tool = scene.tool
    height = min(float(foot[2]) + FUNNEL * misfit, highest)
    below = height - float(tool.position[2])
    goal = _at(tool.position, height)
    goal[:2] += (foot[:2] - tool.position[:2]) * float(np.clip(1 - below / climbs, 0.0, 1.0))
    return goal, below


def _move(
    scene: HandScene,
    tempo: Tempo,
    position: Vector,
    rotation: Rotation,
    speed: float,
    gripper: float = READY_GRIPPER,
    floor: float | None = None,
) -> Vector:
    """Return the action (7,) towards a pose; below `floor` (m) the hand climbs before it moves in the plane."""
    tool = scene.tool
    goal = np.array(position, float)
    if floor is not None and tool.position[2] < floor - 0.01:
        goal[:2] = tool.position[:2]
        goal[2] = max(goal[2], floor)
    return np.append(tool.delta_towards(goal, rotation, speed, tempo.settling), gripper)


def _grasp_yaw(scene: HandScene, cube: int) -> float:
    """Return the yaw of the hand for grasping a cube: free of its neighbors, and else the least turn from now."""
    target = scene.cubes[cube]
    others = [other for k, other in enumerate(scene.cubes) if k != cube]
    now = hand_yaw(scene.tool.rotation)
    first = nearest_yaw(target.yaw, 0.0)
    ways = [yaw for yaw in (first, first - pi / 2, first + pi / 2) if abs(yaw) < FARTHEST_YAW]

    def cost(yaw: float) -> float:
        # Turning far from straight ahead is for the neighbours' sake only; the bias makes a tie impossible.
        tight = max(TIGHT - grasp_clearance(yaw, target, others), 0.0)
        return abs(yaw - now) + 0.3 * abs(yaw) + 1000.0 * tight

    return min(ways, key=cost)


def _within_reach(yaw: float) -> float:
    """Return the same turn of a held cube with the wrist within its limits, rad."""
    return nearest_yaw(yaw, 0.0) if abs(yaw) > FARTHEST_YAW else yaw


def _gentle(speed: float, height: float) -> float:
    """Return `speed` (m per step), or less at no more than `GENTLE_HEIGHT` (m) above a cube's place."""
    return speed if height >= GENTLE_HEIGHT else min(speed, GENTLE)


def _floor_under(scene: HandScene, cube: int) -> float:
    """Return the height (m) at which the center of `cube` rests if it is released where it is.

    It rests on the table or on other cubes.
    """
    x, y, z = scene.cubes[cube].position
    below = (
        other
        for k, other in enumerate(scene.cubes)
        if k != cube
        and other.position[2] < z
        and np.hypot(other.position[0] - x, other.position[1] - y) < CUBE_HALF_SIZE
    )
    return _highest(below) + CUBE_HALF_SIZE


def _too_closed(scene: HandScene) -> bool:
    """Return whether the fingers are so close together that no cube can be between them."""
    return scene.opening < 0.75 * CUBE_HALF_SIZE


def _highest(cubes: Iterable[Cube]) -> float:
    """Return the height of the highest top of `cubes`, m; 0, the table's, without any."""
    return max((float(cube.position[2]) + CUBE_HALF_SIZE for cube in cubes), default=0.0)


def _at(position: Vector, height: float) -> Vector:
    """Return `position` (3,) at another height, m."""
    return np.array([position[0], position[1], height])
