"""Rectangles on the worktop: what stands where, and whether two of them overlap. Meters and radians."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Footprint:
    """A turned rectangle.

    Attributes:
        x: of its middle.
        y: of its middle.
        length: along its own x axis.
        width: along its own y axis.
        yaw: of its x axis.
    """

    x: float
    y: float
    length: float
    width: float
    yaw: float = 0.0

    @cached_property
    def corners(self) -> NDArray[np.float64]:
        """Return its corners (4, 2)."""
        along, across = self.axes
        half = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * (self.length / 2, self.width / 2)
        corners: NDArray[np.float64] = np.array([self.x, self.y]) + half @ np.stack([along, across])
        return corners

    @cached_property
    def axes(self) -> NDArray[np.float64]:
        """Return its own x and y axis as rows (2, 2)."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        return np.array([[c, s], [-s, c]])

    def grown(self, margin: float) -> Footprint:
        """Return the same with each side moved outwards by `margin`."""
        return Footprint(self.x, self.y, self.length + 2 * margin, self.width + 2 * margin, self.yaw)

    def overlaps(self, other: Footprint) -> bool:
        """Return whether the two share any area: no line along an axis of either separates them."""
        apart = np.hypot(self.x - other.x, self.y - other.y)
        if 2 * apart > np.hypot(self.length, self.width) + np.hypot(other.length, other.width):
            return False
        mine, theirs = self.corners, other.corners
        for axis in (*self.axes, *other.axes):
            one, two = mine @ axis, theirs @ axis
            if one.max() <= two.min() or two.max() <= one.min():
                return False
        return True

    def overlaps_any(self, others: Iterable[Footprint]) -> bool:
        """Return whether it overlaps one of `others`."""
        return any(self.overlaps(other) for other in others)

    def within(self, low: tuple[float, float], high: tuple[float, float]) -> bool:
        """Return whether it lies in the upright rectangle between two corners."""
        corners = self.corners
        return bool((corners >= low).all() and (corners <= high).all())
