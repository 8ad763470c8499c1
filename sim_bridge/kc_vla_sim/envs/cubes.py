"""The cubes that the tasks are about."""

from __future__ import annotations

import sapien
import torch
from mani_skill.envs.scene import ManiSkillScene
from mani_skill.utils.structs import Actor, Pose

from kc_vla_sim.envs.looks import Colour, matte

CUBE_HALF_SIZE = 0.02
"""m."""
CUBE_SIZE = (2 * CUBE_HALF_SIZE,) * 3
"""Extent along x, y, z, m."""
CUBE_COLOURS: dict[str, Colour] = {
    "red": (0.6, 0.02, 0.03),
    "green": (0.03, 0.35, 0.05),
    "blue": (0.03, 0.13, 0.6),
}


def build_cube(scene: ManiSkillScene, name: str, colour: str) -> Actor:
    """Add a cube that can be moved to every environment of `scene`; an episode gives it its place."""
    builder = scene.create_actor_builder()
    builder.add_box_collision(half_size=[CUBE_HALF_SIZE] * 3)
    builder.add_box_visual(half_size=[CUBE_HALF_SIZE] * 3, material=matte(CUBE_COLOURS[colour]))
    builder.initial_pose = sapien.Pose(p=[-0.15, 0, CUBE_HALF_SIZE])
    return builder.build(name=name)


def stand_cube(cube: Actor, centre: torch.Tensor, yaw: torch.Tensor) -> None:
    """Stand `cube` upright in the N environments that begin an episode.

    Args:
        cube: of `build_cube`.
        centre: where its center is to be (N, 3), m, world frame.
        yaw: how it is turned about the vertical (N,), rad.
    """
    zero = torch.zeros_like(yaw)
    turned = torch.stack([torch.cos(yaw / 2), zero, zero, torch.sin(yaw / 2)], dim=1)
    cube.set_pose(Pose.create_from_pq(p=centre, q=turned))
