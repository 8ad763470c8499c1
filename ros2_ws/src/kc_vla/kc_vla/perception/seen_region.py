"""What a camera had in view, as the message kc_vla_msgs/CameraRegion has it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.perception.camera_frame import CameraFrame

MOST_WIDTH, MOST_HEIGHT = 64, 48
"""Of the depth that is passed on, px."""
_FAR_M = 65.0
"""More than that many mm do not fit into 16 bits."""
_SPECKLE = 5
"""Side of the window, px, whose median removes stray pixels before the least of each block is taken."""


@dataclass(frozen=True, eq=False)
class SeenRegion:
    """What a camera had in view.

    Attributes:
        pose: of the optical frame (4, 4), m, in the frame that objects are located in.
        matrix: intrinsic matrix (3, 3), px, without distortion.
        size: width and height of the image, px.
        farthest_m: what is deeper is not taken for seen.
        depth_mm: (rows, columns) uint16, at most 48 x 64: the least depth of each block of the image, mm, 0 where none
            is known; None without depth.
    """

    pose: Pose
    matrix: NDArray[np.float64]
    size: tuple[int, int]
    farthest_m: float
    depth_mm: NDArray[np.uint16] | None = None


def region_of(frame: CameraFrame, farthest_m: float) -> SeenRegion:
    """Return what an image had in view.

    Args:
        frame: of the image; its depth, if any, is one to be believed.
        farthest_m: what is deeper is not taken for seen.
    """
    height, width = frame.image.shape[:2]
    reduced = None if frame.depth_m is None else reduced_depth(frame.depth_m)
    return SeenRegion(frame.pose, frame.matrix, (width, height), farthest_m, reduced)


def reduced_depth(depth: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the least depth of each block of an image (H, W), m, in mm: at most 48 x 64 blocks, 0 where unknown."""
    height, width = depth.shape
    rows, columns = min(height, MOST_HEIGHT), min(width, MOST_WIDTH)
    known = np.where(np.isfinite(depth) & (depth > 0.0), depth, np.float32(np.inf))
    smooth = cv2.medianBlur(known, _SPECKLE) if min(known.shape) >= _SPECKLE else known
    tops = -(-np.arange(rows) * height // rows)
    lefts = -(-np.arange(columns) * width // columns)
    least = np.minimum.reduceat(np.minimum.reduceat(smooth, tops, axis=0), lefts, axis=1)
    seen = np.isfinite(least)
    return np.where(seen, np.clip(1000.0 * np.where(seen, least, 0.0), 0.0, 1000.0 * _FAR_M), 0.0).astype(np.uint16)
