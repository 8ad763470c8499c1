"""Surfaces of the things on the table. Colors are red, green, blue in 0..1."""

from __future__ import annotations

import numpy as np
import sapien

from kc_vla_sim.frame import Image

Colour = tuple[float, float, float]


def matte(colour: Colour) -> sapien.render.RenderMaterial:
    """Return a surface of one color without shine."""
    return sapien.render.RenderMaterial(base_color=[*colour, 1.0], roughness=0.9, specular=0.1)


def textured(texture: Image, srgb: bool = False) -> sapien.render.RenderMaterial:
    """Return a surface without shine that wears a texture.

    Args:
        texture: (rows, columns, 3), its colors as shares of 255.
        srgb: whether these are sRGB, as in image files, or linear.
    """
    material = matte((1.0, 1.0, 1.0))
    opaque = np.concatenate([texture, np.full_like(texture[..., :1], 255)], axis=2)
    material.set_base_color_texture(sapien.render.RenderTexture2D(opaque, "r8g8b8a8unorm", srgb=srgb))
    return material


def glow(colour: Colour) -> sapien.render.RenderMaterial:
    """Return a surface that shines by itself, in shadow too."""
    return sapien.render.RenderMaterial(
        base_color=[0.0, 0.0, 0.0, 1.0], emission=[*colour, 1.0], roughness=1.0, specular=0.0
    )
