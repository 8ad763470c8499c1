"""What a replacement policy is asked, and how it tells why a key had to go."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

Key = Hashable
QUEUE = "queue"
"""The segment of a policy that has one alone."""


@dataclass(frozen=True)
class Eviction:
    """A key that had to go.

    Attributes:
        key: which.
        segment: that it was in.
        frequency: how often it had been used, as the policy counts.
        reason: in words, for people.
    """

    key: Key
    segment: str
    frequency: int
    reason: str


class Replacement(Protocol):
    """Keeps the order of up to `capacity` keys, and says which one leaves when another comes."""

    capacity: int

    def __len__(self) -> int: ...

    def __contains__(self, key: Key) -> bool: ...

    def __iter__(self) -> Iterator[Key]: ...

    def add(self, key: Key) -> Eviction | None:
        """Take in a key; return what leaves for it, which is never itself. A key that is there is used."""
        ...

    def use(self, key: Key) -> None:
        """Count a use of a key, which was asked for or proved right; raise KeyError if it is not there."""
        ...

    def demote(self, key: Key) -> None:
        """Make a key that proved wrong the next to leave; raise KeyError if it is not there."""
        ...

    def remove(self, key: Key) -> None:
        """Forget a key; KeyError if it is not there."""
        ...

    def frequency(self, key: Key) -> int:
        """Return how often a key was used, as the policy counts: 0 where it does not."""
        ...

    def segment(self, key: Key) -> str:
        """Return the segment that a key is in; KeyError if it is not there."""
        ...

    def segments(self) -> Mapping[str, tuple[Key, ...]]:
        """Return the keys of each segment, the next to leave first."""
        ...


def check_capacity(capacity: int) -> int:
    """Return `capacity`, if a memory can have it; ValueError otherwise."""
    if capacity < 1:
        raise ValueError(f"a memory of {capacity} units: give it at least 1")
    return capacity
