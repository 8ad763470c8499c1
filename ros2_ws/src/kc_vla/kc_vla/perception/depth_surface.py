"""How deep the surface of an object is in a depth image, and whether the image can be believed at all."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import median
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame

Numbers = NDArray[np.float64]
_MIDDLE, _CENTRAL = 0.2, 0.5
"""Shares of a box's sides around the object's middle in which its surface is measured, and looked for."""
_KNOWN = 0.1
"""Share of the pixels whose depth is known that is enough."""
_LIES_IN = 0.9
"""A box of which another one has this share lies in that one: a cup on a tray."""
_SAME = 0.6
"""Two boxes with this share of what they cover in common show one thing that was found twice."""
_FARTHEST_M = 50.0
"""No camera of a robot measures further: larger numbers are millimeters."""
_NEAREST_M = 0.01
_OTHER_UNIT = 100.0
"""So many times off the table a median is in another unit: it would be 1000 times."""
_INNER = 0.7
"""Share of a box's sides in which the middle of an object is that is not hidden."""
_GAP_M, _GAP_SHARE = 0.015, 0.02
"""Two surfaces are further apart than that, or than this share of their depth."""
_OWN_SHARE, _SURFACE_SHARE, _LEAST_PIXELS = 0.4, 0.15, 3
"""Shares of a patch's known pixels that an object's surface has as a rule, and that any surface has: less are stray."""
_GRID = 24


