"""Values out of JSON that others may have written: of the kind that is asked for, or refused in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

_MOST_LETTERS = 2000


class Fields:
    """A JSON object; what it lacks, or has as null, is None.

    Every error is a `ValueError` whose text says which value is not what it should be.
    """

    def __init__(self, content: Any, name: str = "it") -> None:
        """Take an object out of JSON.

        Args:
            content: that JSON gave.
            name: by which an error calls it.
        """
        if not isinstance(content, Mapping):
            raise ValueError(f"{name} is no object")
        self._content: Mapping[str, Any] = content

    def text(self, name: str) -> str | None:
        """Return a text, cut to what a person would read."""
        value = self._content.get(name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"'{name}' is no text")
        return value[:_MOST_LETTERS] if value is not None else None

    def number(self, name: str) -> float | None:
        """Return a finite number."""
        value = self._content.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"'{name}' is no number")
        return value

    def whole(self, name: str) -> int | None:
        """Return a whole number."""
        value = self.number(name)
        if value is not None and value != int(value):
            raise ValueError(f"'{name}' is no whole number")
        return int(value) if value is not None else None

    def flag(self, name: str) -> bool | None:
        """Return true or false, or None where the field is missing."""
        value = self._content.get(name)
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"'{name}' is neither true nor false")
        return value

    def inner(self, name: str) -> Fields:
        """Return an object; an empty one where it is missing."""
        value = self._content.get(name)
        return Fields({} if value is None else value, f"'{name}'")

    def each(self, name: str) -> Sequence[Any]:
        """Return a list; an empty one where it is missing."""
        value = self._content.get(name)
        if value is not None and not isinstance(value, list):
            raise ValueError(f"'{name}' is no list")
        return value or ()

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(str(value)[:_MOST_LETTERS] for value in self.each(name))

    def rows(self, name: str) -> list[Fields]:
        """Return a list of objects."""
        return [Fields(value, f"a row of '{name}'") for value in self.each(name)]

    def names(self) -> list[str]:
        """Return what it has, in order."""
        return [str(name)[:_MOST_LETTERS] for name in self._content]
