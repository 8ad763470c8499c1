"""From a camera's picture to what the selector's trunk sees, in one place for learning and for the robot."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]


def trunk_picture(pixels: Picture, size: int) -> Picture:
    """The middle square of a picture (H, W, 3), resized to (size, size, 3) by the mean of what each pixel covers."""
    height, width = pixels.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = pixels[top : top + side, left : left + side]
    if side == size:
        return np.ascontiguousarray(square)
    way = cv2.INTER_AREA if side > size else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(square, (size, size), interpolation=way), np.uint8)
