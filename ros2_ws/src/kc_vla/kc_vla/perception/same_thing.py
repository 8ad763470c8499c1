"""When two boxes are those of one thing: by their sizes, by what they have in common, and by the bars of handles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
ALIKE_SIZE = 1.6
"""Diagonals of an object that was moved, or that a detector takes for something else, differ by less."""
NESTED = 0.4
"""Two pieces of furniture of one type, of which the smaller one has this share of its volume in the other, are one."""
SAME_BAR_M = 0.02
"""Bars of handles that are no further apart are one, m."""


def common_sides(place: Numbers, size: Numbers, other_place: Numbers, other_size: Numbers) -> Numbers:
    """Return the sides of what two boxes along the axes have in common (..., 3), m; zeros on axes where they do not.

    Args:
        place: of the middle of one (..., 3), m.
        size: of that (..., 3), m.
        other_place: of that of the other one, or of several in a shape that numpy broadcasts.
        other_size: of that.
    """
    apart = np.abs(place - other_place)
    return np.clip((size + other_size) / 2 - apart, 0.0, np.minimum(size, other_size))


def nested(common: Numbers, size: Numbers, other_size: Numbers) -> Numbers:
    """Return how much two boxes have in common, as a share of the smaller one (...); 0 where one has no volume.

    Args:
        common: sides of what they have in common, as `common_sides` returns them.
        size: of one, on the same axes, m.
        other_size: of the other one.
    """
    smaller = np.minimum(size.prod(axis=-1), other_size.prod(axis=-1))
    return np.asarray(common.prod(axis=-1) / np.where(smaller > 0.0, smaller, np.inf))
