"""How a thing stands: its footprint with the turn of it, its place and its height, by what a depth image shows.

The points of a thing are those in its box above what it stands on. A footprint is the narrowest box around them, seen
from above. A round thing hides its far side: it is taken to be as deep as it is wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import median, percentiles
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.components import largest_component
from kc_vla.perception.neighbors import Neighbors
from kc_vla.perception.surface_points import SurfacePoints, surface_points

Numbers = NDArray[np.float64]
Vector = tuple[float, float, float]
_AROUND_PX = 6
"""Pixels around the box in which what a thing stands on is looked for."""
_BESIDE_M, _DEEPER_M, _BIN_M = 0.03, 0.12, 0.002
"""What a thing stands on is looked for so far beside it, and so far below where its size lets it end, in such steps."""
_SUNK_M = 0.01
"""The middle of a thing is located so far too low, m."""
_BELIEVED_M = 0.03
"""A level that is so far from where its size lets it end needs twice as many points."""
_ABOVE, _LEAST_ABOVE_M, _MOST_ABOVE_M = 0.2, 0.004, 0.01
"""Points from this share of the height on belong to the thing, within limits, m."""
_ROOM, _HIGHER, _ROOM_M = 0.7, 2.0, 0.02
"""Points of a thing are no further from its middle than this, for its diagonal, and no higher, for its height, and a
length more, m."""
_LEAST_POINTS = 20
_GAP_M = 0.012
"""What is so much nearer to the camera beside a thing hides a part of it, m."""
_EDGE_M, _EDGE_SHARE = 0.015, 0.01
"""A surface does not go on where it leaps away from the camera by more than the first, m, and this share of its depth:
a pixel shows more of what is farther away."""
_CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
_MOST_HIDDEN = 0.4
"""Share of its outline beside which something nearer begins, or the rim of the image, up to which it has a shape."""
_EDGE_PX = 2
"""So far from its outline something nearer begins: between them are the pixels beside the edge, px."""
_YAWS = np.radians(np.arange(0.0, 90.0, 1.0))
_MOST_POINTS = 250
_TRIMMED = 0.2, 99.8
"""Percentiles between which it reaches along a side."""
_FILLED, _ROUND, _DEEP, _LONG = 0.86, 0.7, 0.7, 1.15
"""A round thing fills less of its rectangle than this, and has one side of at least so much of the other; from where it
is seen, it is so deep at least and at most, for its width."""
_HALF_FILLED, _HALF_DEEP = 0.68, 0.42
"""Seen from the side, half of it shows: that is at least so deep for its width, and fills at least so much of the
rectangle along the view. A corner of something square fills half of it."""
_TOP = 98.0
"""Percentile of the heights of its points that is its top."""
_IN_AIR_M = 0.03
"""A thing of which nothing is seen so far above the ground may be in the air, m."""
_MOST_UNLIKE = 1.8
"""A shape whose diagonal differs by more from the size that is known is one of something else."""


@dataclass(frozen=True)
class StandingShape:
    """An upright box around a thing.

    Attributes:
        middle: of it (x, y, z), m.
        length: its longer side, m.
        width: the other one, m.
        height: m.
        yaw: of the longer side, rad, from 0 up to pi; 0 for something round.
        hidden: share of its outline beside which something nearer begins, or the rim of the image: it may go on there.
    """

    middle: Vector
    length: float
    width: float
    height: float
    yaw: float
    hidden: float = 0.0

    @property
    def extent(self) -> Vector:
        """Return its size along the axes of the frame, m."""
        return turned_extent(self.yaw, (self.length, self.width, self.height))


def turned_extent(yaw: float, size: Vector) -> Vector:
    """Return the size along the axes of the frame, m, of an upright box of some size along its own, with a yaw, rad."""
    along, across = abs(np.cos(yaw)), abs(np.sin(yaw))
    length, width, height = size
    return float(length * along + width * across), float(length * across + width * along), height


def standing_shape(
    frame: CameraFrame, box: PixelBox, position: Vector, size: Vector, others: Neighbors
) -> StandingShape | None:
    """Return how a thing stands; None where too little of it is seen to say.

    Args:
        frame: with depth that is NaN where it is not known.
        box: of what can be seen of it, px.
        position: of its middle, as it was located, m.
        size: along the axes of the frame that it is located in, m.
        others: that the image shows.
    """
    seen = surface_points(frame, box, _AROUND_PX)
    if seen is None or not any(size):
        return None
    place, extent = np.asarray(position), np.asarray(size)
    away2 = (seen.points[0] - place[0]) ** 2 + (seen.points[1] - place[1]) ** 2
    ground = _ground(seen, place, extent, away2)
    beside = others.pixels(box, place, extent, seen.points, seen.at_x, seen.at_y)
    own = _own_pixels(seen, beside, extent, ground, away2)
    if own is None or np.count_nonzero(own) < _LEAST_POINTS:
        return None
    hidden = _hidden_share(seen, beside, own)
    if hidden > _MOST_HIDDEN:
        return None
    points = seen.points[:, own]
    low, top = percentiles(points[2], 100.0 - _TOP, _TOP)
    if low - ground > _IN_AIR_M:
        return None
    middle, sides, yaw = _footprint(points[:2].T, frame.pose[:2, 3])
    length, width = float(sides.max()), float(sides.min())
    turn = yaw if sides[0] >= sides[1] else yaw + np.pi / 2
    shape = StandingShape(
        (float(middle[0]), float(middle[1]), (top + ground) / 2),
        length,
        width,
        top - ground,
        float(turn % np.pi),
        hidden,
    )
    unlike = np.linalg.norm(shape.extent) / np.linalg.norm(extent)
    return shape if 1.0 / _MOST_UNLIKE < unlike < _MOST_UNLIKE else None


def _ground(seen: SurfacePoints, place: Numbers, extent: Numbers, away2: Numbers) -> float:
    """Return the height of what a thing stands on, m: the level that most points around its box have, or in it.

    Args:
        seen: the pixels in and around its box.
        place: of its middle (3,), m.
        extent: its size (3,), m.
        away2: how far each pixel's point is from the vertical through its middle, squared (H, W), m2.
    """
    bottom = float(place[2] - extent[2] / 2)
    near = away2 < (math.hypot(*extent[:2]) / 2 + _BESIDE_M) ** 2
    for pixels, high in ((near & ~seen.inside, float(place[2]) + _SUNK_M), (near, float(place[2]))):
        heights = seen.points[2][pixels]
        low = bottom - _DEEPER_M
        heights = heights[(heights > low) & (heights < high)]
        if len(heights) >= _LEAST_POINTS:
            counts = np.bincount(((heights - low) / _BIN_M).astype(np.int64))
            edges = low + _BIN_M * np.arange(len(counts))
            level = edges[int(np.argmax(counts / (1.0 + np.abs(edges - bottom) / _BELIEVED_M)))]
            return median(heights[(heights > level - _BIN_M / 2) & (heights < level + 1.5 * _BIN_M)])
    return bottom


def _own_pixels(
    seen: SurfacePoints, beside: NDArray[np.bool_], extent: Numbers, ground: float, away2: Numbers
) -> NDArray[np.bool_] | None:
    """Return which pixels show the thing (H, W): the largest connected part above the ground; None for none."""
    above = min(max(_ABOVE * float(extent[2]), _LEAST_ABOVE_M), _MOST_ABOVE_M)
    near = away2 <= (_ROOM * math.hypot(*extent[:2]) + _ROOM_M) ** 2
    heights = seen.points[2] - ground
    mask = seen.inside & ~beside & near & (heights > above) & (heights < _HIGHER * extent[2] + _ROOM_M)
    mask &= ~_behind_an_edge(seen)
    return largest_component(mask)


def _behind_an_edge(seen: SurfacePoints) -> NDArray[np.bool_]:
    """Return which pixels are beside one that is much nearer (H, W): there something else begins, such as a wall."""
    nearest = np.asarray(cv2.erode(np.where(np.isfinite(seen.depth), seen.depth, np.inf), np.ones((3, 3), np.uint8)))
    return np.asarray(seen.depth - nearest > _EDGE_M + _EDGE_SHARE * nearest)


def _hidden_share(seen: SurfacePoints, other: NDArray[np.bool_], own: NDArray[np.bool_]) -> float:
    """Return the share of the thing's outline beside which something nearer begins, or the rim of the image."""
    mine = np.where(own, seen.depth, -np.inf)
    reached = np.asarray(cv2.dilate(mine, _CROSS, iterations=_EDGE_PX))  # the depth of the thing beside each pixel
    nearer = ~own & ((seen.depth < reached - _GAP_M) | (other & (seen.depth < reached + _GAP_M)))
    hides = np.asarray(cv2.dilate(nearer.astype(np.uint8), _CROSS, iterations=_EDGE_PX), bool)
    outline = own & ~np.asarray(cv2.erode(own.astype(np.uint8), _CROSS, borderValue=0), bool)
    return int(np.count_nonzero(outline & (hides | seen.at_rim))) / max(int(np.count_nonzero(outline)), 1)


