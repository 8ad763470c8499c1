"""Boxes with a name, drawn into an image for people."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from kc_vla.media.canvas import AMBER, Canvas, Picture

MOST_BOXES = 100
_MOST_LETTERS = 30
_TEXT_PX, _SMALL_TEXT_PX, _SMALL_IMAGE_PX = 13, 8, 400
"""Height of a name, and in an image whose shorter side is below that: else names would hide what they are of."""


@dataclass(frozen=True)
class NamedBox:
    """What is drawn: left, top, right and bottom, px, and a name."""

    left: float
    top: float
    right: float
    bottom: float
    name: str


def with_boxes(pixels: Picture, boxes: Iterable[NamedBox]) -> Picture:
    """Return an image, (H, W, 3) RGB, with the first 100 boxes drawn into it, each with its name; a new array."""
    canvas = Canvas(1, 1)
    canvas.pixels = pixels.copy()
    height, width = pixels.shape[:2]
    is_small = min(height, width) < _SMALL_IMAGE_PX
    size, line = (_SMALL_TEXT_PX, 1) if is_small else (_TEXT_PX, 2)
    for each in islice(boxes, MOST_BOXES):
        if not all(map(math.isfinite, (each.left, each.top, each.right, each.bottom))):
            continue
        left, right = (min(max(0, round(side)), width) for side in (each.left, each.right))
        top, bottom = (min(max(0, round(side)), height) for side in (each.top, each.bottom))
        if right <= left or bottom <= top:
            continue
        canvas.frame(left, top, right - left, bottom - top, AMBER, line)
        name = "".join(letter for letter in each.name[:_MOST_LETTERS] if letter.isprintable())
        canvas.chip(left, max(0, top - size - 9), name, size, AMBER)
    return canvas.pixels
