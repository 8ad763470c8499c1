"""The size of a window that finds itself: hill climbing on the hit rate (Einziger, Eytan, Friedman, Manes: Adaptive
software cache management, 2018), beside two rivals.

A climber alone stays where a step either way changes nothing: where only the newest are asked for again, a memory finds
nothing until nearly all of it is window. So it watches, by their keys alone, what the two ends would find: a queue of
the least recently used, and a window of a hundredth. It goes where the better of them is when it falls behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla.memory.replacement.interface import Key, Replacement

_PERIOD = 10
"""A step is judged after so many uses for each unit of the capacity, ..."""
_LEAST_PERIOD = 1000
"""... and no fewer than this: the hit rate of a hundred uses tells more of chance than of the window."""
_STEP = 0.0625
"""The first step, as a share of the capacity; at least one unit."""
_DECAY = 0.98
"""Each step is so much smaller than the one before ..."""
_RESTART = 0.05
"""... until the hit rate changes by more than this: then the first one is taken again."""
_LONGEST_REST = 64
"""Periods. A step that found less is taken back, and the next one is tried later each time: every try costs hits."""
_BEHIND = 0.01
"""A rival that finds so much more of what is asked for, over a period, is followed, ..."""
_CLEARLY = 3.0
"""... or sooner: one that is ahead by so many times the root of the uses, which chance does not bring about."""


@dataclass
class Rival:
    """What a window of another size would find; it keeps keys, and nothing of what they stand for."""

    window: int
    keys: Replacement
    hits: int = 0

    def see(self, key: Key) -> None:
        """Count a use of a key."""
        self.hits += key in self.keys
        self.keys.add(key)


class Climber:
    """Changes the size of a window step by step, and turns round where the hit rate falls."""

    def __init__(self, capacity: int, size: int, rivals: Sequence[Rival] = ()) -> None:
        self._most, self._size, self._rivals = capacity, float(size), rivals
        self._period = max(_PERIOD * capacity, _LEAST_PERIOD)
        self._first = max(_STEP * capacity, 1.0)
        self._step = self._first
        self._hits = self._uses = 0
        self._rate: float | None = None
        self._before_step: float | None = None
        self._rest, self._next_rest = 0, 2

    def after(self, key: Key, hit: bool) -> int | None:
        """Count a use; return the size of the window, units, where it is to change now."""
        for rival in self._rivals:
            rival.see(key)
        self._hits += hit
        self._uses += 1
        was = round(self._size)
        if (ahead := self._ahead()) is not None:
            self._rest_at(float(ahead.window), self._first if ahead.window < self._most else -self._first)
        elif self._uses < self._period:
            return None
        else:
            self._climb(self._hits / self._uses)
        self._hits = self._uses = 0
        for rival in self._rivals:
            rival.hits = 0
        return None if round(self._size) == was else round(self._size)

    def _ahead(self) -> Rival | None:
        """Return the best rival, if it is to be followed now."""
        best = max(self._rivals, key=lambda rival: rival.hits, default=None)
        if best is None or best.window == round(self._size):
            return None
        enough = _BEHIND * self._uses if self._uses >= self._period else _CLEARLY * self._uses**0.5
        return best if best.hits - self._hits > enough else None

    def _climb(self, rate: float) -> None:
        change = 0.0 if self._rate is None else rate - self._rate
        self._rate = rate
        if abs(change) >= _RESTART:
            self._step = self._first if self._step > 0 else -self._first
        if self._before_step is not None and change < 0:
            self._rest_at(self._before_step, -_DECAY * self._step)
        elif self._rest > 0 and abs(change) < _RESTART:
            self._rest -= 1
        else:
            if self._before_step is not None and change > 0:
                self._next_rest = 2
            if not 1 <= round(self._size + self._step) <= self._most:
                self._step = -self._step
            self._before_step = self._size
            self._size = min(max(self._size + self._step, 1.0), float(self._most))
            self._step *= _DECAY

    def _rest_at(self, size: float, step: float) -> None:
        self._size, self._step, self._rate, self._before_step = size, step, None, None
        self._rest, self._next_rest = self._next_rest, min(2 * self._next_rest, _LONGEST_REST)
