"""The other objects of an image: which pixels in the box of one show another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.depth_surface import overlapping

Numbers = NDArray[np.float64]
_MARGIN_M = 0.015
"""The surface of an object is located so far outside of its box, m."""


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The objects of an image; the one that they are looked at for may be among them.

    Attributes:
        boxes: in the image (N, 4), px.
        middles: where they are (N, 3), m; NaN where that is not known.
        sizes: along the axes of the frame (N, 3), m.
    """

    boxes: Numbers
    middles: Numbers
    sizes: Numbers

    @classmethod
    def none(cls) -> Neighbors:
        """Return those of an image with one object."""
        return cls(np.empty((0, 4)), np.empty((0, 3)), np.empty((0, 3)))

    def pixels(
        self,
        box: PixelBox,
        position: Numbers,
        size: Numbers,
        points: Numbers,
        at_x: NDArray[np.intp],
        at_y: NDArray[np.intp],
    ) -> NDArray[np.bool_]:
        """Return which pixels show another object than the one in a box (H, W).

        The boxes of two objects in an image often have much in common. What both show belongs to the object whose box
        in space it lies in, or deeper in. Where that of the other one is not known, it is taken to be the other one.

        Args:
            box: of the object, px.
            position: of its middle (3,), m.
            size: along the axes of the frame (3,), m.
            points: that the pixels show (3, H, W), m.
            at_x: columns of the pixels (1, W).
            at_y: their rows (H, 1).
        """
        found = np.zeros(points.shape[1:], bool)
        own = _depth_within(points, position, size)
        for number in overlapping(box, self.boxes).tolist():
            low_x, low_y, high_x, high_y = self.boxes[number]
            both = (at_x >= low_x) & (at_x < high_x) & (at_y >= low_y) & (at_y < high_y)
            if np.isfinite(self.middles[number]).all():
                theirs = _depth_within(points, self.middles[number], self.sizes[number])
                both &= (theirs < 1.0) & (theirs < own)
            found |= both
        return found


def _depth_within(points: Numbers, middle: Numbers, size: Numbers) -> Numbers:
    """Return where points lie for a box: from 0 in its middle to 1 on its surface, and more outside (H, W)."""
    half = (size / 2 + _MARGIN_M)[:, None, None]
    return np.asarray((np.abs(points - middle[:, None, None]) / half).max(axis=0))
