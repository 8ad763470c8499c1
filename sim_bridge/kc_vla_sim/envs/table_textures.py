"""Small procedural textures for the table: how much darker or lighter than its color each spot is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.envs.looks import Colour
from kc_vla_sim.frame import Image

SHAPE = (160, 128)
"""Texels along the table's y and x, of 9.4 mm each."""
CONTRAST = (0.06, 0.22)
"""A texture is darker and lighter than the table's color by up to this share."""

Relief = NDArray[np.float64]


def draw_texture(chance: np.random.Generator, colour: Colour) -> Image:
    """Draw one of `PATTERNS` around `colour`: (rows, columns, 3) of `SHAPE`, shares of 255."""
    relief = PATTERNS[chance.integers(len(PATTERNS))](chance)
    tone = 1 + chance.uniform(*CONTRAST) * (relief - relief.mean())
    texture: Image = np.clip(np.rint(255 * tone[..., None] * np.array(colour)), 0, 255).astype(np.uint8)
    return texture


def grain(chance: np.random.Generator) -> Relief:
    """Draw fibers of wood along x or y, gently bent; values in -1..1, as of all patterns."""
    across, along = np.indices(SHAPE) / max(SHAPE)
    if chance.random() < 0.5:
        across, along = along, across
    bend = chance.uniform(0.01, 0.04) * np.sin(2 * np.pi * (chance.uniform(0.3, 1.2) * along + chance.random()))
    fibres = [
        np.sin(2 * np.pi * (chance.uniform(least, 2 * least) * (across + bend) + chance.random()))
        for least in (4, 9, 17)
    ]
    relief: Relief = np.mean(fibres, axis=0)
    return relief


def checks(chance: np.random.Generator) -> Relief:
    """Draw squares of two tones, 8 to 22 cm wide."""
    row, column = np.indices(SHAPE)
    width, shift = chance.integers(8, 24), chance.integers(0, 24, size=2)
    return np.where(((row + shift[0]) // width + (column + shift[1]) // width) % 2, 1.0, -1.0)


def speckle(chance: np.random.Generator) -> Relief:
    """Draw spots of one texel, sparse or dense, each with a tone of its own."""
    return np.where(chance.random(SHAPE) < chance.uniform(0.05, 0.4), chance.uniform(-1, 1, SHAPE), 0.0)


PATTERNS: tuple[Callable[[np.random.Generator], Relief], ...] = (grain, checks, speckle)
