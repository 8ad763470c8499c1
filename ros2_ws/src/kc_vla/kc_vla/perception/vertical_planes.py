"""Vertical planes in a depth image, as fronts, doors and walls are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.perception.surface_points import SurfacePoints

Numbers = NDArray[np.float64]
_TURN, _TURNS = np.radians(6.0), 72
"""A surface faces a way within so much, of so many."""
_PLANES, _BIN_M = 3, 0.003
"""So many planes are looked for, in such steps, m."""
FLAT_M = 0.004
"""How flat a plane is, m."""
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


def surface_normals(points: Numbers, camera: Numbers) -> Numbers:
    """Return the normal of the surface at each pixel (H, W, 3), towards the camera; NaN where it is not known."""
    across, down = np.full(points.shape, np.nan), np.full(points.shape, np.nan)
    across[:, 1:-1], down[1:-1] = points[:, 2:] - points[:, :-2], points[2:] - points[:-2]
    normals = np.cross(across, down)
    with np.errstate(invalid="ignore", divide="ignore"):
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    away = np.einsum("hwc,hwc->hw", normals, points - camera)
    return np.asarray(np.where((away > 0.0)[..., None], -normals, normals))


def vertical_planes(seen: SurfacePoints, normals: Numbers, upright: NDArray[np.bool_]) -> list[VerticalPlane]:
    """Return the largest vertical planes."""
    found: list[VerticalPlane] = []
    left = upright.copy()
    yaws = np.arctan2(normals[..., 1], normals[..., 0])
    least = max(_LEAST_PIXELS, _LEAST_SHARE * np.count_nonzero(seen.inside))
    while len(found) < _PLANES and np.count_nonzero(left) > least:
        counts, edges = np.histogram(yaws[left], np.linspace(-np.pi, np.pi, _TURNS + 1))
        around = counts + np.roll(counts, 1) + np.roll(counts, -1)
        middle = edges[int(np.argmax(around))] + np.pi / _TURNS
        same = left & (np.abs((yaws - middle + np.pi) % (2 * np.pi) - np.pi) < _TURN)
        if np.count_nonzero(same) < least:
            break
        yaw = float(np.arctan2(np.median(normals[same][:, 1]), np.median(normals[same][:, 0])))
        along = seen.points @ np.array([np.cos(yaw), np.sin(yaw), 0.0])
        values = along[same]
        bins = np.arange(values.min(), values.max() + 2 * _BIN_M, _BIN_M)
        level = bins[int(np.argmax(np.histogram(values, bins)[0]))] + _BIN_M / 2
        pixels = same & (np.abs(along - level) < 2 * FLAT_M)
        offset = float(np.median(along[pixels]))
        pixels = same & (np.abs(along - offset) < FLAT_M)
        if np.count_nonzero(pixels) >= least:
            found.append(VerticalPlane(yaw, offset, pixels))
        left &= ~(same & (np.abs(along - offset) < 2 * FLAT_M))
    return found
