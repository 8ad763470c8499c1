"""Images with the boxes that a detector found in them, for a person to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.files import replacing
from kc_vla.datasets.detections.labels import ObjectLabel
from kc_vla.media.canvas import AMBER, GREEN, MUTED, RED, Canvas
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.decoding import overlap
from kc_vla.perception.image_detection import ImageDetection

SHOWN = 16
"""Images of a sheet."""
_COLUMNS, _SIDE, _GAP, _CAPTION, _LETTERS = 4, 512, 8, 18, 12
_SAME = 0.5


@dataclass(frozen=True, eq=False)
class ShownImage:
    """An image with what was found in it, and with what is in it.

    Attributes:
        caption: above it.
        pixels: (H, W, 3), RGB.
        found: boxes to draw: green where an object of that type is there, red where there is none.
        objects: those that nothing was found of are drawn in amber.
    """

    caption: str
    pixels: NDArray[np.uint8]
    found: Sequence[ImageDetection]
    objects: Sequence[ObjectLabel]


def write_sheet(images: Sequence[ShownImage], path: Path) -> None:
    """Draw the images in rows and write them as a PNG."""
    columns = min(_COLUMNS, max(1, len(images)))
    rows = -(-len(images) // columns)
    across, down = _SIDE + _GAP, _SIDE + _CAPTION + _GAP
    canvas = Canvas(columns * across + _GAP, max(1, rows) * down + _GAP)
    for index, image in enumerate(images):
        row, column = divmod(index, columns)
        _draw(canvas, _GAP + column * across, _GAP + row * down, image)
    done, png = cv2.imencode(".png", cv2.cvtColor(canvas.pixels, cv2.COLOR_RGB2BGR))
    assert done
    with replacing(path) as part:
        part.write_bytes(png.tobytes())


def _draw(canvas: Canvas, x: int, y: int, image: ShownImage) -> None:
    canvas.text(x, y, image.caption, _LETTERS, MUTED)
    top = y + _CAPTION
    canvas.picture(x, top, _SIDE, image.pixels)
    height, width = image.pixels.shape[:2]
    scale = _SIDE / max(height, width)
    left, above = x + (_SIDE - scale * width) / 2, top + (_SIDE - scale * height) / 2
    for label in image.objects:
        if not any(_same(each, label) for each in image.found):
            _box(canvas, label.box, scale, left, above, AMBER, label.object_type)
    for each in image.found:
        color = GREEN if any(_same(each, label) for label in image.objects) else RED
        words = [each.object_type, each.state, f"{100 * each.confidence:.0f}"]
        _box(canvas, each.box, scale, left, above, color, " ".join(filter(None, words)))


def _same(found: ImageDetection, label: ObjectLabel) -> bool:
    return found.object_type == label.object_type and overlap(found.box, label.box) >= _SAME


def _box(
    canvas: Canvas, box: PixelBox, scale: float, left: float, top: float, color: tuple[int, int, int], text: str
) -> None:
    x, y = round(left + scale * box.left), round(top + scale * box.top)
    wide, high = round(scale * (box.right - box.left)), round(scale * (box.bottom - box.top))
    canvas.frame(x, y, max(wide, 2), max(high, 2), color)
    canvas.text(x + 2, y + 1, text, _LETTERS - 2, color)
