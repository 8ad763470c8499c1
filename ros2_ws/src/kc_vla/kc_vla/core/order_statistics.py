"""Percentiles of a few numbers, as `numpy.percentile` returns them, in a tenth of its time.

Perception asks for hundreds of them in each image, and NumPy spends most of that time on its arguments.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating[Any]]
_FEW = 300
"""Fewer numbers are sorted in less time than it takes to part them."""


def percentiles(values: Numbers, *shares: float) -> list[float]:
    """Return percentiles of numbers (N,), at least one, by linear interpolation.

    Args:
        values: in any order, none of them NaN.
        shares: the percentiles that are asked for, 0..100.
    """
    last = len(values) - 1
    places = [share / 100.0 * last for share in shares]
    below = [math.floor(place) for place in places]
    if last < _FEW or not shares:
        ordered = np.sort(values)
    else:  # puts these numbers, and no others, where sorting puts them
        ordered = np.partition(values, sorted({*below, *(min(at + 1, last) for at in below)}))
    return [_between(ordered, place, at) for place, at in zip(places, below, strict=True)]


def median(values: Numbers) -> float:
    """Return the median of numbers (N,), at least one and none of them NaN."""
    return percentiles(values, 50.0)[0]


def _between(ordered: Numbers, place: float, below: int) -> float:
    low, high = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)])
    return low + (place - below) * (high - low)
