"""W-TinyLFU: a window for what is new, a main part for what is used often.

After KARMA, section 3.6, and Einziger, Friedman, Manes: TinyLFU (2017). A new key enters the window, a queue of the
least recently used. The main part has two such queues: probation, and protected for what was used there again; what
is crowded out of protected goes back to probation.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from kc_vla.memory.replacement.climbing import Climber, Rival
from kc_vla.memory.replacement.interface import Eviction, Key, check_capacity
from kc_vla.memory.replacement.least_used import LeastUsed
from kc_vla.memory.replacement.queues import Lru
from kc_vla.memory.replacement.sketch import FrequencySketch

PROTECTED_SHARE = 0.8
"""Share of the main part that is protected."""
WINDOW_SHARE = 0.01
"""Share of all units, at least one, where an adapting window begins; Caffeine's fixed size before it adapted."""

QUICK_SAMPLE = 80
"""Uses after which a small memory halves its counts where it finds more by that; at least ten times its units."""


class Rule(Enum):
    """Who leaves when a key has come to a memory that is full."""

    CANDIDATE = "candidate"
    """The less used of what leaves the window and what is next to leave probation, as in Caffeine."""
    LEAST = "least"
    """The least used of all in window and probation, as in the paper."""


def window_of(capacity: int, share: float = WINDOW_SHARE) -> int:
    """Return the units of a window that has this share of a memory."""
    return max(1, round(share * capacity))


