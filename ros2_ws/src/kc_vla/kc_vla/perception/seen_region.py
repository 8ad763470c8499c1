"""What a camera had in view, as the message kc_vla_msgs/CameraRegion has it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.projection import project, rays
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.smooth_depth import smooth_depth, smoothed

MOST_WIDTH, MOST_HEIGHT = 64, 48
"""How large the depth is that is passed on, px."""
_FAR_M = 65.0
"""More than that many mm do not fit into 16 bits."""
_FINE = 4 * MOST_HEIGHT, 4 * MOST_WIDTH
"""Pixels at which a distorted depth image is looked up."""


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
    reduced = None
    if frame.depth_m is not None:
        bent = any(frame.distortion) or frame.distortion_model == "equidistant"
        reduced = _reduced(smoothed(_straight(frame, frame.depth_m)) if bent else smooth_depth(frame))
    return SeenRegion(frame.pose, frame.matrix, (width, height), farthest_m, reduced)


def _straight(frame: CameraFrame, depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the depth image as a lens without distortion would show it, with 0 where this lens shows nothing."""
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
    return _reduced(smoothed(depth))


def _reduced(smooth: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the same of a depth image without stray pixels."""
    height, width = smooth.shape
    rows, columns = min(height, MOST_HEIGHT), min(width, MOST_WIDTH)
    tops = -(-np.arange(rows) * height // rows)
    lefts = -(-np.arange(columns) * width // columns)
    least = _least(np.ascontiguousarray(_least(smooth, tops).T), lefts).T
    seen = np.isfinite(least)
    return np.where(seen, np.clip(1000.0 * np.where(seen, least, 0.0), 0.0, 1000.0 * _FAR_M), 0.0).astype(np.uint16)


def _least(values: NDArray[np.float32], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the least of each run of rows (N, W) that begins at a row: `np.minimum.reduceat`, five times as fast."""
    ends = np.append(starts[1:], len(values)) - 1
    least = values[starts]
    for further in range(1, int((ends - starts).max()) + 1):
        np.minimum(least, values[np.minimum(starts + further, ends)], out=least)
    return least
