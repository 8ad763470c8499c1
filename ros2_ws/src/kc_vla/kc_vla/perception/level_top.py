"""The top of furniture in a depth image: a level rectangle, which shows where its sides are better than anything else.

A detector estimates the middle of furniture from what is seen of it. Its upper side, or the rim of something hollow, is
measured: all of its outline is seen from above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import median
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.components import largest_component
from kc_vla.perception.standing_shape import StandingShape
from kc_vla.perception.surface_points import SurfacePoints, surface_points

Numbers = NDArray[np.float64]
Vector = tuple[float, float, float]
_LEVEL = 0.97
"""Vertical part of the normal of a level surface, at least."""
_BIN_M, _FLAT_M = 0.006, 0.008
"""Heights are counted in such steps, and what is level is so flat, m."""
_HIGH = 0.5
"""The top of furniture is higher above its bottom than this share of its size."""
_LEAST_PIXELS, _LEAST_SIDE_M = 60, 0.08
"""The top shows so many pixels at least, and no side of it is shorter than this, m."""
_HIDDEN, _GAP_M = 0.06, 0.02
"""Share of the outline of the top that something nearer may hide; that is nearer by this, m."""
_FILLED = 0.8
"""Share of its rectangle that the outline of a top fills."""
_AROUND_PX = 8
_OFF_M, _ALIKE = 0.12, (0.4, 1.35)
"""The middle of furniture is located so far off at most, m; and its top is so large for what was located, with a door
that may be open."""
_STANDS_M = 0.08
"""Furniture whose bottom is located no further than this from the surface that things stand on stands on it, m."""
_SQUARE = np.ones((3, 3), np.uint8)


@dataclass(frozen=True, eq=False)
class LevelTop:
    """The top of furniture.

    Attributes:
        corners: of it in their order (4, 2), m.
        height: m.
    """

    corners: Numbers
    height: float

    @property
    def middle(self) -> Numbers:
        """Return its middle (2,), m."""
        return np.asarray(self.corners.mean(axis=0))

    def is_beside(self, points: Numbers, margin: float) -> NDArray[np.bool_]:
        """Return which points (3, H, W), m, are further than a margin (m) beside it, seen from above (H, W)."""
        beside, middle = np.zeros(points.shape[1:], bool), self.middle
        for first, second in ((0, 1), (1, 2)):
            side = self.corners[second] - self.corners[first]
            half = float(np.linalg.norm(side)) / 2
            along = (points[0] - middle[0]) * side[0] + (points[1] - middle[1]) * side[1]
            beside |= np.abs(along) > 2 * half * (half + margin)
        return beside


def furniture_shape(
    frame: CameraFrame, box: PixelBox, position: Vector, size: Vector, hollow: bool, support_m: float | None
) -> StandingShape | None:
    """Return the box of furniture by its top; None where that is not seen.

    Args:
        frame: with depth that is NaN where it is not known.
        box: of what can be seen of it, px.
        position: of its middle, as it was located, m.
        size: along the axes of the frame that it is located in, with a door that may be open, m.
        hollow: its top is but a rim.
        support_m: height of the surface that things stand on, m; None: not known.
    """
    seen = surface_points(frame, box, _AROUND_PX)
    if seen is None or not any(size):
        return None
    bottom = position[2] - size[2] / 2
    if support_m is not None and abs(bottom - support_m) < _STANDS_M:
        bottom = support_m
    top = level_top(seen, bottom, size[2], hollow)
    if top is None or math.dist(top.middle, position[:2]) > _OFF_M:
        return None
    sides = [float(np.linalg.norm(top.corners[at + 1] - top.corners[at])) for at in (0, 1)]
    alike = math.hypot(*sides) / math.hypot(*size[:2])
    if not _ALIKE[0] < alike < _ALIKE[1]:
        return None
    along = top.corners[1] - top.corners[0] if sides[0] >= sides[1] else top.corners[2] - top.corners[1]
    x, y = top.middle.tolist()
    yaw = float(np.arctan2(along[1], along[0]) % np.pi)
    return StandingShape((x, y, (top.height + bottom) / 2), max(sides), min(sides), top.height - bottom, yaw)


def level_top(seen: SurfacePoints, bottom: float, tall: float, hollow: bool = False) -> LevelTop | None:
    """Return the top of furniture; None where no such rectangle is seen, or something hides a side of it.

    Args:
        seen: the pixels in and around its box.
        bottom: about the height of the bottom of the furniture, m.
        tall: about how high the furniture is, m.
        hollow: its top is but a rim.
    """
    heights = seen.points[2]
    high = seen.inside & (heights > bottom + _HIGH * tall)
    if not hollow:
        high &= seen.normals[2] > _LEVEL
    if np.count_nonzero(high) < _LEAST_PIXELS:
        return None
    measured = heights[high]
    edges = np.arange(measured.min(), measured.max() + 2 * _BIN_M, _BIN_M)
    counts = np.bincount(np.searchsorted(edges, measured, side="right"))[1:]
    at = float(edges[int(np.argmax(counts))]) + _BIN_M / 2
    own = _largest(np.asarray(seen.inside & (np.abs(heights - at) < _FLAT_M)), hollow)
    if np.count_nonzero(own) < _LEAST_PIXELS or _is_hidden(seen, own) or (hollow and (own & seen.at_rim).any()):
        return None
    points = seen.points[:2, own].T.astype(np.float32)
    hull = cv2.convexHull(points)
    rectangle = cv2.minAreaRect(hull)
    if min(rectangle[1]) < _LEAST_SIDE_M or cv2.contourArea(hull) < _FILLED * math.prod(rectangle[1]):
        return None
    return LevelTop(np.asarray(cv2.boxPoints(rectangle), float), median(heights[own]))


def _largest(flat: NDArray[np.bool_], hollow: bool) -> NDArray[np.bool_]:
    """Return the largest connected part of some pixels (H, W), without what is thin, such as the edge of a door."""
    if not hollow:
        flat = np.asarray(cv2.morphologyEx(flat.view(np.uint8), cv2.MORPH_OPEN, _SQUARE), bool)
    largest = largest_component(flat, 8 if hollow else 4)
    return np.zeros(flat.shape, bool) if largest is None else largest


def _is_hidden(seen: SurfacePoints, own: NDArray[np.bool_]) -> bool:
    """Return whether something nearer hides a side of what some pixels show, or the rim of the image cuts it.

    What stands on it hides no side.
    """
    reached = np.asarray(cv2.dilate(np.where(own, seen.depth, -np.inf), _SQUARE))
    nearer = ~own & np.isfinite(reached) & (seen.depth < reached - _GAP_M)
    filled = cv2.fillConvexPoly(np.zeros(own.shape, np.uint8), cv2.convexHull(_row_ends(own)), 1)
    inner = np.asarray(cv2.erode(filled, _SQUARE, borderValue=0))
    nearer &= inner == 0
    outline = np.count_nonzero(filled) - np.count_nonzero(inner)
    return bool(np.count_nonzero(nearer) + np.count_nonzero(own & seen.at_rim) > _HIDDEN * outline)


def _row_ends(own: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the first and the last pixel of each row of a mask (x, y) (N, 2): no other one is a corner of its hull."""
    rows = np.flatnonzero(own.any(axis=1))
    first, last = own[rows].argmax(axis=1), own.shape[1] - 1 - own[rows, ::-1].argmax(axis=1)
    return np.column_stack([np.concatenate([first, last]), np.concatenate([rows, rows])]).astype(np.int32)
