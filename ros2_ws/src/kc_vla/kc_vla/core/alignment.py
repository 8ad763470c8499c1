"""Which of the samples of one stream belongs to which moment of another: the nearest in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]


def nearest(wanted: Times, times: Times) -> Times:
    """Return for each of the times `wanted` (T,), ns, the index of the nearest of `times` (N,).

    `times` are ascending, and one at least.

    Of two that are equally near it is the earlier.
    """
    after = np.clip(np.searchsorted(times, wanted), 0, len(times) - 1)
    before = np.maximum(after - 1, 0)
    return np.asarray(np.where(wanted - times[before] <= np.abs(times[after] - wanted), before, after), np.int64)


def nearest_within(wanted: Times, times: Times, most_ns: int) -> list[int | None]:
    """Return the same as `nearest`, but None where that is further away than `most_ns`; `times` may be empty."""
    if not len(times):
        return [None] * len(wanted)
    found = nearest(wanted, times)
    near = np.abs(times[found] - wanted) <= most_ns
    return [at if is_near else None for at, is_near in zip(found.tolist(), near.tolist(), strict=True)]
