"""A piece of furniture in a scene: how far it is open, and whether it is on. For one environment."""

from __future__ import annotations

from collections.abc import Mapping
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
    drawn,
    entity_of,
    show,
    to_sapien,
)
from kc_vla_sim.envs.pressed_switch import PressedSwitch
from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.kitchen.placed import PlacedFurniture

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene

OPENED_SHARE = 0.1
"""What is open by more than this share of its travel is opened."""
_DRIVE = {"prismatic": (60.0, 40.0, 20.0), "revolute": (3.0, 2.0, 1.0)}
"""Stiffness, damping and greatest force of a drive, by the type of the joint: N/m, Ns/m, N or Nm/rad, Nms/rad, Nm."""


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
        switch = self.furniture.switch
        self.switched_by = None if switch is None else PressedSwitch(scene, self.furniture.name, switch, self.pose)
        """What switches it; None where nothing does."""
        self.on = False

    def press(self) -> None:
        """Switch it on, or off where it is on; what has an open door stays off."""
        self.switch(not self.on and not any(map(self.opened, self.openings)))

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
        values = self.joints._objs[0].qpos.tolist()
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

    def within(self, moving: str, position: NDArray[np.floating]) -> tuple[float, float, float]:
        """Return a position in the world (3,), m, in the frame of one of its drawers or doors, or in its own.

        Furniture stands upright: its frames are turned about the vertical alone.
        """
        pose = self.link_pose(moving)
        w, _, _, k = pose.q.tolist()
        c, s = 1 - 2 * k * k, 2 * w * k
        x, y, z = (each - other for each, other in zip(position.tolist(), pose.p.tolist(), strict=True))
        return c * x + s * y, c * y - s * x, z

    def opened(self, name: str) -> bool:
        """Return whether one of its drawers or doors is opened."""
        return self.openings[name] > OPENED_SHARE * self.furniture.piece(name).travel