class WTinyLfu:
    """The replacement W-TinyLFU: a window for new keys, and a main part for keys that are used often."""

    def __init__(
        self, capacity: int, window: int | None = None, rule: Rule = Rule.CANDIDATE, sample: int | None = None
    ) -> None:
        """Make an empty one.

        Args:
            capacity: units, window and main part together.
            window: units of it; None for a window that adapts.
            rule: who leaves.
            sample: see `FrequencySketch`.

        Raises:
            ValueError: a window without room for a unit, or larger than all.
        """
        self.capacity = check_capacity(capacity)
        if window is not None and not 1 <= window <= capacity:
            raise ValueError(f"a window of {window} units in a memory of {capacity}: give it 1 to {capacity}")
        self._sketch = FrequencySketch(capacity, sample)
        self._sketches = [self._sketch]
        self._least = LeastUsed(self._sketch.count) if rule is Rule.LEAST else None
        self._window_size = window_of(capacity) if window is None else window
        self._allows_for_rounding = window is None
        """Halved counts are rounded: on a loop every halving would let keys in that are used no more often."""
        self._climber: Climber | None = None
        if window is None and capacity > 1:
            quick = max(10 * capacity, QUICK_SAMPLE)
            if sample is None and self._least is None and quick < self._sketch.sample:
                self._sketches.append(FrequencySketch(capacity, quick))
            self._climber = _climber(capacity, self._sketches)
        self._window: OrderedDict[Key, None] = OrderedDict()
        self._probation: OrderedDict[Key, None] = OrderedDict()
        self._protected: OrderedDict[Key, None] = OrderedDict()
        self._queues = {"window": self._window, "probation": self._probation, "protected": self._protected}

    @property
    def window_size(self) -> int:
        """Return the units that the window holds at present."""
        return self._window_size

    def __len__(self) -> int:
        return len(self._window) + len(self._probation) + len(self._protected)

    def __contains__(self, key: Key) -> bool:
        return key in self._window or key in self._probation or key in self._protected

    def __iter__(self) -> Iterator[Key]:
        for queue in self._queues.values():
            yield from queue

    def add(self, key: Key) -> Eviction | None:
        """Add a key to the window; if the memory is full, evict what the rule chooses."""
        if key in self:
            self.use(key)
            return None
        self._count(key, hit=False)
        self._window[key] = None
        if len(self) <= self.capacity:
            self._shrink_window()
            return None
        return self._make_room(key)

    def use(self, key: Key) -> None:
        """Count a use of a key, and move it to the end of its queue, or from probation to protected."""
        if key in self._probation:
            del self._probation[key]
            self._protected[key] = None
            self._shrink_protected()
        else:
            (self._window if key in self._window else self._protected).move_to_end(key)
        self._count(key, hit=True)

    def demote(self, key: Key) -> None:
        """Move a key to the front of probation and forget its uses, so that it is the next to leave there."""
        self.remove(key)
        for sketch in self._sketches:
            sketch.clear(key)
        self._probation[key] = None
        self._probation.move_to_end(key, last=False)
        if self._least is not None:
            self._least.demote(key)

    def remove(self, key: Key) -> None:
        """Remove a key from its queue; raise KeyError if it is not there."""
        del self._queues[self.segment(key)][key]
        if self._least is not None:
            self._least.remove(key)

    def frequency(self, key: Key) -> int:
        """Return the estimate of the sketch how often a key was used."""
        return self._sketch.count(key)

    def segment(self, key: Key) -> str:
        """Return the name of the queue that holds a key; raise KeyError if none does."""
        for name, queue in self._queues.items():
            if key in queue:
                return name
        raise KeyError(key)

    def segments(self) -> Mapping[str, tuple[Key, ...]]:
        """Return the keys of window, probation and protected, the next to leave first."""
        return {name: tuple(queue) for name, queue in self._queues.items()}

    def _count(self, key: Key, hit: bool) -> None:
        halved, *_ = [sketch.add(key) for sketch in self._sketches]
        if self._least is not None:
            if halved:
                self._least.halve()
            self._least.use(key)
        if self._climber is not None and self._climber.after(key, hit):
            self._sketch = self._climber.sketch
            if self._climber.size != self._window_size:
                self._resize_window(self._climber.size)

    def _make_room(self, fresh: Key) -> Eviction:
        """Let one of the keys go that are there, and never the one that has just come."""
        if self._least is not None:
            return self._evict_least(fresh, self._least)
        victim = next(iter(self._probation or self._protected), None)
        if len(self._window) <= self._window_size:
            assert victim is not None
            return self._evict(victim, "it was next to leave")
        candidate = next(iter(self._window))  # not the fresh one: the window has room for one
        if victim is None:
            return self._evict(candidate, "there is no room beside the window")
        own, other = self._sketch.count(candidate), self._sketch.count(victim)
        if own > other + (self._allows_for_rounding and self._sketch.halved):
            del self._window[candidate]
            evicted = self._evict(victim, f"it was used {other} times, what left the window {own}")
            self._probation[candidate] = None
            return evicted
        return self._evict(candidate, f"it was used {own} times, what is next to leave {other}")

    def _evict_least(self, fresh: Key, ranked: LeastUsed) -> Eviction:
        if not self._probation and len(self._window) == 1:
            self._to_probation(self._protected)
        key = ranked.least(lambda each: each != fresh and (each in self._probation or each in self._window))
        ranked.offer(fresh)
        among, least = len(self._probation) + len(self._window) - 1, self._sketch.count(key)
        evicted = self._evict(key, f"of {among} in window and probation it was used least, {least} times")
        self._shrink_window()
        return evicted

    def _evict(self, key: Key, reason: str) -> Eviction:
        segment, count = self.segment(key), self._sketch.count(key)
        self.remove(key)
        return Eviction(key, segment, count, reason)

    def _shrink_window(self) -> None:
        while len(self._window) > self._window_size:
            self._to_probation(self._window)

    def _shrink_protected(self) -> None:
        while len(self._protected) > int(PROTECTED_SHARE * (self.capacity - self._window_size)):
            self._to_probation(self._protected)

    def _to_probation(self, queue: OrderedDict[Key, None]) -> None:
        """Move the first of a queue to the end of probation."""
        key, _ = queue.popitem(last=False)
        self._probation[key] = None
        if self._least is not None:
            self._least.offer(key)

    def _resize_window(self, size: int) -> None:
        """Give the window another size; what it gains comes from the main part, next to leave there first."""
        self._window_size = size
        missing = max(size - len(self._window), 0) if len(self) == self.capacity else 0
        main = [(queue, key) for queue in (self._probation, self._protected) for key in queue]
        for queue, key in reversed(main[:missing]):
            del queue[key]
            self._window[key] = None
            self._window.move_to_end(key, last=False)
            if self._least is not None:
                self._least.offer(key)
        self._shrink_window()
        self._shrink_protected()


class _Shadow(WTinyLfu):
    """The keys that a memory with a window of 1 % would hold, by counts that another memory adds to."""

    def __init__(self, capacity: int, sketch: FrequencySketch) -> None:
        super().__init__(capacity, window_of(capacity))
        self._sketch, self._allows_for_rounding = sketch, True

    def _count(self, key: Key, hit: bool) -> None:
        """Leave counting to the memory itself."""

    def _evict(self, key: Key, reason: str) -> Eviction:
        self.remove(key)
        return _UNREPORTED


_UNREPORTED = Eviction(None, "", 0, "a shadow reports no evictions")


def _climber(capacity: int, sketches: Sequence[FrequencySketch]) -> Climber:
    size = window_of(capacity)
    narrow = [Rival(size, sketch, _Shadow(capacity, sketch)) for sketch in sketches]
    return Climber(capacity, size, sketches[0], [Rival(capacity, None, Lru(capacity)), *narrow])
