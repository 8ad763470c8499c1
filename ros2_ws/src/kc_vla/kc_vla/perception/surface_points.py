"""The points that a depth image measures in the box of an object."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.pixel_points import points_at

Numbers = NDArray[np.float64]
_MOST_SIDE = 96
"""A longer side of a box is looked at in steps."""


@dataclass(frozen=True, eq=False)
class SurfacePoints:
    """Points of a grid of pixels.

    Attributes:
        points: in the frame that objects are located in (3, H, W), m; NaN where depth is not known.
        depth: along the optical axis (H, W), m.
        inside: which pixels are in the object's box (H, W); the others are around it.
        at_x: columns of the pixels (1, W).
        at_y: their rows (H, 1).
        at_rim: which pixels are at the rim of the image (H, W).
        camera: place of the camera in the frame of the points (3,), m.
    """

    points: Numbers
    depth: Numbers
    inside: NDArray[np.bool_]
    at_x: NDArray[np.intp]
    at_y: NDArray[np.intp]
    at_rim: NDArray[np.bool_]
    camera: Numbers

    @cached_property
    def normals(self) -> Numbers:
        """Return the normal of the surface at each pixel (3, H, W), towards the camera; NaN where it is not known."""
        return _normals(self.points, self.camera)


@lru_cache(maxsize=2)  # fronts, top and door of one piece of furniture are looked for one after the other
def surface_points(frame: CameraFrame, box: PixelBox, around_px: int) -> SurfacePoints | None:
    """Return the points in a box and so many pixels around it; None without depth, or where the image has no pixel.

    Args:
        frame: with depth that is NaN where it is not known.
        box: of the object, px.
        around_px: on each side.
    """
    if frame.depth_m is None:
        return None
    rows, columns = frame.depth_m.shape
    left, right = max(int(box.left) - around_px, 0), min(int(np.ceil(box.right)) + around_px, columns)
    top, bottom = max(int(box.top) - around_px, 0), min(int(np.ceil(box.bottom)) + around_px, rows)
    if right - left < 2 or bottom - top < 2:
        return None
    step = max(1, (max(right - left, bottom - top) + _MOST_SIDE - 1) // _MOST_SIDE)
    grid = slice(top, bottom, step), slice(left, right, step)
    depth, points = frame.depth_m[grid].astype(float), points_at(frame, *grid)
    at_x, at_y = np.arange(left, right, step)[None], np.arange(top, bottom, step)[:, None]
    inside = ((at_x >= box.left - 1) & (at_x <= box.right)) & ((at_y >= box.top - 1) & (at_y <= box.bottom))
    rim = ((at_x < step) | (at_x >= columns - step)) | ((at_y < step) | (at_y >= rows - step))
    return SurfacePoints(points, depth, inside, at_x, at_y, rim, frame.pose[:3, 3])


def _normals(points: Numbers, camera: Numbers) -> Numbers:
    """Return the normal of the surface at each pixel (3, H, W), towards the camera; NaN where it is not known.

    Args:
        points: of the pixels (3, H, W), m.
        camera: place of the camera (3,), m.
    """
    normals = np.full(points.shape, np.nan)
    across, down = points[:, 1:-1, 2:] - points[:, 1:-1, :-2], points[:, 2:, 1:-1] - points[:, :-2, 1:-1]
    (ax, ay, az), (dx, dy, dz), sight = across, down, points[:, 1:-1, 1:-1] - camera[:, None, None]
    x, y, z = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
    away = x * sight[0] + y * sight[1] + z * sight[2]
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.where(away > 0.0, -1.0, 1.0) / np.sqrt(x * x + y * y + z * z)
        for each, part in zip(normals, (x, y, z), strict=True):
            np.multiply(part, scale, out=each[1:-1, 1:-1])
    return normals
