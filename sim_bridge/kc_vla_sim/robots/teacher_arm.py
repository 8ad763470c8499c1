"""The teacher: a second Panda, drawn in another color, that follows joint targets of the environment."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import sapien
import torch
from mani_skill.agents.robots.panda.panda import Panda

from kc_vla_sim.robots.light_meshes import light_urdf

_COLOUR = (0.05, 0.2, 0.42)
"""Color in place of the robot's white parts, so that the two arms cannot be confused."""
_WHITE = 0.6
"""A surface whose darkest channel is above this is drawn in `_COLOUR`."""


class TeacherArm(Panda):
    """A Panda without cameras. It is driven in joint positions and takes no actions of a policy.

    Its drives are stiffer than the robot's, so that it follows its targets within about 50 ms.
    """

    uid = "panda_teacher"
    arm_stiffness = 4e3
    arm_damping = 2e2
    arm_force_limit = 200

    @cached_property
    def urdf_path(self) -> str:
        """Return the path of the description of this robot, in the user's cache."""
        return str(light_urdf(Path(Panda.urdf_path)))

    def follow(self, targets: torch.Tensor) -> None:
        """Set the drives' targets for the next control step: (N, 9), seven arm joints (rad) and two fingers (m)."""
        self.robot.set_joint_drive_targets(targets, self.robot.active_joints)
        if self.scene.gpu_sim_enabled:
            self.scene.px.gpu_apply_articulation_target_position()

    def _after_loading_articulation(self) -> None:
        super()._after_loading_articulation()
        for link in self.robot.get_links():
            for entity in (part.entity for part in link._objs):
                body = entity.find_component_by_type(sapien.render.RenderBodyComponent)
                for shape in body.render_shapes if body else ():
                    _paint(shape)


def _paint(shape: sapien.render.RenderShape) -> None:
    """Give the white parts of `shape` the teacher's color."""
    parts = getattr(shape, "parts", [shape])
    for material in (part.material for part in parts):
        if min(material.base_color[:3]) > _WHITE:
            material.base_color = [*_COLOUR, 1.0]
