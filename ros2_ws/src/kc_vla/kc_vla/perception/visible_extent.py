"""How large an object is whose size nobody knows, by what a depth image shows of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import percentiles
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.pixel_points import pixel_rays
from kc_vla.perception.view_ray import ViewRay

Vector = tuple[float, float, float]
_MOST_POINTS = 400
_SMALLEST_M = 0.005
_BESIDE = 0.25
"""Share of the box on each side in which other things are seen as well."""
_PERCENTILES = 3, 95
_STANDS_M = 0.03
"""What is lower above the support surface stands on it."""


def visible_size(
    frame: CameraFrame,
    depth: NDArray[np.float32],
    box: PixelBox,
    ray: ViewRay,
    surface_m: float,
    support_m: float | None,
) -> Vector:
    """Return the size of an object along the axes of the frame, m: as deep as it is wide.

    Args:
        frame: of the image.
        depth: of each pixel (H, W), m; NaN where it is not known.
        box: of the object, px.
        ray: through its middle.
        surface_m: depth of its surface.
        support_m: height of the surface that things stand on, m; None: not known.
    """
    width_m = max(ray.box_px[0] * surface_m / ray.focal_px[0], _SMALLEST_M)
    heights = _heights(frame, depth, box, surface_m, width_m)
    if not len(heights):
        return width_m, width_m, width_m
    bottom_m, top_m = percentiles(heights, *_PERCENTILES)
    if support_m is not None and abs(bottom_m - support_m) < max(_STANDS_M, 0.5 * (top_m - bottom_m)):
        bottom_m = support_m
    return width_m, width_m, max(top_m - bottom_m, _SMALLEST_M)


def _heights(
    frame: CameraFrame, depth: NDArray[np.float32], box: PixelBox, surface_m: float, width_m: float
) -> NDArray[np.float64]:
    """Return the heights of the points in the middle columns of a box that are as deep as the object (N,), m."""
    rows, columns = depth.shape
    margin = (box.right - box.left) * _BESIDE
    left, right = max(int(box.left + margin), 0), min(int(np.ceil(box.right - margin)), columns)
    top, bottom = max(int(box.top), 0), min(int(np.ceil(box.bottom)), rows)
    step = max(1, int(np.sqrt((right - left) * (bottom - top) / _MOST_POINTS)))
    part = depth[top:bottom:step, left:right:step]
    known = np.abs(part - surface_m) < width_m
    at_y, at_x = np.nonzero(known)
    x, y = pixel_rays(frame)[:, top + step * at_y, left + step * at_x]
    along_x, along_y, along_z = frame.pose[2, :3].tolist()
    heights = (x * along_x + y * along_y + along_z) * part[known].astype(float) + frame.pose[2, 3]
    return np.asarray(heights[np.isfinite(heights)])
