"""What Caffeine's published simulator finds: a reference to compare with, no policy of the memory.

It follows `HillClimberWindowTinyLfu` with the climber `simple` and the settings that the simulator ships: a window that
begins at 1 %, a protected segment of 80 % of the rest, 4-bit counters, and admission that lets one of 128 warm keys in.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.replacement.interface import Key

_MAIN, _PROTECTED = 0.99, 0.80
"""Share of the main part in all, and of its protected segment in the main part."""
_SEEDS = (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xCBF29CE484222325)
"""The seeds of the hashes that place the four counters of a key."""
_HIGHEST, _SAMPLE = 15, 10
"""The highest count, and uses for each slot of the sketch after which all counts are halved."""
_HALF = bytes(value // 2 for value in range(256))
_WARM, _LUCKY = 6, 1 / 128
"""A key that was counted so often is let in with this chance although the victim was used more."""
_PERIOD, _STEP, _LEAST_STEP, _RESTART = 10, 0.0625, 2.0, 0.05
_SMALL, _DECAY, _SMALL_DECAY, _LONGER = 512, 0.98, 0.995, 4.0
"""A memory of up to 512 units has a slower decay, and a period that grows up to four times as long instead."""


class Sketch4:
    """Counts of four bits, four of them for each key."""

    def __init__(self, capacity: int) -> None:
        """Make an empty one for a memory of `capacity` units."""
        self._slots = 1 << max(0, (capacity - 1).bit_length())
        self._counts = bytearray(16 * self._slots)
        self._additions = 0
        self._places: dict[Key, list[int]] = {}

    def add(self, key: Key) -> None:
        """Count a use; halve all counts where the period is over."""
        grown = False
        for place in self._at(key):
            if self._counts[place] < _HIGHEST:
                self._counts[place] += 1
                grown = True
        self._additions += grown
        if grown and self._additions == _SAMPLE * self._slots:
            odd = int(np.count_nonzero(np.frombuffer(self._counts, np.uint8) & 1))
            self._counts = self._counts.translate(_HALF)
            self._additions = (self._additions - odd // 4) // 2

    def count(self, key: Key) -> int:
        """Return how often a key was used, 0..15."""
        return min(self._counts[place] for place in self._at(key))

    def _at(self, key: Key) -> list[int]:
        if (places := self._places.get(key)) is None:
            item = _spread(_number(key))
            first = (item & 3) << 2
            signed = item - (1 << 32) if item >> 31 else item
            places = [16 * self._slot(signed, row) + first + row for row in range(4)]
            self._places[key] = places
        return places

    def _slot(self, item: int, row: int) -> int:
        mixed = (item + _SEEDS[row]) * _SEEDS[row] & 0xFFFFFFFFFFFFFFFF
        return (mixed + (mixed >> 32)) & (self._slots - 1)


class SimpleClimber:
    """Returns by how much the window changes: further as long as the hit rate grows, back where it falls."""

    def __init__(self, capacity: int) -> None:
        """Make one for a memory of `capacity` units."""
        self._small = capacity <= _SMALL
        self._first_step = max(_STEP * capacity, _LEAST_STEP)
        self._first_period = _PERIOD * capacity
        self._step, self._period = self._first_step, self._first_period
        self._grows = self._small
        self._hits = self._uses = 0
        self._before = 0.0

    def after(self, hit: bool) -> float:
        """Count a use in a memory that is full; return by how many units the window grows now."""
        self._hits += hit
        self._uses += 1
        if self._uses < self._period:
            return 0.0
        rate = self._hits / self._uses
        if rate < self._before:
            self._grows = not self._grows
        if abs(rate - self._before) >= _RESTART:
            self._step, self._period = self._first_step, self._first_period
        change = self._step if self._grows else -self._step
        self._hits, self._uses, self._before = 0, 0, rate
        self._decay()
        return change

    def _decay(self) -> None:
        self._step *= _SMALL_DECAY if self._small else _DECAY
        if self._small:
            ratio = self._first_step / max(self._first_step / _LONGER, self._step)
            self._period = int(self._first_period * min(max(ratio, 1.0), _LONGER))


class CaffeineSimulator:
    """Window, probation and protected segment, each a queue of the least recently used."""

    def __init__(self, capacity: int, chance: random.Random) -> None:
        """Make an empty one of `capacity` units; `chance` lets warm keys in."""
        self._capacity, self._chance = capacity, chance
        main = int(capacity * _MAIN)
        self._most_window, self._most_protected = capacity - main, int(main * _PROTECTED)
        self._fraction = 0.0
        """The part of a unit by which the window is larger than the keys in it."""
        self._window: OrderedDict[Key, None] = OrderedDict()
        self._probation: OrderedDict[Key, None] = OrderedDict()
        self._protected: OrderedDict[Key, None] = OrderedDict()
        self._sketch, self._climber = Sketch4(capacity), SimpleClimber(capacity)

    def ask(self, key: Key) -> bool:
        """Return whether a key is there; take it in, and let another leave, if it is not."""
        full = self._held() >= self._capacity
        self._sketch.add(key)
        hit = self._use(key)
        if not hit:
            self._window[key] = None
            self._evict()
        if full and (change := self._climber.after(hit)):
            self._grow(change) if change > 0 else self._shrink(-change)
        return hit

    def _held(self) -> int:
        return len(self._window) + len(self._probation) + len(self._protected)

    def _use(self, key: Key) -> bool:
        if key in self._probation:
            del self._probation[key]
            self._protected[key] = None
            self._demote()
        elif key in self._window:
            self._window.move_to_end(key)
        elif key in self._protected:
            self._protected.move_to_end(key)
        else:
            return False
        return True

    def _demote(self) -> None:
        if len(self._protected) > self._most_protected:
            self._probation[self._protected.popitem(last=False)[0]] = None

    def _evict(self) -> None:
        if len(self._window) + self._fraction <= self._most_window:
            return
        candidate, _ = self._window.popitem(last=False)
        self._probation[candidate] = None
        if self._held() > self._capacity:
            victim = next(iter(self._probation))
            del self._probation[victim if self._admits(candidate, victim) else candidate]

    def _admits(self, candidate: Key, victim: Key) -> bool:
        own = self._sketch.count(candidate)
        return own > self._sketch.count(victim) or (own >= _WARM and self._chance.random() < _LUCKY)

    def _grow(self, amount: float) -> None:
        for _ in range(self._resize(min(amount, self._most_protected))):
            self._most_window += 1
            self._most_protected -= 1
            self._demote()
            self._window[self._probation.popitem(last=False)[0]] = None

    def _shrink(self, amount: float) -> None:
        for _ in range(-self._resize(-min(amount, self._most_window))):
            self._most_window -= 1
            self._most_protected += 1
            key, _ = self._window.popitem(last=False)
            self._probation[key] = None
            self._probation.move_to_end(key, last=False)

    def _resize(self, change: float) -> int:
        """Return by how many whole units the window changes, and keep what is left over."""
        size = len(self._window) + self._fraction
        units = int(size + change) - int(size)
        self._fraction = size + change - (len(self._window) + units)
        return units


def caffeine_hits(capacity: int, requests: Sequence[Key], seed: int = 0) -> NDArray[np.bool_]:
    """Return which requests (N,) find their key in Caffeine's simulator; `seed` is of its chance."""
    simulator = CaffeineSimulator(capacity, random.Random(seed))
    return np.fromiter((simulator.ask(key) for key in requests), bool, len(requests))


def _number(key: Key) -> int:
    """Return the 32 bits that Java's `Long.hashCode` has for a number; those of a digest for anything else."""
    bits = key if isinstance(key, int) else int.from_bytes(blake2b(str(key).encode(), digest_size=8).digest(), "little")
    return (bits ^ (bits >> 32)) & 0xFFFFFFFF


def _spread(item: int) -> int:
    for _ in range(2):
        item = ((item >> 16) ^ item) * 0x45D9F3B & 0xFFFFFFFF
    return (item >> 16) ^ item
