"""Places in arrays for things that come and go, each once however many hold it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class SlotNumbers(Generic[T]):
    """Gives each thing a number; numbers of things that nobody holds any more are given again."""

    def __init__(self) -> None:
        self._at: dict[T, int] = {}
        self._held: dict[T, int] = {}
        self._free: list[int] = []
        self.size = 0
        """Above all numbers that were given."""

    def __contains__(self, thing: T) -> bool:
        return thing in self._at

    def __getitem__(self, thing: T) -> int:
        return self._at[thing]

    def __len__(self) -> int:
        return len(self._at)

    def take(self, thing: T) -> int:
        """Hold a thing; return its number."""
        at = self._at.get(thing)
        if at is None:
            if self._free:
                at = self._free.pop()
            else:
                at, self.size = self.size, self.size + 1
            self._at[thing] = at
        self._held[thing] = self._held.get(thing, 0) + 1
        return at

    def leave(self, thing: T) -> bool:
        """Hold a thing no more; return whether it was the last time. KeyError where nobody holds it."""
        self._held[thing] -= 1
        if self._held[thing]:
            return False
        del self._held[thing]
        self._free.append(self._at.pop(thing))
        return True
