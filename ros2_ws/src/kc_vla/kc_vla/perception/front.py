"""The front of a drawer or a door in a depth image: its plane, the bar of its handle, and the edges of it.

A bar stands out of a front by some centimeters, and is long and thin. The plane that has one is the front.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import median, percentiles
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.components import components
from kc_vla.perception.surface_points import SurfacePoints, surface_points
from kc_vla.perception.vertical_planes import FLAT_M, VerticalPlane, vertical_planes

Numbers = NDArray[np.float64]
Vector = tuple[float, float, float]
CONTAINERS = frozenset({"drawer", "cupboard", "cabinet", "microwave", "oven", "fridge", "dishwasher", "safe", "box"})
"""Types of what opens and closes."""
OPENED = frozenset({"open", "opened"})
"""States of what is open, in small letters."""
PART, WHOLE = "drawer", "cabinet"
"""Types of which one is a part of the other: their boxes have much in common, and still they are two objects."""
_AROUND_PX = 8
_ROOM, _OFF_M = 0.7, 0.02
"""A piece of furniture reaches so far from its middle, for its diagonal; and it is located so far off, m."""
_UPRIGHT, _BIN_M = 0.2, 0.003
"""A surface is vertical while the vertical part of its normal is less; and the step of a search, m."""
_BAR_M, _BAR_THICK_M, _BAR_LONG_M = (0.022, 0.065), 0.03, 0.05
"""A bar stands out of the front by so much, is no thicker than this, and no shorter than that, m."""
_BAR_HALF_M = 0.006
"""From the surface of a bar to its middle, m."""
_LEAST_PIXELS = 6
_APART_M = 0.04
"""Two bars are further apart, m."""
_GAP_M = 0.015
"""Between two fronts, m."""
INSET_M = 0.014
"""The axis of a door lies so far behind the surface of its front, m."""
_ENDS = 1.0, 99.0
_BESIDE = 0.5
"""Share of the longer side of the box in which other fronts are looked for around it."""
_SAME_WAY, _OPEN_M = 0.97, (0.025, 0.25)
"""Cosine between the normals of surfaces that look the same way; and how far apart an open and a shut front are, m."""
_TOP_M = 0.05
"""The top of a piece of furniture is no further above the front of its upper drawer, m."""


@dataclass(frozen=True)
class Front:
    """A front that opens, as one image shows it.

    Attributes:
        yaw: of the direction in which it looks as it is, rad.
        bar: middle of the bar of its handle, m.
        standing: the bar stands upright, as that of a door does.
        hinge: point of the edge that is further from the bar (x, y), m; None without a standing bar.
        standoff: of the bar's middle from the front, m.
        opening: how far it is before where it is shut, m; None where that is not seen.
        wide: how wide the surface is that the bar stands out of, m; 0 where that was not measured.
        low: how far that reaches below the bar, m; fronts above one another may be one surface.
        high: how far it reaches above the bar, m.
    """

    yaw: float
    bar: Vector
    standing: bool
    hinge: tuple[float, float] | None
    standoff: float
    opening: float | None = None
    wide: float = 0.0
    low: float = 0.0
    high: float = 0.0


def fronts_in(frame: CameraFrame, box: PixelBox, position: Vector, size: Vector, most: int) -> list[Front]:
    """Return the fronts with a bar of a piece of furniture, the one whose bar shows most pixels first.

    Args:
        frame: with depth that is NaN where it is not known.
        box: of what can be seen of it, px.
        position: of its middle, as it was located, m.
        size: along the axes of the frame that it is located in, m.
        most: fronts that are wanted.
    """
    seen = surface_points(frame, box, _AROUND_PX)
    if seen is None:
        return []
    middle, extent = np.asarray(position), np.asarray(size)
    away2 = sum((seen.points[axis] - middle[axis]) ** 2 for axis in range(3))
    near = np.asarray(away2 < (_ROOM * float(np.linalg.norm(extent)) + _BAR_M[1]) ** 2)
    upright = near & seen.inside & (np.abs(seen.normals[2]) < _UPRIGHT)
    planes = vertical_planes(seen, upright)
    found = [each for plane in planes for each in fronts_on(seen, near, plane, middle, extent)]
    if not found:
        return []
    found.sort(key=lambda each: -each[0])
    around = surface_points(frame, box, int(_BESIDE * max(box.right - box.left, box.bottom - box.top)))
    fronts = list[Front]()
    for _, plane, front in found:
        if len(fronts) == most:
            break
        if any(front.standing == each.standing and math.dist(front.bar, each.bar) < _APART_M for each in fronts):
            continue
        if not front.standing and around is not None:
            front = replace(front, opening=_ahead(around, seen, plane))
        fronts.append(front)
    return fronts


def fronts_on(
    seen: SurfacePoints, near: NDArray[np.bool_], plane: VerticalPlane, middle: Numbers, extent: Numbers
) -> list[tuple[int, VerticalPlane, Front]]:
    """Return the fronts in a plane, each after the number of pixels of its bar; none where no bar stands out of it.

    Args:
        seen: points of pixels.
        near: those that count (H, W).
        plane: that a front may be in.
        middle: of the furniture, or of its door (3,), m.
        extent: its size along the axes of the frame (3,), m.
    """
    out, aside = plane.out, plane.aside
    (ahead, sideways), height = plane.coordinates(seen.points), seen.points[2]
    half = float(np.abs(aside[:2]) @ extent[:2]) / 2
    left, right = percentiles(sideways[plane.pixels], *_ENDS)
    at_side = float(middle @ aside)
    left, right = max(left, at_side - half - _OFF_M), min(right, at_side + half + _OFF_M)
    low, high = percentiles(height[plane.pixels], *_ENDS)
    low, high = max(low + _OFF_M, middle[2] - extent[2] / 2 - _OFF_M), min(high, middle[2] + extent[2] / 2) + _OFF_M
    before = near & (ahead > _BAR_M[0]) & (ahead < _BAR_M[1])
    before &= (sideways > left) & (sideways < right) & (height > low) & (height < high)
    if np.count_nonzero(before) < _LEAST_PIXELS:
        return []
    flat = near & seen.inside & (np.abs(ahead) < FLAT_M) & (height > low) & (height < high)
    flat &= (sideways > left - _OFF_M) & (sideways < right + _OFF_M)
    labels, sizes = components(before)
    found = list[tuple[int, VerticalPlane, Front]]()
    for label, number in enumerate(sizes[1:].tolist(), 1):
        if number < _LEAST_PIXELS:
            continue
        own = labels == label
        ends = np.array([(sideways[own].min(), height[own].min()), (sideways[own].max(), height[own].max())])
        wide, tall = (ends[1] - ends[0]).tolist()
        if max(wide, tall) < _BAR_LONG_M or min(wide, tall) > _BAR_THICK_M:
            continue
        standing = tall > wide
        at, up = ends.mean(axis=0).tolist()
        if not standing:  # its lower side is hidden from above
            up = float(ends[1, 1]) - _BAR_HALF_M
        (surface,) = percentiles(ahead[own], 90.0)
        x, y, _ = ((plane.offset + surface - _BAR_HALF_M) * out + at * aside).tolist()
        left, right = _edges(sideways[flat], at)
        edge = left if at - left > right - at else right
        hinge_x, hinge_y, _ = ((plane.offset - INSET_M) * out + edge * aside).tolist()
        hinge = (hinge_x, hinge_y) if standing else None
        front = Front(plane.yaw, (x, y, up), standing, hinge, surface - _BAR_HALF_M)
        beside = plane.pixels & (sideways > left) & (sideways < right)
        if not standing and beside.any():
            lowest, highest = _edges(height[beside], up)
            front = replace(front, wide=right - left, low=up - lowest, high=highest - up)
        found.append((number, plane, front))
    return found


def _ahead(around: SurfacePoints, seen: SurfacePoints, plane: VerticalPlane) -> float | None:
    """Return how far a front is before where it is shut, m; None where that is not seen.

    Other fronts of the same width, above or below it, show that, and so does the front edge of the top above it.
    """
    own = seen.points[:, plane.pixels]
    (left, right), (low, high) = percentiles(plane.aside @ own, *_ENDS), percentiles(own[2], *_ENDS)
    normals = around.normals
    (ahead, sideways), height = plane.coordinates(around.points), around.points[2]
    behind = (sideways > left) & (sideways < right) & (ahead < -_OPEN_M[0]) & (ahead > -_OPEN_M[1])
    facing = normals[0] * plane.out[0] + normals[1] * plane.out[1]
    fronts = ahead[behind & (facing > _SAME_WAY) & ((height < low - FLAT_M) | (height > high + FLAT_M))]
    if len(fronts) >= _LEAST_PIXELS:
        counts, edges = np.histogram(fronts, np.arange(-_OPEN_M[1], 0.0, 2 * _BIN_M))
        level = edges[int(np.argmax(counts))] + _BIN_M
        return -median(fronts[np.abs(fronts - level) <= 2 * _BIN_M])
    tops = ahead[behind & (normals[2] > _SAME_WAY) & (height > high) & (height < high + _TOP_M)]
    if len(tops) < _LEAST_PIXELS:
        return None
    return -percentiles(tops, _ENDS[1])[0] - INSET_M


def _edges(sideways: Numbers, at: float) -> tuple[float, float]:
    """Return from where to where a front reaches (m), of all points of its plane (N,), m, around its bar at a place.

    Fronts that stand side by side are in one plane: there is a gap between them.
    """
    ordered = np.sort(sideways)
    gaps = np.flatnonzero(np.diff(ordered) > _GAP_M)
    runs = np.split(ordered, gaps + 1)
    own = min(runs, key=lambda each: max(each[0] - at, at - each[-1], 0.0))
    return float(own[0]), float(own[-1])
