"""Policies with one queue: first in, first out; least recently used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping

from kc_vla.memory.replacement.interface import QUEUE, Eviction, Key, check_capacity


class Fifo:
    """First in, first out; a key that comes again keeps its place."""

    why = "it came first"

    def __init__(self, capacity: int) -> None:
        self.capacity = check_capacity(capacity)
        self._queue: OrderedDict[Key, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._queue)

    def __contains__(self, key: Key) -> bool:
        return key in self._queue

    def __iter__(self) -> Iterator[Key]:
        return iter(self._queue)

    def add(self, key: Key) -> Eviction | None:
        """Add a key at the end of the queue; if the memory is full, evict the first one."""
        if key in self._queue:
            self.use(key)
            return None
        evicted = None
        if len(self._queue) == self.capacity:
            first, _ = self._queue.popitem(last=False)
            evicted = Eviction(first, QUEUE, 0, self.why)
        self._queue[key] = None
        return evicted

    def use(self, key: Key) -> None:
        """Do nothing, as uses do not count here; raise KeyError if the key is not there."""
        self._queue[key]

    def demote(self, key: Key) -> None:
        """Move a key to the front of the queue, so that it is the next to leave; raise KeyError if it is not there."""
        self._queue.move_to_end(key, last=False)

    def remove(self, key: Key) -> None:
        """Remove a key from the queue; raise KeyError if it is not there."""
        del self._queue[key]

    def frequency(self, key: Key) -> int:
        """Return 0, as uses are not counted here."""
        return 0

    def segment(self, key: Key) -> str:
        """Return the name of the only segment; raise KeyError if the key is not there."""
        self._queue[key]
        return QUEUE

    def segments(self) -> Mapping[str, tuple[Key, ...]]:
        """Return the queue as one segment, the next to leave first."""
        return {QUEUE: tuple(self._queue)}


class Lru(Fifo):
    """The least recently used key leaves."""

    why = "it was used least recently"

    def use(self, key: Key) -> None:
        """Move a key to the end of the queue; raise KeyError if it is not there."""
        self._queue.move_to_end(key)
