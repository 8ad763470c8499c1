"""How often keys were used lately: a count-min sketch whose counters are halved every so often.

KARMA, section 3.6, has a counting Bloom filter with a reset at W, after TinyLFU (Einziger et al., 2017); the sketch is
the same idea with one row of counters for each hash, as Caffeine has it.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from kc_vla.memory.replacement.interface import Key

_ROWS = 4
_HIGHEST = 255
_HALF = bytes(value // 2 for value in range(256))
_LEAST_SAMPLE = 1000
"""A memory of a few units has to count over more than ten times as many uses to tell what is used often."""


class FrequencySketch:
    """Counts that are never too low between two halvings, but for what is above 255."""

    def __init__(self, capacity: int, sample: int | None = None) -> None:
        """Make one.

        Args:
            capacity: of the memory.
            sample: W, uses after which all counters are halved; by default ten times the capacity, at least 1,000.
        """
        self.sample = max(10 * capacity, _LEAST_SAMPLE) if sample is None else sample
        width = 1 << max(6, (self.sample - 1).bit_length())
        self._mask = width - 1
        self._rows = tuple(bytearray(width) for _ in range(_ROWS))
        self._used = 0
        self.halved = False
        """Whether the counts are rounded: they were halved before."""

    def add(self, key: Key) -> bool:
        """Count a use; return whether all counters were halved then."""
        mask, (one, two, three, four) = self._mask, self._rows  # without a loop: it is half of what a memory costs
        first, second, third, fourth = _digest(key)
        if one[first & mask] < _HIGHEST:
            one[first & mask] += 1
        if two[second & mask] < _HIGHEST:
            two[second & mask] += 1
        if three[third & mask] < _HIGHEST:
            three[third & mask] += 1
        if four[fourth & mask] < _HIGHEST:
            four[fourth & mask] += 1
        self._used += 1
        if self._used < self.sample:
            return False
        self.halve()
        return True

    def halve(self) -> None:
        """Make all that was by now count half."""
        self._rows = tuple(row.translate(_HALF) for row in self._rows)
        self._used //= 2
        self.halved = True

    def count(self, key: Key) -> int:
        """Return how often a key was used; too much where others fell on all of its counters."""
        mask, (one, two, three, four) = self._mask, self._rows
        first, second, third, fourth = _digest(key)
        return min(one[first & mask], two[second & mask], three[third & mask], four[fourth & mask])

    def clear(self, key: Key) -> None:
        """Let a key begin anew: what shares a counter with it loses as much there."""
        count = self.count(key)
        for row, at in zip(self._rows, self._places(key), strict=True):
            row[at] -= count

    def _places(self, key: Key) -> tuple[int, int, int, int]:
        mask = self._mask
        first, second, third, fourth = _digest(key)
        return first & mask, second & mask, third & mask, fourth & mask


@lru_cache(maxsize=1 << 14, typed=True)
def _digest(key: Key) -> tuple[int, int, int, int]:
    # Not `hash`: it differs from process to process, and what is forgotten should not.
    digest = int.from_bytes(blake2b(str(key).encode(), digest_size=16).digest(), "little")
    return digest & 0xFFFFFFFF, digest >> 32 & 0xFFFFFFFF, digest >> 64 & 0xFFFFFFFF, digest >> 96
