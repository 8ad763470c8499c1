"""Moments of a kitchen that a detector is trained on: postures, openings, places and states by chance.

Nothing moves from one to the next: each is put together, and drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import sapien
import torch
from mani_skill.utils.structs import Pose
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.kitchen import KitchenEnv
from kc_vla_sim.envs.kitchen_bodies import to_sapien
from kc_vla_sim.envs.kitchen_thing import KitchenThing
from kc_vla_sim.envs.kitchen_unit import FurnitureUnit
from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.kitchen.footprints import Footprint
from kc_vla_sim.kitchen.furniture import StorageSpace

_LOWEST = (-1.3, -1.3, -0.4, -2.8, -0.6, 1.0, -0.4, 0.0, 0.0)
_HIGHEST = (1.3, 0.6, 0.4, -1.2, 0.6, 2.7, 2.0, 0.04, 0.04)
"""Postures are between these: seven joints (rad) and two fingers (m)."""
_TOOL_Z = (0.05, 0.75)
"""How high the tool is then, m."""
_LOOKS_UP = 0.25
"""The wrist's camera looks no further up than this, as the z of its axis."""
_POSTURES_TRIED, _SPOTS_TRIED = 30, 20
_OFTEN_CLOSED, _OFTEN_OFF = 0.45, 0.5
_OFTEN_MOVED, _OFTEN_WORKTOP, _OFTEN_HELD = 0.6, 0.6, 0.3
_WORKTOP_LOW, _WORKTOP_HIGH = (-0.1, -0.66), (0.48, 0.66)
_GRASPED_M = 0.07
"""Widest thing that the gripper holds."""
_MARGIN_M = 0.008


@dataclass(frozen=True)
class Moment:
    """A moment as it was put together.

    Attributes:
        held: id of the thing in the gripper; empty for none.
    """

    held: str


def draw_moment(world: KitchenEnv, chance: np.random.Generator) -> Moment:
    """Put a kitchen into a moment drawn by chance."""
    for unit in world.kitchen.units.values():
        _open(world, unit, chance)
        unit.switch(unit.furniture.switched and chance.random() > _OFTEN_OFF and not _is_opened(unit))
    things = list(world.kitchen.things.values())
    for thing in things:
        thing.set_state(str(chance.choice(thing.states)))
        if chance.random() < _OFTEN_MOVED or _in_the_air(world, thing):
            _move(world, thing, chance)
    _pose_arm(world, chance)
    graspable = [each for each in things if each.placed.kind.graspable and min(each.body.size[:2]) < _GRASPED_M]
    if graspable and chance.random() < _OFTEN_HELD:
        thing = graspable[int(chance.integers(len(graspable)))]
        _hold(world, thing, chance)
        return Moment(thing.placed.thing_id)
    return Moment("")


def _is_opened(unit: FurnitureUnit) -> bool:
    return any(unit.opened(name) for name in unit.openings)


def _open(world: KitchenEnv, unit: FurnitureUnit, chance: np.random.Generator) -> None:
    """Open and close drawers and doors; what is in a drawer moves with it."""
    openings = {
        each.name: 0.0 if chance.random() < _OFTEN_CLOSED else each.travel * float(chance.uniform(0.15, 1.0))
        for each in unit.furniture.moving
    }
    inside = []
    for thing in world.kitchen.things.values():
        relation, holder = world.kitchen.holder_of(thing.pose.p, thing.lowest)
        if relation == "in" and holder in openings and any(s.moving == holder for s in unit.furniture.spaces):
            inside.append((thing, holder, unit.link_pose(holder).inv() * thing.pose))
    unit.set_openings(openings)
    for thing, holder, relative in inside:
        _put(thing, unit.link_pose(holder) * relative)


def _in_the_air(world: KitchenEnv, thing: KitchenThing) -> bool:
    """Return whether nothing holds a thing: the gripper held it in the moment before."""
    return not world.kitchen.holder_of(thing.pose.p, thing.lowest)[1]


