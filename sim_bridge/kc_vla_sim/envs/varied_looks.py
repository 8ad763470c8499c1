"""What a room looks like: the same in every episode, or drawn from the episode's seed (domain randomization).

The draw has a generator of its own: whatever else chance decides in an episode is the same with any looks.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np
from mani_skill.utils import sapien_utils

from kc_vla_sim.envs.looks import Colour
from kc_vla_sim.envs.table_textures import draw_texture
from kc_vla_sim.frame import Image

Vector = tuple[float, float, float]

TINT = 0.07
"""Each of a light's three colors is stronger or weaker by up to this share."""
AMBIENT = (0.28, 0.44)
"""Strength of the ambient light; 1 would show a white surface white."""
LIGHT = (1.1, 1.8)
"""Strength of the directional light."""
LIGHT_TURN = 1.3
"""The directional light is turned about the vertical by up to this, either way, rad: it never dazzles the camera."""
LIGHT_ELEVATION = (0.8, 1.3)
"""How steeply the directional light falls, rad."""
EYE_JITTER = 0.03
"""The third-person camera is off its place by up to this along each axis, m ..."""
TARGET_JITTER = 0.02
"""... what it looks at, m ..."""
FOV_JITTER = 0.03
"""... and its field of view, share."""
OUTERMOST = (0.177, 0.097, 0.0)
"""What comes closest to the image's rim of all that tasks are about, m: the near edge of the counting target."""
RIM = 0.02
"""It stays further from the rim than this share of half the image."""
_STREAM = 0x6C6F6F6B
"""Beside the episode's seed, what seeds the looks."""


@dataclass(frozen=True)
class RoomLooks:
    """Looks of one episode; the defaults are the standard. Positions in the world frame, m.

    Attributes:
        ambient: color of the ambient light.
        light: color of the directional light.
        light_direction: where it falls to, of any length.
        table: color of the table.
        table_as_seen: that color in the room's light; what the lamp's light fades into.
        table_texture: what the table wears instead of its plain color, see `draw_texture`.
        floor: its color.
        walls: theirs.
        camera_eye: place of the third-person camera.
        camera_target: what that looks at.
        camera_fov: its field of view, rad.
        clutter: 0..1, how many of the places for distractors that the variant leaves empty are taken.
    """

    ambient: Colour = (0.36, 0.36, 0.38)
    light: Colour = (1.5, 1.47, 1.4)
    light_direction: Vector = (-0.35, -0.55, -1.0)
    table: Colour = (0.5, 0.36, 0.24)
    table_as_seen: Colour = (0.37, 0.265, 0.18)
    table_texture: Image | None = None
    floor: Colour = (0.3, 0.32, 0.35)
    walls: Colour = (0.62, 0.66, 0.7)
    camera_eye: Vector = (0.62, 0.62, 0.62)
    camera_target: Vector = (-0.24, -0.08, 0.24)
    camera_fov: float = 0.86
    clutter: float = 0.0

    def distractors_added(self, most: int) -> int:
        """Return how many distractors stand beside the variant's: 0 to `most`, each number as likely as any other."""
        return min(int(self.clutter * (most + 1)), most)


STANDARD_ROOM = RoomLooks()


def draw_room(seed: int) -> RoomLooks:
    """Draw the looks of the episode with `seed`, the same for every task and variant."""
    chance = np.random.default_rng((_STREAM, seed))
    ambient = chance.uniform(*AMBIENT) * _tint(chance)
    light = chance.uniform(*LIGHT) * _tint(chance)
    x, y, _ = STANDARD_ROOM.light_direction
    turn = np.arctan2(y, x) + chance.uniform(-LIGHT_TURN, LIGHT_TURN)
    elevation = chance.uniform(*LIGHT_ELEVATION)
    table = _colour(chance, most_saturated=0.45, brightness=(0.25, 0.6))
    eye, target, fov = _camera(chance)
    on_table = ambient + light * np.sin(elevation) / np.pi  # Lambert's law, as in the shader
    return RoomLooks(
        ambient=_triple(ambient),
        light=_triple(light),
        light_direction=_triple(
            np.array([np.cos(turn) * np.cos(elevation), np.sin(turn) * np.cos(elevation), -np.sin(elevation)])
        ),
        table=table,
        table_as_seen=_triple(on_table * table),
        table_texture=draw_texture(chance, table),
        floor=_colour(chance, most_saturated=0.3, brightness=(0.15, 0.45)),
        walls=_colour(chance, most_saturated=0.2, brightness=(0.4, 0.75)),
        camera_eye=eye,
        camera_target=target,
        camera_fov=fov,
        clutter=float(chance.random()),
    )


def _tint(chance: np.random.Generator) -> np.ndarray:
    """Draw the shares of red, green and blue in a light that is about white, (3,)."""
    return 1 + chance.uniform(-TINT, TINT, 3)


def _colour(chance: np.random.Generator, most_saturated: float, brightness: tuple[float, float]) -> Colour:
    """Return a dull color of any hue: those of the task are vivid."""
    return colorsys.hsv_to_rgb(chance.random(), chance.uniform(0, most_saturated), chance.uniform(*brightness))


def _camera(chance: np.random.Generator) -> tuple[Vector, Vector, float]:
    """Draw eye, target and field of view of a camera that shows `OUTERMOST`: a quarter of those drawn do not."""
    while True:
        eye = STANDARD_ROOM.camera_eye + chance.uniform(-EYE_JITTER, EYE_JITTER, 3)
        target = STANDARD_ROOM.camera_target + chance.uniform(-TARGET_JITTER, TARGET_JITTER, 3)
        fov = STANDARD_ROOM.camera_fov * (1 + float(chance.uniform(-FOV_JITTER, FOV_JITTER)))
        axes = sapien_utils.look_at(eye, target).sp.to_transformation_matrix()[:3, :3]
        forward, left, up = axes.T @ (OUTERMOST - eye)
        if max(abs(left), abs(up)) < (1 - RIM) * np.tan(fov / 2) * forward:
            return _triple(eye), _triple(target), fov


def _triple(values: np.ndarray) -> tuple[float, float, float]:
    one, two, three = values.tolist()
    return one, two, three
