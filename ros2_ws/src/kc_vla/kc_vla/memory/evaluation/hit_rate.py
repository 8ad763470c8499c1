"""Hit rates of replacement policies over a sequence of requests."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.replacement.interface import Key, Replacement


@dataclass(frozen=True)
class HitRateRow:
    """A hit rate.

    Attributes:
        requests: where they come from.
        size: units of the memory.
        policy: its name.
        rate: mean share of the requests that find their unit.
        spread: half the 95 % interval of that mean over the streams; 0 for a single trace.
    """

    requests: str
    size: int
    policy: str
    rate: float
    spread: float


def hits(policy: Replacement, requests: Sequence[Key]) -> NDArray[np.bool_]:
    """Return which requests (N,) find their key; one that does not is remembered from then on."""
    found = np.zeros(len(requests), bool)
    for index, key in enumerate(requests):
        if key in policy:
            policy.use(key)
            found[index] = True
        else:
            policy.add(key)
    return found


def optimal_hits(capacity: int, requests: Sequence[Key]) -> NDArray[np.bool_]:
    """Return the same of the best that any policy could do, which knows the future (Belady, 1966).

    What is not asked for again before all else that is there is not taken in at all (bypass).
    """
    following = np.full(len(requests), len(requests), int)
    last: dict[Key, int] = {}
    for index in range(len(requests) - 1, -1, -1):
        following[index] = last.get(requests[index], len(requests))
        last[requests[index]] = index
    found = np.zeros(len(requests), bool)
    kept: dict[Key, int] = {}
    farthest: list[tuple[int, int, Key]] = []
    for index, key in enumerate(requests):
        found[index] = key in kept
        kept[key] = again = int(following[index])
        heapq.heappush(farthest, (-again, index, key))
        while len(kept) > capacity:
            when, _, other = heapq.heappop(farthest)
            if kept.get(other) == -when:
                del kept[other]
    return found