def _footprint(points: Numbers, camera: Numbers) -> tuple[Numbers, Numbers, float]:
    """Return the middle (2,) and the sides (2,) of the rectangle around points (N, 2), m, and the yaw of the first."""
    hull = cv2.convexHull(points.astype(np.float32))
    ahead = points.mean(axis=0) - camera
    view = float(np.arctan2(ahead[1], ahead[0]))
    points = points[:: max(1, len(points) // _MOST_POINTS)]
    low, high = _reach(points, np.append(_YAWS, view))
    sides = high - low
    best = int(np.argmin(np.prod(sides[:-1], axis=1)))
    deep, wide = sides[-1].tolist()
    area = float(cv2.contourArea(hull))
    round_enough = sides[best].min() > _ROUND * sides[best].max() and _DEEP * wide < deep < _LONG * wide
    is_half = _HALF_DEEP * wide < deep <= _DEEP * wide and _HALF_FILLED * deep * wide < area < _FILLED * deep * wide
    if is_half or (round_enough and area < _FILLED * np.prod(sides[best])):
        middle = np.array([low[-1, 0] + wide / 2, (low[-1, 1] + high[-1, 1]) / 2])
        return _turned(middle, view), np.array([wide, wide]), 0.0
    return _turned((low[best] + high[best]) / 2, _YAWS[best]), sides[best], float(_YAWS[best])


def _reach(points: Numbers, yaws: Numbers) -> tuple[Numbers, Numbers]:
    """Return from where to where points (N, 2) reach along axes of some yaws (K,), rad, and across them, (K, 2), m.

    Of at most 500 points, a percentile of `_TRIMMED` lies between the last two in a direction.
    """
    c, s = np.cos(yaws), np.sin(yaws)
    outer = _outermost(points)
    turned = np.sort(np.array([[c, s], [-s, c]]).transpose(0, 2, 1) @ outer.T)  # (2, K, points)
    low, high = (share / 100.0 * (len(points) - 1) for share in (_TRIMMED[0], 100.0 - _TRIMMED[1]))
    lowest, highest = turned[..., :2].T, turned[..., -2:].T
    return lowest[0] + low * (lowest[1] - lowest[0]), highest[1] - high * (highest[1] - highest[0])


def _outermost(points: Numbers) -> Numbers:
    """Return the points among which are the last two of all points (N, 2) in each direction."""
    flat = points.astype(np.float32)
    first = cv2.convexHull(flat, returnPoints=False).ravel().astype(np.intp)
    inner = np.delete(np.arange(len(flat)), first)
    second = inner[cv2.convexHull(flat[inner], returnPoints=False).ravel()] if len(inner) else inner
    return np.asarray(points[np.concatenate([first, second])])


def _turned(point: Numbers, yaw: float) -> Numbers:
    """Return a point (2,) of a frame with that yaw (rad) in the frame that it is turned in, m."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s], [s, c]]) @ point
