"""Vertical planes in a depth image, as fronts, doors and walls are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import median
from kc_vla.perception.surface_points import SurfacePoints

Numbers = NDArray[np.float64]
_TURN, _TURNS = np.radians(6.0), 72
"""A surface faces a way within so much, of so many."""
_PLANES, _BIN_M = 3, 0.003
"""So many planes are looked for, in such steps, m."""
FLAT_M = 0.004
"""How flat a plane is, m."""
_BESIDE = (np.arange(_TURNS)[:, None] + np.arange(-1, 2)) % _TURNS
"""Each of the ways with the ones beside it (N, 3)."""
_NEAR = np.zeros((_TURNS, _TURNS), bool)
_NEAR[np.arange(_TURNS)[:, None], _BESIDE] = True
"""Which ways are so near to each one that a surface in its middle may face them, too."""
_LEAST_SHARE, _LEAST_PIXELS = 0.1, 6
"""A plane has this share of the pixels at least, and so many."""


@dataclass(frozen=True, eq=False)
class VerticalPlane:
    """A vertical plane that an image shows.

    Attributes:
        yaw: of its normal towards the camera, rad.
        offset: of it along the normal, m.
        pixels: that show it (H, W).
    """

    yaw: float
    offset: float
    pixels: NDArray[np.bool_]

    @property
    def out(self) -> Numbers:
        """Return its normal (3,)."""
        return np.array([np.cos(self.yaw), np.sin(self.yaw), 0.0])

    @property
    def aside(self) -> Numbers:
        """Return the level direction along it (3,), to the left of the normal."""
        return np.array([-np.sin(self.yaw), np.cos(self.yaw), 0.0])

    def coordinates(self, points: Numbers) -> tuple[Numbers, Numbers]:
        """Return how far points (3, ...) are before the plane, and how far along it to the left (...), m."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        return points[0] * c + points[1] * s - self.offset, points[1] * c - points[0] * s


def vertical_planes(
    seen: SurfacePoints, upright: NDArray[np.bool_], share: float = _LEAST_SHARE
) -> list[VerticalPlane]:
    """Return the largest vertical planes.

    Args:
        seen: points of pixels.
        upright: which of them are upright (H, W).
        share: of the pixels in the box that a plane has at least.
    """
    found: list[VerticalPlane] = []
    at = np.flatnonzero(upright)
    (x, y), (along_x, along_y) = seen.points[:2].reshape(2, -1)[:, at], seen.normals[:2].reshape(2, -1)[:, at]
    yaws = np.arctan2(along_y, along_x)
    turns = np.minimum(((yaws + np.pi) * (_TURNS / (2 * np.pi))).astype(np.int64), _TURNS - 1)
    left = np.ones(len(at), bool)
    least = max(_LEAST_PIXELS, share * np.count_nonzero(seen.inside))
    while len(found) < _PLANES and np.count_nonzero(left) > least:
        counts = np.bincount(turns[left], minlength=_TURNS)
        best = int(np.argmax(counts[_BESIDE].sum(axis=1)))
        middle = -np.pi + (2 * best + 1) * np.pi / _TURNS
        some = np.flatnonzero(left & _NEAR[best][turns])
        same = some[np.abs((yaws[some] - middle + np.pi) % (2 * np.pi) - np.pi) < _TURN]
        if len(same) < least:
            break
        yaw = math.atan2(median(along_y[same]), median(along_x[same]))
        along = x[same] * math.cos(yaw) + y[same] * math.sin(yaw)
        lowest = float(along.min())
        level = lowest + (int(np.argmax(np.bincount(((along - lowest) / _BIN_M).astype(np.int64)))) + 0.5) * _BIN_M
        offset = median(along[np.abs(along - level) < 2 * FLAT_M])
        off = np.abs(along - offset)
        pixels = same[off < FLAT_M]
        if len(pixels) >= least:
            shown = np.zeros(upright.shape, bool)
            shown.ravel()[at[pixels]] = True
            found.append(VerticalPlane(yaw, offset, shown))
        left[same[off < 2 * FLAT_M]] = False
    return found
