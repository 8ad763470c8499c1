"""What a camera had in view, as the message kc_vla_msgs/CameraRegion has it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.projection import project, rays
from kc_vla.perception.camera_frame import CameraFrame

MOST_WIDTH, MOST_HEIGHT = 64, 48
"""How large the depth is that is passed on, px."""
_FAR_M = 65.0
"""More than that many mm do not fit into 16 bits."""
_FINE = 4 * MOST_HEIGHT, 4 * MOST_WIDTH
"""Pixels at which a distorted depth image is looked up."""
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

    Raises:
        ValueError: The model of the lens is not known.
    """
    height, width = frame.image.shape[:2]
    reduced = None if frame.depth_m is None else reduced_depth(_straight(frame, frame.depth_m))
    return SeenRegion(frame.pose, frame.matrix, (width, height), farthest_m, reduced)


def _straight(frame: CameraFrame, depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the depth image as a lens without distortion would show it, with 0 where this lens shows nothing."""
    if not any(frame.distortion) and frame.distortion_model != "equidistant":
        return depth
    rows, columns = _sources(
        frame.matrix.tobytes(), depth.shape, frame.distortion_model, tuple(float(each) for each in frame.distortion)
    )
    inside = (rows >= 0) & (rows < depth.shape[0]) & (columns >= 0) & (columns < depth.shape[1])
    return np.where(inside, depth[np.where(inside, rows, 0), np.where(inside, columns, 0)], np.float32(0.0))


@lru_cache(maxsize=8)
def _sources(
    matrix: bytes, shape: tuple[int, int], model: str, distortion: tuple[float, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row and column in the image of a lens for some pixels of the image without distortion."""
    rows, columns = (np.linspace(0, side - 1, min(side, fine)) for side, fine in zip(shape, _FINE, strict=True))
    across, down = np.meshgrid(columns, rows)
    lens = np.frombuffer(matrix).reshape(3, 3)
    flat = rays(np.column_stack([across.ravel(), down.ravel()]), lens)
    pixels, _ = project(flat, np.eye(4), lens, model, distortion)
    at = np.rint(pixels).astype(np.int64).reshape(*across.shape, 2)
    return at[..., 1], at[..., 0]


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
