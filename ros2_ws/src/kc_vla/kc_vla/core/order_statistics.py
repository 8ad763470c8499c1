"""Percentiles of a few numbers, as `numpy.percentile` returns them, in a tenth of its time.

Perception asks for hundreds of them in each image, and NumPy spends most of that time on its arguments.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating[Any]]


def percentiles(values: Numbers, *shares: float) -> list[float]:
    """Return percentiles of numbers (N,), at least one, by linear interpolation.

    Args:
        values: in any order, none of them NaN.
        shares: the percentiles that are asked for, 0..100.
    """
    ordered = np.sort(values)
    return [_at(ordered, share / 100.0 * (len(ordered) - 1)) for share in shares]


def median(values: Numbers) -> float:
    """Return the median of numbers (N,), at least one and none of them NaN."""
    return percentiles(values, 50.0)[0]


def _at(ordered: Numbers, place: float) -> float:
    below = math.floor(place)
    low, high = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)])
    return low + (place - below) * (high - low)
