"""The size of a window that finds itself: hill climbing on the hit rate (Einziger, Eytan, Friedman, Manes: Adaptive
software cache management, 2018), beside rivals.

A climber alone stays where a step either way changes nothing: where only the newest are asked for again, a memory finds
nothing until nearly all of it is window. So it watches, by their keys alone, what others would find: a queue of the
least recently used, a window of a hundredth, and in a small memory the same with counts that forget sooner. It goes
where the best of them is when it falls behind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla.memory.replacement.interface import Key, Replacement
from kc_vla.memory.replacement.sketch import FrequencySketch

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
_CLEARLY = 2.5
"""A rival is followed that is ahead by so many times the root of the uses that only one of the two found, as chance
seldom brings about, ..."""
_SOON, _BEHIND = 0.05, 0.01
"""... by this share of the uses, as a memory first misses what it did not hold (the second is for a rival that has been
ahead for a whole period), ..."""
_LEAST_LEAD, _MOST_LEAD = 4, 0.5
"""... and by so many uses: by twice as many each time one was followed, up to this share of the capacity. What is asked
for comes in bursts, and each change costs hits."""


@dataclass
class Rival:
    """What a memory with another window, or with other counts, would find. It keeps keys alone.

    Attributes:
        window: units of it.
        sketch: its counts; None where it has none.
        keys: that it holds.
        lead: uses that it alone found, less those that it alone did not find, since it was last no better.
        differing: all of these uses.
        uses: since then.
    """

    window: int
    sketch: FrequencySketch | None
    keys: Replacement
    lead: int = 0
    differing: int = 0
    uses: int = 0

    def ask(self, key: Key) -> bool:
        """Return whether a key is there; take it in if it is not."""
        if key in self.keys:
            self.keys.use(key)
            return True
        self.keys.add(key)
        return False

    def compare(self, found: bool, present: bool) -> None:
        """Count a use; `found` by this rival, and by what is used at present, or not."""
        if found != present:
            self.differing += 1
            self.lead += 1 if found else -1
        if self.lead > 0:
            self.uses += 1
        elif found != present:
            self.begin()

    def begin(self) -> None:
        """Forget the comparison so far."""
        self.lead = self.differing = self.uses = 0

    def is_ahead(self, period: int) -> bool:
        """Return whether it finds more than chance explains, and enough for its share to change."""
        share = _SOON if self.uses < period else _BEHIND
        return self.lead > max(_CLEARLY * math.sqrt(self.differing), share * self.uses)


class Climber:
    """Changes the size of a window step by step, reverses if the hit rate falls, and follows a better rival."""

    def __init__(self, capacity: int, size: int, sketch: FrequencySketch, rivals: Sequence[Rival] = ()) -> None:
        """Begin with a window of `size` units and the counts of `sketch`."""
        self.sketch = sketch
        """The counts that are to be used."""
        self._most, self._size, self._rivals = capacity, float(size), rivals
        self._period = max(_PERIOD * capacity, _LEAST_PERIOD)
        self._first = max(_STEP * capacity, 1.0)
        self._step = self._first
        self._hits = self._uses = 0
        self._rate: float | None = None
        self._before_step: float | None = None
        self._rest, self._next_rest = 0, 2
        self._least_lead = _LEAST_LEAD
        self._present = self._present_rival()

    @property
    def size(self) -> int:
        """Return the size of the window, units, that is to be used."""
        return round(self._size)

    def after(self, key: Key, hit: bool) -> bool:
        """Count a use; return whether size or sketch may be others now."""
        ahead = self._compare(key, hit)
        self._hits += hit
        self._uses += 1
        if ahead is not None:
            self.sketch = ahead.sketch or self.sketch
            self._rest_at(float(ahead.window), self._first if ahead.window < self._most else -self._first)
            self._least_lead = min(2 * self._least_lead, max(_LEAST_LEAD, round(_MOST_LEAD * self._most)))
            for rival in self._rivals:
                rival.begin()
        elif self._uses < self._period:
            return False
        else:
            self._climb(self._hits / self._uses)
        self._hits = self._uses = 0
        self._present = self._present_rival()
        return True

    def _compare(self, key: Key, hit: bool) -> Rival | None:
        """Let the rivals see a use; return the one to follow now, if there is one."""
        found = [rival.ask(key) for rival in self._rivals]
        # A memory that has just changed finds less than it will: what is used at present is compared, if it is a rival.
        present = hit if self._present is None else found[self._present]
        best = None
        for rival, each in zip(self._rivals, found, strict=True):
            rival.compare(each, present)
            most = self._least_lead if best is None else best.lead + 1
            if rival.lead >= most and rival.is_ahead(self._period):
                best = rival
        return best

    def _present_rival(self) -> int | None:
        """Return the number of the rival that has the present window and counts."""
        for number, rival in enumerate(self._rivals):
            if rival.window == self.size and rival.sketch in (None, self.sketch):
                return number
        return None

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
