"""Surfaces of the things on the table. Colours are red, green, blue in 0..1."""

from __future__ import annotations

import sapien

Colour = tuple[float, float, float]
TABLE_COLOUR: Colour = (0.5, 0.36, 0.24)


def matte(colour: Colour) -> sapien.render.RenderMaterial:
    """A surface of one colour without shine."""
    return sapien.render.RenderMaterial(base_color=[*colour, 1.0], roughness=0.9, specular=0.1)


def glow(colour: Colour) -> sapien.render.RenderMaterial:
    """A surface that shines by itself, in shadow too."""
    return sapien.render.RenderMaterial(
        base_color=[0.0, 0.0, 0.0, 1.0], emission=[*colour, 1.0], roughness=1.0, specular=0.0
    )
