"""A depth image in the square that a network takes, as inverse depth: planes stay linear in it, and far is near 0."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.perception.letterbox import Letterbox

Floats = NDArray[np.float32]


def inverse_depth(depth_m: Floats | None, focal_px: float, placed: Letterbox, size: int) -> Floats:
    """Return the inverse depth in the square, for a camera whose focal length is the side of the square.

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
