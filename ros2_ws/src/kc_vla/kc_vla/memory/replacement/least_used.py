"""Finds the least used of many keys without a search through all of them."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush, heapreplace

from kc_vla.memory.replacement.interface import Key


class LeastUsed:
    """Keys by how often they were used, and of several by how long ago.

    A key is in a heap with what was true of it when it was last looked at. As both only grow, whatever is at the top
    with what is true now is the least of all; what is not is put back where it belongs.
    """

    def __init__(self, count: Callable[[Key], int]) -> None:
        """Begin empty; `count` returns how often a key was used."""
        self._count = count
        self._last: dict[Key, int] = {}
        self._uses = self._wrong = 0
        self._heap: list[tuple[int, int, Key]] = []
        self._held: set[Key] = set()

    def use(self, key: Key) -> None:
        """Note that a key is used, or has come."""
        self._uses += 1
        self._last[key] = self._uses
        self.offer(key)

    def offer(self, key: Key) -> None:
        """Let a key that is there be chosen again."""
        if key not in self._held:
            self._held.add(key)
            heappush(self._heap, (self._count(key), self._last[key], key))

    def demote(self, key: Key) -> None:
        """Put a key first of those that were used as little.

        Its count is less now, and maybe those of other keys.
        """
        self._wrong -= 1
        self._last[key] = self._wrong
        self._held = set(self._last)
        self._heap = [(self._count(each), last, each) for each, last in self._last.items()]
        heapify(self._heap)

    def remove(self, key: Key) -> None:
        """Forget a key."""
        del self._last[key]

    def halve(self) -> None:
        """Halve all counts."""
        self._heap = [(count // 2, last, key) for count, last, key in self._heap]
        heapify(self._heap)

    def least(self, may_go: Callable[[Key], bool]) -> Key:
        """Return the key that was used least of those that may go; one must.

        Offer a key that may go again later then.
        """
        while True:
            count, last, key = self._heap[0]
            if key not in self._last or not may_go(key):
                heappop(self._heap)
                self._held.remove(key)
            elif (now := (self._count(key), self._last[key])) != (count, last):
                heapreplace(self._heap, (*now, key))
            else:
                return key
