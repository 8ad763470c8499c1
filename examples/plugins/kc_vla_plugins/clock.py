"""CLOCK: first in, first out, with a second chance for a key that was used since the hand last passed it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping

from kc_vla.memory.replacement.interface import QUEUE, Eviction, Key, check_capacity
from kc_vla.memory.replacement.policies import ReplacementKind


class Clock:
    """See `kc_vla.memory.replacement.interface.Replacement`."""

    def __init__(self, capacity: int) -> None:
        self.capacity = check_capacity(capacity)
        self._used: OrderedDict[Key, bool] = OrderedDict()  # whether each was used since the hand passed it

    def __len__(self) -> int:
        return len(self._used)

    def __contains__(self, key: Key) -> bool:
        return key in self._used

    def __iter__(self) -> Iterator[Key]:
        return iter(self._used)

    def add(self, key: Key) -> Eviction | None:
        """See `Replacement`."""
        if key in self._used:
            self.use(key)
            return None
        evicted = self._evict() if len(self._used) == self.capacity else None
        self._used[key] = False
        return evicted

    def use(self, key: Key) -> None:
        """See `Replacement`."""
        if key not in self._used:
            raise KeyError(key)
        self._used[key] = True

    def demote(self, key: Key) -> None:
        """See `Replacement`."""
        self._used.move_to_end(key, last=False)
        self._used[key] = False

    def remove(self, key: Key) -> None:
        """See `Replacement`."""
        del self._used[key]

    def frequency(self, key: Key) -> int:
        """See `Replacement`."""
        return int(self._used.get(key, False))

    def segment(self, key: Key) -> str:
        """See `Replacement`."""
        if key not in self._used:
            raise KeyError(key)
        return QUEUE

    def segments(self) -> Mapping[str, tuple[Key, ...]]:
        """See `Replacement`: those that the hand would spare come last."""
        spared = [key for key, used in self._used.items() if used]
        return {QUEUE: (*(key for key, used in self._used.items() if not used), *spared)}

    def _evict(self) -> Eviction:
        while True:
            key, used = self._used.popitem(last=False)
            if not used:
                return Eviction(key, QUEUE, 0, "it was not used since the hand last passed it")
            self._used[key] = False  # its second chance


CLOCK = ReplacementKind("CLOCK: first in, first out, but a key that was used has a second chance", Clock)