def valid_depth(frame: CameraFrame, support_m: float | None) -> tuple[NDArray[np.float32] | None, str]:
    """Return the depth image with NaN where it is not known, or None and one line that says why it is refused.

    Args:
        frame: with or without depth.
        support_m: height of the surface that things stand on, m; None: not known.
    """
    if frame.depth_m is None:
        return None, ""
    is_known = np.isfinite(frame.depth_m) & (frame.depth_m > 0.0)
    known, depth = frame.depth_m[is_known], np.where(is_known, frame.depth_m, np.float32(np.nan))
    name = f"the depth image of '{frame.camera}'"
    if not known.size:
        return None, f"{name} is empty: check that the camera measures depth and aligns it to color"
    median_m = median(known[:: max(1, known.size // 4096)])
    wanted_m = _depth_of_support(frame, support_m)
    off = 1.0 if wanted_m is None else median_m / wanted_m
    if median_m > _FARTHEST_M or off > _OTHER_UNIT:
        return None, f"{name} has a median of {median_m:.4g} m: it seems to be in millimeters; give 16UC1 mm or 32FC1 m"
    if median_m < _NEAREST_M or off < 1.0 / _OTHER_UNIT:
        return None, f"{name} has a median of {median_m:.4g} m: its unit is wrong; give 16UC1 mm or 32FC1 m"
    return depth, ""


def surface_depth(
    depth: NDArray[np.float32], box: PixelBox, center: tuple[float, float], others: Numbers | None = None
) -> float | None:
    """Return the depth of the nearest surface that fills a part of a box around a pixel, m; None where none is known.

    What is seen beside an object, or through a mug's handle, is a surface of its own and lies deeper.

    Args:
        depth: of each pixel (H, W), m; NaN where it is not known.
        box: of the object, px.
        center: pixel of its middle.
        others: boxes of objects in the image (N, 4), px: what they have in common with this one may be their surface.
            Its own box may be among them. None: there are none.
    """
    left, top = max(int(box.left), 0), max(int(box.top), 0)
    depth = depth[top : max(int(np.ceil(box.bottom)), 0), left : max(int(np.ceil(box.right)), 0)]
    beside = np.empty((0, 4)) if others is None else others[overlapping(box, others)] - (left, top, left, top)
    box = PixelBox(box.left - left, box.top - top, box.right - left, box.bottom - top)
    anchor = _anchor(box, (center[0] - left, center[1] - top))
    for image in (_without(depth, beside), depth) if len(beside) else (depth,):
        for share in (_CENTRAL, 1.0):
            patch = patch_around(image, box, anchor, share)
            known = np.sort(patch[np.isfinite(patch)].astype(float))
            if len(known) >= max(_LEAST_PIXELS, _KNOWN * patch.size):
                surface = nearest_surface(known)
                middle = patch_around(image, box, anchor, _MIDDLE)
                near = middle[(middle >= surface[0]) & (middle <= surface[-1])]
                return median(near if near.size >= _LEAST_PIXELS else surface)
    return None


def overlapping(box: PixelBox, others: Numbers | None) -> NDArray[np.intp]:
    """Return the numbers of the boxes (N, 4) of other things that have something in common with a box.

    Those that it lies in are left out, and those of the same thing, such as a mug that is also taken for a cup.
    """
    if others is None or not len(others):
        return np.empty(0, np.intp)
    width = np.minimum(box.right, others[:, 2]) - np.maximum(box.left, others[:, 0])
    height = np.minimum(box.bottom, others[:, 3]) - np.maximum(box.top, others[:, 1])
    area = (box.right - box.left) * (box.bottom - box.top)
    both = np.maximum(width, 0.0) * np.maximum(height, 0.0)
    either = area + (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1]) - both
    return np.flatnonzero((both > 0.0) & (both <= _LIES_IN * area) & (both < _SAME * either))


def _without(depth: NDArray[np.float32], boxes: Numbers) -> NDArray[np.float32]:
    """Return a depth image without what some boxes show."""
    masked = depth.copy()
    for left, top, right, bottom in boxes.tolist():
        masked[max(int(top), 0) : math.ceil(bottom), max(int(left), 0) : math.ceil(right)] = np.nan
    return masked


def _anchor(box: PixelBox, center: tuple[float, float]) -> tuple[float, float]:
    """Return the pixel of a box around which to measure: its middle where the object's is at the edge of what is seen.

    There something else stands before the object's middle.
    """
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    inner = _INNER * (box.right - box.left) / 2, _INNER * (box.bottom - box.top) / 2
    inside = all(abs(at - mid) <= half for at, mid, half in zip(center, middle, inner, strict=True))
    return center if inside else middle


def patch_around(
    depth: NDArray[np.float32], box: PixelBox, center: tuple[float, float], share: float
) -> NDArray[np.float32]:
    """Return the part of a depth image around a pixel that has that share of a box's sides, cut to box and image."""
    height, width = depth.shape
    across, down = share * (box.right - box.left) / 2, share * (box.bottom - box.top) / 2
    if share >= 1.0:
        center = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    left = int(np.floor(max(center[0] - across, box.left, 0.0)))
    right = int(np.ceil(min(center[0] + across, box.right, float(width))))
    top = int(np.floor(max(center[1] - down, box.top, 0.0)))
    bottom = int(np.ceil(min(center[1] + down, box.bottom, float(height))))
    return depth[top : max(bottom, 0), left : max(right, 0)]


def nearest_surface(known: Numbers) -> Numbers:
    """Return those of sorted depths (N,), m, that are of the nearest surface that is no stray pixel."""
    gaps = np.flatnonzero(np.diff(known) > np.maximum(_GAP_M, _GAP_SHARE * known[:-1])) + 1
    surfaces = np.split(known, gaps)
    for share in (_OWN_SHARE, _SURFACE_SHARE):
        for surface in surfaces:
            if len(surface) >= max(_LEAST_PIXELS, share * len(known)):
                return surface
    return max(surfaces, key=len)


def _depth_of_support(frame: CameraFrame, support_m: float | None) -> float | None:
    """Return the median depth of the support surface in the image, m; None where it is not in it."""
    if support_m is None:
        return None
    down = _grid_rays(np.asarray(frame.matrix, float).tobytes(), frame.image.shape[:2]) @ frame.pose[2, :3]
    with np.errstate(divide="ignore", invalid="ignore"):
        deep = (support_m - frame.pose[2, 3]) / down
    ahead = deep[(deep > 0.0) & (deep < _FARTHEST_M)]
    return median(ahead) if len(ahead) > len(deep) / 4 else None


@lru_cache(maxsize=8)
def _grid_rays(matrix: bytes, shape: tuple[int, int]) -> Numbers:
    """Return the directions of the pixels of a grid over an image at depth 1 (N, 3), without the distortion."""
    (height, width), lens = shape, np.frombuffer(matrix).reshape(3, 3)
    columns, rows = np.meshgrid(np.linspace(0, width - 1, _GRID), np.linspace(0, height - 1, _GRID))
    flat = (np.column_stack([columns.ravel(), rows.ravel()]) - lens[:2, 2]) / lens[[0, 1], [0, 1]]
    return np.column_stack([flat, np.ones(len(flat))])
