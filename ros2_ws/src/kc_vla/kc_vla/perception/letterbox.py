"""An image in the square that a network takes: as large as it fits, the rest gray; and its inverse depth."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.images.crop import PixelBox

_GRAY = 114

Floats = NDArray[np.float32]


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


def inverse_depth(depth_m: Floats | None, focal_px: float, placed: Letterbox, size: int) -> Floats:
    """Return the inverse depth in the square, for a camera whose focal length is the side of the square.

    Planes stay linear in it, and far is near 0.

    Args:
        depth_m: depth of each pixel of the image (H, W), m; 0 or NaN where it is not known; None: nowhere.
        focal_px: focal length of the camera, px of the image.
        placed: where the image is in the square.
        size: side of the square, px.

    Returns:
        (size, size), 1/m; 0 where the depth is not known.
    """
    square = np.zeros((size, size), np.float32)
    if depth_m is None:
        return square
    known = np.isfinite(depth_m) & (depth_m > 0.0)
    focal = np.float32(focal_px * placed.scale / size)
    inverse = np.divide(focal, depth_m, out=np.zeros(depth_m.shape, np.float32), where=known)
    inner = max(1, round(placed.width * placed.scale)), max(1, round(placed.height * placed.scale))
    if inner != (placed.width, placed.height):  # between two surfaces there is none: neighbors are not mixed
        inverse = cv2.resize(inverse, inner, interpolation=cv2.INTER_NEAREST)
    left, top = int(placed.left), int(placed.top)
    square[top : top + inner[1], left : left + inner[0]] = inverse
    return square
