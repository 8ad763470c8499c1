"""Generated requests: loops, scans, pools, shifts and recency, each drawn anew with a seed.

Each kind is what some policy fails on: the least recently used on loops and scans, counts on shifts and recency.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice

import numpy as np
from numpy.random import Generator

Draw = Callable[[int, Generator], Iterator[int]]
"""Returns endless requests for a memory of so many units."""


def generated_stream(kind: str, capacity: int, length: int, seed: int) -> list[int]:
    """Return `length` requests of a kind of `STREAMS`, by key, for a memory of `capacity` units."""
    requests = list(islice(STREAMS[kind](capacity, np.random.default_rng(seed)), length))
    labels = np.random.default_rng((seed, 1)).permutation(max(requests) + 1).tolist()
    return [labels[key] for key in requests]


def _loop(ratio: float, capacity: int, chance: Generator) -> Iterator[int]:
    units = round(ratio * capacity)
    return (number % units for number in count(int(chance.integers(units))))


def _loop_and_passing(capacity: int, chance: Generator) -> Iterator[int]:
    """A loop, and between its requests others that never come again."""
    units, share = round(1.33 * capacity), chance.uniform(0.1, 0.5)
    passing = count(units)
    for key in _loop(1.33, capacity, chance):
        yield key
        if chance.random() < share:
            yield next(passing)


def _next_loops(capacity: int, chance: Generator) -> Iterator[int]:
    """A loop for some rounds, then another one."""
    first = 0
    while True:
        units = round(chance.uniform(1.1, 2.0) * capacity)
        for _ in range(int(chance.integers(5, 30))):
            yield from range(first, first + units)
        first += units


def _popular(units: int, chance: Generator) -> Iterator[int]:
    """Zipf's: the first key twice as often as the second, and so on."""
    weights = 1.0 / np.arange(1, units + 1) ** chance.uniform(0.6, 1.1)
    while True:
        yield from chance.choice(units, size=1000, p=weights / weights.sum()).tolist()


def _often(capacity: int, chance: Generator) -> Iterator[int]:
    return _popular(8 * capacity, chance)


def _scans(capacity: int, chance: Generator) -> Iterator[int]:
    """Popular keys, interrupted by scans of keys that never come again."""
    often, passing = _often(capacity, chance), count(8 * capacity)
    while True:
        yield from islice(often, int(chance.integers(2 * capacity, 8 * capacity)))
        yield from islice(passing, int(chance.integers(capacity, 4 * capacity)))


def _two_pools(capacity: int, chance: Generator) -> Iterator[int]:
    """In turn a key of a pool that fits and one of a pool a hundred times as large, as an index and its records."""
    small, large = round(chance.uniform(0.4, 0.95) * capacity), 100 * capacity
    while True:
        yield int(chance.integers(small))
        yield small + int(chance.integers(large))


def _shifts(capacity: int, chance: Generator) -> Iterator[int]:
    """Popular keys, of which others are popular every so often."""
    often = _often(capacity, chance)
    while True:
        now = chance.permutation(8 * capacity).tolist()
        for key in islice(often, int(chance.integers(10 * capacity, 40 * capacity))):
            yield now[key]


def _newest(share: float, capacity: int, chance: Generator) -> Iterator[int]:
    """A new key, then one that came up to `share` of the capacity before: each twice, and never again."""
    farthest = max(2, round(share * capacity))
    waiting: list[int] = []
    for key in count():
        yield key
        waiting.append(key)
        if len(waiting) >= farthest // 2:
            yield waiting.pop(int(chance.integers(len(waiting))))


def _moving_set(capacity: int, chance: Generator) -> Iterator[int]:
    """Keys of a set that moves on a little with every request."""
    units, pace = max(2, round(chance.uniform(0.5, 0.9) * capacity)), chance.uniform(0.05, 0.4)
    for number in count():
        yield int(number * pace) + int(chance.integers(units))


def _recent(capacity: int, chance: Generator) -> Iterator[int]:
    """Keys by how recently they were used: the more so the likelier, as most traces of programs have it."""
    stack: list[int] = []
    fresh, new, depth = count(), chance.uniform(0.02, 0.2), chance.uniform(0.2, 0.6) * capacity
    while True:
        place = int(chance.exponential(depth))
        key = next(fresh) if place >= len(stack) or chance.random() < new else stack.pop(-1 - place)
        stack.append(key)
        del stack[: -20 * capacity]
        yield key


def _turns(capacity: int, chance: Generator) -> Iterator[int]:
    """A loop and the newest in turn."""
    newest, first = _newest(0.9, capacity, chance), round(1.33 * capacity)
    loop = _loop(1.33, capacity, chance)
    while True:
        yield from islice(loop, int(chance.integers(20 * capacity, 40 * capacity)))
        yield from (first + key for key in islice(newest, int(chance.integers(20 * capacity, 40 * capacity))))


STREAMS: dict[str, Draw] = {
    **{f"loop of {ratio} memories": partial(_loop, ratio) for ratio in (1.1, 1.2, 1.33, 1.5, 2.0, 3.0, 4.0)},
    "loop and passing keys": _loop_and_passing,
    "one loop after the other": _next_loops,
    "popular": _often,
    "scans": _scans,
    "two pools": _two_pools,
    "shifts": _shifts,
    "newest again": partial(_newest, 0.9),
    "moving set": _moving_set,
    "recent": _recent,
    "loop and newest in turn": _turns,
}
"""Kinds of generated requests."""
