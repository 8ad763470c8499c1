"""The points that the pixels of a depth image measure.

The ray of each pixel belongs to the lens: it is computed once for a camera, and not for each image or each box.
Coordinates come first, (3, H, W): NumPy computes with long rows much faster than with many short ones.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.projection import rays
from kc_vla.perception.camera_frame import CameraFrame

Numbers = NDArray[np.float64]
_LENSES = 8
"""So many lenses are kept: a robot has fewer cameras."""


def points_at(frame: CameraFrame, rows: slice, columns: slice) -> Numbers:
    """Return the points of a grid of pixels, in the frame that objects are located in (3, H, W), m.

    Args:
        frame: with depth; a point is NaN where that is not known.
        rows: of the grid.
        columns: of the grid.

    Raises:
        ValueError: The model of the lens is not known.
    """
    assert frame.depth_m is not None
    deep = frame.depth_m[rows, columns].astype(float)
    deep[~(deep > 0.0)] = np.nan
    own = np.empty((3, *deep.shape))
    np.multiply(pixel_rays(frame)[:, rows, columns], deep, out=own[:2])
    own[2] = deep
    placed = frame.pose[:3, :3] @ own.reshape(3, -1) + frame.pose[:3, 3:]
    return np.asarray(placed.reshape(own.shape))


def pixel_rays(frame: CameraFrame) -> Numbers:
    """Return x and y of the direction of each pixel in the optical frame (2, H, W), see `rays`; not to be changed.

    Raises:
        ValueError: The model of the lens is not known.
    """
    distortion = tuple(float(each) for each in frame.distortion)
    height, width = frame.image.shape[:2]
    return _rays(np.asarray(frame.matrix, float).tobytes(), (height, width), frame.distortion_model, distortion)


@lru_cache(maxsize=_LENSES)
def _rays(matrix: bytes, shape: tuple[int, int], model: str, distortion: tuple[float, ...]) -> Numbers:
    height, width = shape
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    pixels = np.column_stack([across.ravel(), down.ravel()]).astype(float)
    found = rays(pixels, np.frombuffer(matrix).reshape(3, 3), model, distortion)
    flat = np.ascontiguousarray(found[:, :2].T).reshape(2, height, width)
    flat.flags.writeable = False
    return flat
