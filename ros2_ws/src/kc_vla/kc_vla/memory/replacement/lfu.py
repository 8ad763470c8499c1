"""Evicts the least frequently used key, by exact counts since it came; of several, the one unused for longest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping

from kc_vla.memory.replacement.interface import QUEUE, Eviction, Key, check_capacity


class Lfu:
    """Keys in one queue for each count that there is."""

    def __init__(self, capacity: int) -> None:
        self.capacity = check_capacity(capacity)
        self._counts: dict[Key, int] = {}
        self._queues: dict[int, OrderedDict[Key, None]] = {}
        self._least = 1
        """Nothing that is there was used less often."""

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, key: Key) -> bool:
        return key in self._counts

    def __iter__(self) -> Iterator[Key]:
        return iter(self._counts)

    def add(self, key: Key) -> Eviction | None:
        """Add a key with one use; if the memory is full, evict the key that was used least and longest ago."""
        if key in self._counts:
            self.use(key)
            return None
        evicted = None
        if len(self._counts) == self.capacity:
            while self._least not in self._queues:  # each step was a use of a key: over all, it costs nothing
                self._least += 1
            first = next(iter(self._queues[self._least]))
            evicted = Eviction(first, QUEUE, self._least, f"it was used least, {self._least} times")
            self.remove(first)
        self._put(key, 1)
        return evicted

    def use(self, key: Key) -> None:
        """Count one more use of a key; raise KeyError if it is not there."""
        count = self._counts[key]
        self.remove(key)
        self._put(key, count + 1)

    def demote(self, key: Key) -> None:
        """Set a key's count to 0, so that it is the next to leave; raise KeyError if it is not there."""
        self.remove(key)
        self._put(key, 0)
        self._queues[0].move_to_end(key, last=False)

    def remove(self, key: Key) -> None:
        """Remove a key and its count; raise KeyError if it is not there."""
        count = self._counts.pop(key)
        queue = self._queues[count]
        del queue[key]
        if not queue:
            del self._queues[count]

    def frequency(self, key: Key) -> int:
        """Return how often a key was used since it was added; 0 if it is not there."""
        return self._counts.get(key, 0)

    def segment(self, key: Key) -> str:
        """Return the name of the only segment; raise KeyError if the key is not there."""
        self._counts[key]
        return QUEUE

    def segments(self) -> Mapping[str, tuple[Key, ...]]:
        """Return all keys as one segment, the next to leave first."""
        return {QUEUE: tuple(key for count in sorted(self._queues) for key in self._queues[count])}

    def _put(self, key: Key, count: int) -> None:
        self._counts[key] = count
        self._least = min(self._least, count)
        self._queues.setdefault(count, OrderedDict())[key] = None
