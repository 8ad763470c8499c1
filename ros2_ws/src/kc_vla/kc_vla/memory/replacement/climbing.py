"""The size of a window that finds itself: hill climbing on the hit rate (Einziger, Eytan, Friedman, Manes: Adaptive
software cache management, 2018)."""

from __future__ import annotations

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


class Climber:
    """Changes the size of a window step by step, and turns round where the hit rate falls."""

    def __init__(self, capacity: int, size: int) -> None:
        self._most, self._size = capacity - 1, float(size)
        self._period = max(_PERIOD * capacity, _LEAST_PERIOD)
        self._first = max(_STEP * capacity, 1.0)
        self._step = self._first
        self._hits = self._uses = 0
        self._rate: float | None = None

    def after(self, hit: bool) -> int | None:
        """Count a use; return the size of the window, units, where it is to change now."""
        self._hits += hit
        self._uses += 1
        if self._uses < self._period:
            return None
        rate, before = self._hits / self._uses, self._rate
        self._hits = self._uses = 0
        self._rate = rate
        if before is not None:
            change = rate - before
            if change < 0:
                self._step = -self._step
            smaller = self._step * _DECAY
            self._step = smaller if abs(change) < _RESTART else (self._first if self._step > 0 else -self._first)
        was = round(self._size)
        self._size = min(max(self._size + self._step, 1.0), float(self._most))
        return None if round(self._size) == was else round(self._size)
