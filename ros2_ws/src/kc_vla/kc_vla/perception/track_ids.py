"""Ids of objects, such as mug_1: none is used for a second object."""

from __future__ import annotations

from collections.abc import Container

_MOST_TYPES = 1000
_REST = "object"
"""What is counted under one name where a detector invents types without end."""


class TrackIds:
    """Counts the objects of each type."""

    def __init__(self, run: str = "") -> None:
        """Begin at 1.

        Args:
            run: what the ids end with, for a memory that outlives this process; empty: nothing.
        """
        self._counts: dict[str, int] = {}
        self._end = f"-{run}" if run else ""

    def new(self, object_type: str, taken: Container[str]) -> str:
        """Return the id of a new object: its type with a number, and none of those that are taken."""
        plain = "".join(letter if letter.isalnum() else "_" for letter in object_type.lower()).strip("_")
        kind = plain if plain in self._counts or (plain and len(self._counts) < _MOST_TYPES) else _REST
        while True:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            name = f"{kind}_{self._counts[kind]}{self._end}"
            if name not in taken:
                return name
