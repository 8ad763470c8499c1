"""From a camera's image to what the selector's backbone sees, in one place for learning and for the robot."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]


def trunk_picture(pixels: Picture, size: int) -> Picture:
    """Return the middle square of an image (H, W, 3), resized to (size, size, 3).

    Each pixel is the mean of what it covers.
    """
    height, width = pixels.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = pixels[top : top + side, left : left + side]
    if side == size:
        return np.ascontiguousarray(square)
    way = cv2.INTER_AREA if side > size else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(square, (size, size), interpolation=way), np.uint8)


def side_by_side(views: Iterable[Picture], size: int) -> Picture:
    """Return what the backbone sees of the cameras of one moment, from left to right: (size, V size, 3) of V images."""
    pictures = [trunk_picture(pixels, size) for pixels in views]
    return pictures[0] if len(pictures) == 1 else np.concatenate(pictures, axis=1)
