"""The signal lamp: a post with a bulb, and the glow that appears around it while it is lit.

The glow is a body of its own that is moved into the lamp or out of sight. So the image of a lit lamp is always the
same, whichever flash it is, and batches of environments can each show their own state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sapien
import torch
from mani_skill.utils.structs import Pose

from kc_vla_sim.envs.looks import Colour, glow, matte

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene

BULB_HEIGHT = 0.25
"""Height of the bulb's center above the table, m."""
BULB_RADIUS = 0.045
_POOL_RADIUS = 0.2
"""Radius of the pool of light that the lit lamp throws on the table, m."""
_POOL_LIGHT = (0.48, 0.385, 0.15)
"""What that adds at its brightest to the color of the table."""
_POOL_STEPS = 8
_UPRIGHT = sapien.Pose(q=[np.sqrt(0.5), 0, np.sqrt(0.5), 0])
_OUT_OF_SIGHT = (0.0, 0.0, -5.0)


class SignalLamp:
    """A lamp that stands at `position` (x, y in the world, m) in every environment of `scene`.

    Its pool of light fades into `table`, the color of the table in the room's light. Each of several lamps has a
    `name` of its own.
    """

    size = (0.14, 0.14, BULB_HEIGHT + BULB_RADIUS)
    """Extent along x, y, z, m."""

    def __init__(self, scene: ManiSkillScene, position: tuple[float, float], table: Colour, name: str = "lamp") -> None:
        self.position = (*position, 0.0)
        stand = scene.create_actor_builder()
        black = matte((0.08, 0.08, 0.09))
        _cylinder(stand, radius=0.07, bottom=0.0, top=0.015, material=black)
        _cylinder(stand, radius=0.011, bottom=0.015, top=BULB_HEIGHT, material=black)
        _cylinder(stand, radius=0.03, bottom=BULB_HEIGHT - 0.06, top=BULB_HEIGHT - 0.03, material=black)
        stand.add_sphere_visual(
            sapien.Pose(p=[0, 0, BULB_HEIGHT]), radius=BULB_RADIUS, material=matte((0.23, 0.2, 0.16))
        )
        stand.add_box_collision(
            sapien.Pose(p=[0, 0, BULB_HEIGHT / 2]), half_size=[BULB_RADIUS, BULB_RADIUS, BULB_HEIGHT / 2]
        )
        stand.initial_pose = sapien.Pose(p=self.position)
        stand.build_static(name=name)

        light = scene.create_actor_builder()
        light.add_sphere_visual(
            sapien.Pose(p=[0, 0, BULB_HEIGHT]), radius=1.1 * BULB_RADIUS, material=glow((1.0, 0.75, 0.12))
        )
        for level, radius in enumerate(np.linspace(_POOL_RADIUS, 0.07, _POOL_STEPS), start=1):
            colour = np.array(table) + level / _POOL_STEPS * np.array(_POOL_LIGHT)
            _cylinder(light, radius, bottom=0.0, top=0.0002 * level, material=glow(tuple(colour)))
        light.initial_pose = sapien.Pose(p=_OUT_OF_SIGHT)
        self._light = light.build_kinematic(name=f"{name}_light")

    def show(self, lit: torch.Tensor) -> None:
        """Light the lamp where `lit` (N,) is true and darken it elsewhere."""
        here = torch.tensor(self.position, device=lit.device)
        away = torch.tensor(_OUT_OF_SIGHT, device=lit.device)
        self._light.set_pose(Pose.create_from_pq(p=torch.where(lit[:, None], here, away)))


def _cylinder(
    builder: sapien.wrapper.actor_builder.ActorBuilder,
    radius: float,
    bottom: float,
    top: float,
    material: sapien.render.RenderMaterial,
) -> None:
    """Add an upright cylinder between two heights (m) to `builder`."""
    pose = sapien.Pose(p=[0, 0, (bottom + top) / 2], q=_UPRIGHT.q)
    builder.add_cylinder_visual(pose, radius=radius, half_length=(top - bottom) / 2, material=material)