def _move(world: KitchenEnv, thing: KitchenThing, chance: np.random.Generator) -> None:
    """Put a thing somewhere else, if there is room where it is looked for."""
    others = [each for each in world.kitchen.things.values() if each is not thing]
    places = [_on_worktop(world, thing, chance), _in_spaces(world, thing, chance)]
    for pose in chain(*(places if chance.random() < _OFTEN_WORKTOP else places[::-1])):
        if all(_apart(thing, pose, each) for each in others):
            _put(thing, pose)
            return


def _on_worktop(world: KitchenEnv, thing: KitchenThing, chance: np.random.Generator) -> Iterator[sapien.Pose]:
    width, depth, height = thing.body.size
    taken = [unit.placed.footprint.grown(_MARGIN_M) for unit in world.kitchen.units.values()]
    for _ in range(_SPOTS_TRIED):
        x, y = chance.uniform(_WORKTOP_LOW, _WORKTOP_HIGH)
        yaw = float(chance.uniform(-np.pi, np.pi))
        if np.hypot(x, y) > 0.2 and not Footprint(float(x), float(y), width, depth, yaw).overlaps_any(taken):
            yield ROBOT_BASE * to_sapien((x, y, height / 2), Rotation.from_euler("z", yaw))


def _in_spaces(world: KitchenEnv, thing: KitchenThing, chance: np.random.Generator) -> Iterator[sapien.Pose]:
    spaces: list[tuple[FurnitureUnit, StorageSpace]] = list(world.kitchen.spaces())
    half = float(np.hypot(*thing.body.size[:2])) / 2
    for _ in range(_SPOTS_TRIED):
        unit, space = spaces[int(chance.integers(len(spaces)))]
        low, high = np.array(space.low[:2]) + half, np.array(space.high[:2]) - half
        if (low < high).all() and thing.body.size[2] < space.extent[2]:
            x, y = chance.uniform(low, high)
            turn = Rotation.from_euler("z", float(chance.uniform(-np.pi, np.pi)))
            local = to_sapien((x, y, space.low[2] + thing.body.size[2] / 2), turn)
            yield unit.link_pose(space.moving) * local


def _apart(thing: KitchenThing, pose: sapien.Pose, other: KitchenThing) -> bool:
    """Return whether a thing at a pose is beside another one, or above or below it."""
    gap = np.abs(np.array(pose.p) - other.pose.p)
    wide = (np.hypot(*thing.body.size[:2]) + np.hypot(*other.body.size[:2])) / 2
    high = (thing.body.size[2] + other.body.size[2]) / 2
    return bool(np.hypot(*gap[:2]) > 0.85 * wide or gap[2] > high)


def _pose_arm(world: KitchenEnv, chance: np.random.Generator) -> None:
    """Put the arm into a posture with the tool above the worktop and its camera not at the ceiling."""
    for _ in range(_POSTURES_TRIED):
        posture = chance.uniform(_LOWEST, _HIGHEST)
        posture[8] = posture[7]
        world.agent.reset(torch.as_tensor(posture[None], dtype=torch.float32, device=world.device))
        tool = world.agent.tcp.pose.sp
        ahead = tool.to_transformation_matrix()[2, 2]
        if _TOOL_Z[0] < tool.p[2] < _TOOL_Z[1] and ahead < _LOOKS_UP:
            return


def _hold(world: KitchenEnv, thing: KitchenThing, chance: np.random.Generator) -> None:
    """Put a thing between the fingers, its upper part in the grasp."""
    width, depth, height = thing.body.size
    turned = 0.0 if depth <= width else np.pi / 2
    upside = Rotation.from_euler("z", turned) * Rotation.from_euler("x", np.pi)
    down = float(chance.uniform(0.0, 0.3)) * height
    _put(thing, world.agent.tcp.pose.sp * to_sapien((0.0, 0.0, down), upside))
    posture = world.agent.robot.get_qpos()[0].clone()
    posture[7:] = min(0.04, min(width, depth) / 2)
    world.agent.reset(posture[None])


def _put(thing: KitchenThing, pose: sapien.Pose) -> None:
    thing.actor.set_pose(Pose.create(pose))
