"""The protocol of replacement policies, and the reason of an eviction."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

Key = Hashable
QUEUE = "queue"
"""The segment of a policy that has one alone."""


@dataclass(frozen=True)
class Eviction:
    """An evicted key.

    Attributes:
        key: the key.
        segment: segment in which the key was.
        frequency: number of its uses, as the policy counts them.
        reason: the reason, in words for people.
    """

    key: Key
    segment: str
    frequency: int
    reason: str


class Replacement(Protocol):
    """Keeps up to `capacity` keys, and chooses the one to evict when another comes."""

    capacity: int

    def __len__(self) -> int: ...

    def __contains__(self, key: Key) -> bool: ...

    def __iter__(self) -> Iterator[Key]: ...

    def add(self, key: Key) -> Eviction | None:
        """Add a key and return the eviction of another one, if any. For a key that is there, count a use."""
        ...

    def use(self, key: Key) -> None:
        """Count a use of a key that was requested or confirmed; raise KeyError if it is not there."""
        ...

    def demote(self, key: Key) -> None:
        """Make a refuted key the next one to evict; raise KeyError if it is not there."""
        ...

    def remove(self, key: Key) -> None:
        """Remove a key; raise KeyError if it is not there."""
        ...

    def frequency(self, key: Key) -> int:
        """Return the number of uses of a key, as the policy counts them; 0 if it counts none."""
        ...

    def segment(self, key: Key) -> str:
        """Return the segment of a key; raise KeyError if it is not there."""
        ...

    def segments(self) -> Mapping[str, tuple[Key, ...]]:
        """Return the keys of each segment, the next one to evict first."""
        ...


def check_capacity(capacity: int) -> int:
    """Return `capacity` if it is at least 1; raise ValueError otherwise."""
    if capacity < 1:
        raise ValueError(f"a memory of {capacity} units: give it at least 1")
    return capacity
