"""A thing of the kitchen in a scene: where it is, and in which state. For one environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sapien
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.kitchen_bodies import build_free, drawn, entity_of, show, to_sapien
from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.kitchen.bodies import ShapedBody
from kc_vla_sim.kitchen.placed import PlacedThing

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene


_ROLLING = 10.0
"""What is round rolls no further than a moment, 1/s."""


class KitchenThing:
    """A thing in a scene."""

    def __init__(self, scene: ManiSkillScene, placed: PlacedThing) -> None:
        self.placed = placed
        turn = Rotation.from_euler("z", placed.yaw)
        pose = ROBOT_BASE * to_sapien((placed.x, placed.y, placed.z + 0.001), turn)
        self.body = placed.body
        self._surface = np.concatenate([part.mesh.vertices for part in self.body.parts])
        self.actor = build_free(scene, placed.thing_id, self.body.solids, pose)
        self._entity = entity_of(self.actor)
        self._rigid.angular_damping = _ROLLING
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
        return self._entity.pose

    @property
    def lowest(self) -> float:
        """Return the height of its lowest point in the world now, m."""
        return self.lowest_at(self.pose)

    def lowest_at(self, pose: sapien.Pose) -> float:
        """Return the height of its lowest point at a pose in the world, m: its box grows as it rolls."""
        matrix = pose.to_transformation_matrix().astype(float)
        return float((self._surface @ matrix[2, :3]).min() + matrix[2, 3])

    def carry(self, pose: sapien.Pose) -> None:
        """Put it at a pose in the world, where it stays and touches nothing until it is released."""
        self._touch(False)
        self._rigid.kinematic = True
        self.actor.set_pose(pose)

    def release(self) -> None:
        """Let it fall from where it is."""
        self._rigid.kinematic = False
        self._touch(True)
        self._rigid.linear_velocity = self._rigid.angular_velocity = np.zeros(3, np.float32)
        self._rigid.wake_up()

    def _touch(self, touches: bool) -> None:
        for shape in self._rigid.collision_shapes:
            shape.set_collision_groups([1, 1, 0, 0] if touches else [0, 0, 0, 0])

    @property
    def _rigid(self) -> sapien.physx.PhysxRigidDynamicComponent:
        return entity_of(self.actor).find_component_by_type(sapien.physx.PhysxRigidDynamicComponent)

    def _body_in(self, state: str) -> ShapedBody:
        placed = self.placed
        return placed.kind.made(placed.colour, state, placed.scale)

    def _can_be(self, state: str) -> bool:
        return (state == "sliced") == (self.placed.state == "sliced")
