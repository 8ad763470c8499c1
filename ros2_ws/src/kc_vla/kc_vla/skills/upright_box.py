"""A box that stands upright."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot

import numpy as np

from kc_vla.skills.interface import Vector
from kc_vla.skills.perceived import PerceivedThing


@dataclass(frozen=True, eq=False)
class UprightBox:
    """A box that is turned about the vertical only.

    Attributes:
        middle: of it (3,), m.
        size: along its own axes (3,), m.
        yaw: of its first axis, rad.
    """

    middle: Vector
    size: Vector
    yaw: float

    @classmethod
    def around(cls, thing: PerceivedThing) -> UprightBox:
        """Return the box of a thing; of one that has tipped over, the narrowest around it."""
        sides, yaw = thing.footprint
        return cls(thing.position, np.array([*sides, thing.extent[2]]), yaw)

    @cached_property
    def corners(self) -> Vector:
        """Return the corners of its footprint (4, 2), m."""
        half = self.size[:2] / 2
        corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * half
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        return np.asarray(corners @ np.array([[c, s], [-s, c]]) + self.middle[:2])

    def grown(self, margin: float) -> UprightBox:
        """Return it larger by a margin on each side, m."""
        return UprightBox(self.middle, self.size + 2 * margin, self.yaw)

    def meets(self, other: UprightBox) -> bool:
        """Return whether the two have a point in common."""
        if abs(self.middle[2] - other.middle[2]) >= (self.size[2] + other.size[2]) / 2:
            return False
        apart = hypot(self.middle[0] - other.middle[0], self.middle[1] - other.middle[1])
        if apart >= (hypot(self.size[0], self.size[1]) + hypot(other.size[0], other.size[1])) / 2:
            return False
        mine, theirs = self.corners, other.corners
        for yaw in (self.yaw, other.yaw):
            for axis in ((np.cos(yaw), np.sin(yaw)), (-np.sin(yaw), np.cos(yaw))):
                a, b = mine @ axis, theirs @ axis
                if a.max() <= b.min() or b.max() <= a.min():
                    return False
        return True
