"""The kitchen of an episode in a scene: its furniture and things, and the objects that they are.

For one environment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sapien
from numpy.typing import NDArray

from kc_vla.perception.front_record import front_attributes
from kc_vla.skills.switches import SWITCH
from kc_vla_sim.envs.kitchen_bodies import entity_of
from kc_vla_sim.envs.kitchen_thing import KitchenThing
from kc_vla_sim.envs.kitchen_unit import FurnitureUnit
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.geometry import to_pose
from kc_vla_sim.kitchen.bodies import Part
from kc_vla_sim.kitchen.furniture import Moving, PushSwitch, StorageSpace
from kc_vla_sim.kitchen.kinds import WORKTOP
from kc_vla_sim.kitchen.placed import KitchenLayout

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene

_ON_TOP = 0.05
"""A thing is on a space while its underside is no further than this above it, m."""


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
            if unit.switched_by is not None:
                unit.switched_by.begin()

    def feel(self, contacts: Iterable[Any], fingers: Collection[sapien.Entity], seconds: float) -> None:
        """Switch what was pressed in a control step: see `PressedSwitch.pressed`."""
        for unit in self.units.values():
            if unit.switched_by is not None and unit.switched_by.pressed(contacts, fingers, seconds):
                unit.press()

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

    def holder_of(self, position: NDArray[np.float64], lowest: float) -> tuple[str, str]:
        """Return what holds a thing: "in" or "on" and a name, or two empty texts for one in the air.

        Args:
            position: of its middle in the world, m.
            lowest: height of its lowest point in the world, m.
        """
        for unit, space in self.spaces():
            x, y, z = unit.within(space.moving, position)
            above = z - (float(position[2]) - lowest) - space.low[2]
            inside = space.low[0] <= x <= space.high[0] and space.low[1] <= y <= space.high[1]
            if inside and -0.01 <= above <= (space.extent[2] if space.relation == "in" else _ON_TOP):
                return space.relation, space.holder
        return ("on", WORKTOP) if lowest < _ON_TOP else ("", "")

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
            if furniture.name in openings:
                attributes |= _handle(unit, furniture.piece(furniture.name))
            if furniture.switch is not None:
                attributes[SWITCH] = _switch(unit, furniture.switch)
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
                    {"colour": furniture.colour, "place": f"in {furniture.name}", **_handle(unit, piece)},
                )

    def _thing(self, thing: KitchenThing) -> GroundTruthObject:
        pose = thing.pose
        relation, holder = self.holder_of(pose.p, thing.lowest_at(pose))
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


def _handle(unit: FurnitureUnit, piece: Moving) -> dict[str, str]:
    """Return what a detector says of a handle, see `kc_vla.skills.handles`: in the frame of the arm's base."""
    handle = to_pose(unit.link_pose(piece.name) * sapien.Pose(p=piece.handle)).position
    hinge = None if piece.pivot is None else to_pose(unit.pose * sapien.Pose(p=piece.pivot_point)).position[:2]
    return front_attributes(handle, hinge, unit.openings[piece.name])


def _switch(unit: FurnitureUnit, switch: PushSwitch) -> str:
    """Return what a detector says of a switch, see `kc_vla.skills.switches`: in the frame of the arm's base."""
    place = to_pose(unit.pose * sapien.Pose(p=switch.place)).position
    before = to_pose(unit.pose * sapien.Pose(p=np.add(switch.place, switch.normal))).position
    return " ".join(f"{each:.4f}" for each in (*place, *np.subtract(before, place)))


def _points(parts: Sequence[Part], pose: sapien.Pose) -> NDArray[np.float64]:
    matrix = pose.to_transformation_matrix().astype(float)
    vertices = np.concatenate([part.mesh.vertices for part in parts])
    points: NDArray[np.float64] = vertices @ matrix[:3, :3].T + matrix[:3, 3]
    return points
