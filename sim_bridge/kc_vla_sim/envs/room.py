"""The table, the room around it and its light, as their looks say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sapien

from kc_vla_sim.envs.looks import matte, textured
from kc_vla_sim.envs.varied_looks import RoomLooks

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene

_TABLE_HALF_SIZE = (0.6, 0.75, 0.02)
_TABLE_CENTRE = (-0.2, 0.0, -0.02)
_SUNK = 0.001
"""How far below a textured top the box of the table ends, m, lest the two mix in the image."""
_FACING_UP = (np.sqrt(0.5), 0, -np.sqrt(0.5), 0)
_FLOOR_HEIGHT = -0.75


def build_room(scene: ManiSkillScene, looks: RoomLooks) -> None:
    """Add a table, which is solid, a floor and two walls to every environment of `scene`."""
    table = scene.create_actor_builder()
    table.add_box_collision(half_size=_TABLE_HALF_SIZE)
    if looks.table_texture is None:
        table.add_box_visual(half_size=_TABLE_HALF_SIZE, material=matte(looks.table))
    else:
        # A box would wear the texture folded around all its sides: a plane covers the top alone.
        length, width, height = _TABLE_HALF_SIZE
        below = sapien.Pose(p=[0, 0, -_SUNK])
        table.add_box_visual(below, half_size=_TABLE_HALF_SIZE, material=matte(looks.table))
        top = sapien.Pose(p=[0, 0, height], q=_FACING_UP)
        table.add_plane_visual(top, scale=(1, width, length), material=textured(looks.table_texture))
    table.initial_pose = sapien.Pose(p=_TABLE_CENTRE)
    table.build_static(name="table")
    room = scene.create_actor_builder()
    room.add_box_visual(sapien.Pose(p=[0, 0, _FLOOR_HEIGHT]), half_size=(4, 4, 0.01), material=matte(looks.floor))
    room.add_box_visual(sapien.Pose(p=[-2, 0, 0]), half_size=(0.01, 4, 2), material=matte(looks.walls))
    room.add_box_visual(sapien.Pose(p=[0, -2, 0]), half_size=(4, 0.01, 2), material=matte(looks.walls))
    room.initial_pose = sapien.Pose()
    room.build_static(name="room")


def light_room(scene: ManiSkillScene, looks: RoomLooks, shadow: bool) -> None:
    """Light every environment of `scene`."""
    scene.set_ambient_light(list(looks.ambient))
    scene.add_directional_light(
        direction=list(looks.light_direction),
        color=list(looks.light),
        shadow=shadow,
        shadow_scale=1.1,
        shadow_near=-2.0,
        shadow_far=2.0,
        shadow_map_size=1024,
    )
