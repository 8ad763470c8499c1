"""An image in the square that a network takes: as large as it fits, the rest gray."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.images.crop import PixelBox

_GRAY = 114


@dataclass(frozen=True)
class Letterbox:
    """Where an image is in the square.

    Attributes:
        scale: px of the square for each of the image.
        left, top: corner of the image in the square, px.
        width, height: of the image itself, px.
    """

    scale: float
    left: float
    top: float
    width: int
    height: int

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return the place in the image of a place in the square, px."""
        return (x - self.left) / self.scale, (y - self.top) / self.scale

    def box(self, left: float, top: float, right: float, bottom: float) -> PixelBox:
        """Return the box in the image of a box in the square, cut to the image, px."""
        (x0, y0), (x1, y1) = self.point(left, top), self.point(right, bottom)
        wide, high = float(self.width), float(self.height)
        return PixelBox(
            min(max(x0, 0.0), wide), min(max(y0, 0.0), high), min(max(x1, 0.0), wide), min(max(y1, 0.0), high)
        )


def letterboxed(image: NDArray[np.uint8], size: int) -> tuple[NDArray[np.uint8], Letterbox]:
    """Return an image (H, W, 3) in a square (size, size, 3), and where it is there."""
    height, width = image.shape[:2]
    scale = size / max(height, width)
    inner = (max(1, round(width * scale)), max(1, round(height * scale)))
    left, top = (size - inner[0]) // 2, (size - inner[1]) // 2
    placed = Letterbox(scale, float(left), float(top), width, height)
    if inner == (size, size) == (width, height):
        return np.ascontiguousarray(image), placed
    square = np.full((size, size, 3), _GRAY, np.uint8)
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    square[top : top + inner[1], left : left + inner[0]] = cv2.resize(image, inner, interpolation=method)
    return square, placed
