"""The bodies of a kitchen in a scene: their states, and the objects that they are. For one environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import sapien
import torch
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.kitchen_bodies import (
    JOINT_DAMPING,
    build_articulated,
    build_fixed,
    build_free,
    drawn,
    entity_of,
    show,
    to_sapien,
)
from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.geometry import to_pose
from kc_vla_sim.kitchen.bodies import Part, ShapedBody
from kc_vla_sim.kitchen.furniture import StorageSpace
from kc_vla_sim.kitchen.kinds import WORKTOP
from kc_vla_sim.kitchen.layout import KitchenLayout, PlacedFurniture, PlacedThing

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene

OPENED_SHARE = 0.1
"""What is open by more than this share of its travel is opened."""
_DRIVE = {"prismatic": (60.0, 40.0, 20.0), "revolute": (3.0, 2.0, 1.0)}
"""Stiffness, damping and greatest force of a drive, by the type of the joint: N/m, Ns/m, N or Nm/rad, Nms/rad, Nm."""
_PUSHED_OUT = 0.5
"""A thing that is squeezed is pushed out no faster than this, m/s."""
_ON_TOP = 0.05
"""A thing is on a space while its underside is no further than this above it, m."""


class KitchenThing:
    """A thing in a scene."""

    def __init__(self, scene: ManiSkillScene, placed: PlacedThing) -> None:
        self.placed = placed
        turn = Rotation.from_euler("z", placed.yaw)
        pose = ROBOT_BASE * to_sapien((placed.x, placed.y, placed.z + 0.001), turn)
        self.body = placed.body
        self.actor = build_free(scene, placed.thing_id, self.body.solids, pose)
        self._rigid.max_depenetration_velocity = _PUSHED_OUT
        self._bodies = {state: self._body_in(state) for state in placed.kind.states if self._can_be(state)}
        self._looks = {state: drawn(body.merged()) for state, body in self._bodies.items()}
        for each in self._looks.values():
            entity_of(self.actor).add_component(each)
        self.state = placed.state
        self.set_state(placed.state)

    def set_state(self, state: str) -> None:
        """Let it look as in a state.

        Raises:
            ValueError: it has no such state, or another shape in it, as what is sliced.
        """
        if state not in self._looks:
            told = ", ".join(f"'{each}'" for each in self._looks)
            raise ValueError(f"{self.placed.thing_id} cannot become '{state}': choose one of {told}")
        self.state = state
        for each, look in self._looks.items():
            show(look, each == state)

    @property
    def states(self) -> tuple[str, ...]:
        """Return those that it can be set to."""
        return tuple(self._looks)

    @property
    def pose(self) -> sapien.Pose:
        """Return its pose in the world."""
        return self.actor.pose.sp

    def carry(self, pose: sapien.Pose) -> None:
        """Put it at a pose in the world, where it stays whatever touches it until it is released."""
        self._rigid.kinematic = True
        self.actor.set_pose(pose)

    def release(self) -> None:
        """Let it fall from where it is."""
        self._rigid.kinematic = False
        self._rigid.linear_velocity = self._rigid.angular_velocity = np.zeros(3, np.float32)
        self._rigid.wake_up()

    @property
    def _rigid(self) -> sapien.physx.PhysxRigidDynamicComponent:
        return entity_of(self.actor).find_component_by_type(sapien.physx.PhysxRigidDynamicComponent)

    def _body_in(self, state: str) -> ShapedBody:
        placed = self.placed
        return placed.kind.made(placed.colour, state, placed.scale)

    def _can_be(self, state: str) -> bool:
        return (state == "sliced") == (self.placed.state == "sliced")


class FurnitureUnit:
    """A piece of furniture in a scene."""

    def __init__(self, scene: ManiSkillScene, placed: PlacedFurniture) -> None:
        self.placed = placed
        self.furniture = placed.furniture
        self.pose = ROBOT_BASE * to_sapien((placed.x, placed.y, 0.0), Rotation.from_euler("z", placed.yaw))
        """Pose of its frame in the world."""
        if self.furniture.moving:
            self.joints = build_articulated(scene, self.furniture, self.pose)
            links = [entity_of(link) for link in self.joints.links]
        else:
            fixed = build_fixed(scene, self.furniture.name, self.furniture.parts, self.furniture.solids, self.pose)
            links = [entity_of(fixed)]
        self.root = links[0]
        """Entity of what does not move."""
        self.links = dict(zip((each.name for each in self.furniture.moving), links[1:], strict=True))
        """Entity of each drawer and door."""
        self._lights = []
        lit = {self.root: self.furniture.lit, **{self.links[each.name]: each.lit for each in self.furniture.moving}}
        for link, parts in lit.items():
            if parts:
                self._lights.append(drawn(parts))
                link.add_component(self._lights[-1])
        self.on = False

    def switch(self, on: bool) -> None:
        """Switch it on or off."""
        self.on = on
        for each in self._lights:
            show(each, on)

    @property
    def openings(self) -> dict[str, float]:
        """Return how far its drawers and doors are open, m or rad."""
        if not self.furniture.moving:
            return {}
        values = self.joints.qpos[0].tolist()
        return {each.name: value for each, value in zip(self.furniture.moving, values, strict=True)}

    def set_openings(self, openings: Mapping[str, float]) -> None:
        """Put its drawers and doors where they are open so far, m or rad, at rest."""
        if self.furniture.moving:
            values = [openings[each.name] for each in self.furniture.moving]
            self.joints.set_qpos(torch.tensor([values], dtype=torch.float32))
            self.joints.set_qvel(torch.zeros((1, len(values))))

    def drive(self, name: str, opening: float) -> None:
        """Pull one of its drawers or doors towards an opening, m or rad, until it is released."""
        joint = self._joint(name)
        joint.set_drive_properties(*_DRIVE[joint.type])
        joint.set_drive_target(opening)

    def release(self, name: str) -> None:
        """Leave one of its drawers or doors where it is."""
        joint = self._joint(name)
        joint.set_drive_properties(0.0, JOINT_DAMPING[joint.type])

    def _joint(self, name: str) -> sapien.physx.PhysxArticulationJoint:
        number = [each.name for each in self.furniture.moving].index(name)
        return self.joints._objs[0].active_joints[number]

    def link_pose(self, moving: str) -> sapien.Pose:
        """Return the pose in the world of one of its drawers or doors, or of itself for an empty name."""
        return self.links[moving].pose if moving else self.pose

    def opened(self, name: str) -> bool:
        """Return whether one of its drawers or doors is opened."""
        return self.openings[name] > OPENED_SHARE * self.furniture.piece(name).travel


class Kitchen:
    """The furniture and the things of an episode."""

    def __init__(self, scene: ManiSkillScene, layout: KitchenLayout) -> None:
        self.layout = layout
        self.units = {each.furniture.name: FurnitureUnit(scene, each) for each in layout.furniture}
        self.things = {each.thing_id: KitchenThing(scene, each) for each in layout.things}

    def begin(self) -> None:
        """Put furniture into the state of the layout; things are where they were built."""
        for unit in self.units.values():
            unit.set_openings(unit.placed.openings)
            unit.switch(unit.placed.on)

    def unit_of(self, name: str) -> FurnitureUnit:
        """Return the furniture that is, or has, the object of a name.

        Raises:
            KeyError: there is none.
        """
        for unit in self.units.values():
            if name == unit.furniture.name or name in unit.links:
                return unit
        raise KeyError(f"no furniture '{name}' in this kitchen")

    def spaces(self) -> Iterator[tuple[FurnitureUnit, StorageSpace]]:
        """Yield every space of the furniture."""
        for unit in self.units.values():
            for space in unit.furniture.spaces:
                yield unit, space

    def holder_of(self, position: NDArray[np.float64], height: float) -> tuple[str, str]:
        """Return what holds a thing: "in" or "on" and a name, or two empty texts for one in the air.

        Args:
            position: of its middle in the world, m.
            height: of the thing, m.
        """
        for unit, space in self.spaces():
            x, y, z = (unit.link_pose(space.moving).inv() * sapien.Pose(p=position)).p.tolist()
            inside = space.low[0] <= x <= space.high[0] and space.low[1] <= y <= space.high[1]
            above = z - height / 2 - space.low[2]
            if inside and -0.01 <= above <= (space.extent[2] if space.relation == "in" else _ON_TOP):
                return space.relation, space.holder
        return ("on", WORKTOP) if position[2] - height / 2 < _ON_TOP else ("", "")

    def objects(self) -> tuple[GroundTruthObject, ...]:
        """Return everything in the kitchen as it is now, furniture first."""
        return (*self._furniture(), *map(self._thing, self.things.values()))

    def object_ids(self) -> dict[int, str]:
        """Return the object of each number in a segmentation."""
        ids = {}
        for unit in self.units.values():
            ids[unit.root.per_scene_id] = unit.furniture.name
            ids.update({entity.per_scene_id: name for name, entity in unit.links.items()})
        ids.update({entity_of(thing.actor).per_scene_id: name for name, thing in self.things.items()})
        return ids

    def points_of(self, name: str) -> NDArray[np.float64]:
        """Return points (N, 3) of the surface of an object as it is now, in the world, m.

        Raises:
            KeyError: there is no such object.
        """
        if name in self.things:
            thing = self.things[name]
            return _points(thing.body.parts, thing.pose)
        unit = self.unit_of(name)
        moving = [_points(each.parts, unit.link_pose(each.name)) for each in unit.furniture.moving if each.name == name]
        fixed = [_points(unit.furniture.parts, unit.pose)] if name == unit.furniture.name else []
        return np.concatenate([*fixed, *moving])

    def _furniture(self) -> Iterator[GroundTruthObject]:
        for unit in self.units.values():
            furniture, openings = unit.furniture, unit.openings
            height = furniture.size[2]
            state, also = "", ""
            if furniture.name in openings:
                state = "opened" if unit.opened(furniture.name) else "closed"
            if furniture.switched:
                power = "on" if unit.on else "off"
                state, also = (power, state) if unit.on or not state else (state, power)
            attributes = {"colour": furniture.colour, "also": also}
            yield GroundTruthObject(
                furniture.name,
                furniture.object_type,
                state,
                to_pose(unit.pose * sapien.Pose(p=[0, 0, height / 2])),
                furniture.size,
                {name: text for name, text in attributes.items() if text},
            )
            for piece in furniture.moving:
                if piece.name == furniture.name:
                    continue
                size = np.subtract(piece.high, piece.low).tolist()
                middle = (np.add(piece.high, piece.low) / 2).tolist()
                yield GroundTruthObject(
                    piece.name,
                    piece.object_type,
                    "opened" if unit.opened(piece.name) else "closed",
                    to_pose(unit.link_pose(piece.name) * sapien.Pose(p=middle)),
                    (size[0], size[1], size[2]),
                    {"colour": furniture.colour, "place": f"in {furniture.name}"},
                )

    def _thing(self, thing: KitchenThing) -> GroundTruthObject:
        pose = thing.pose
        relation, holder = self.holder_of(pose.p, thing.body.size[2])
        place = f"{relation} {holder}" if holder else ""
        attributes = {"colour": thing.placed.colour, "place": place}
        return GroundTruthObject(
            thing.placed.thing_id,
            thing.placed.kind.name,
            thing.state,
            to_pose(pose),
            thing.body.size,
            {name: text for name, text in attributes.items() if text},
        )


def _points(parts: Sequence[Part], pose: sapien.Pose) -> NDArray[np.float64]:
    matrix = pose.to_transformation_matrix().astype(float)
    vertices = np.concatenate([part.mesh.vertices for part in parts])
    points: NDArray[np.float64] = vertices @ matrix[:3, :3].T + matrix[:3, 3]
    return points
