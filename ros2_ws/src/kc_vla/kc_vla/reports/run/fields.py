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
        """Args: `content` that JSON gave; `name` by which an error calls it."""
        if not isinstance(content, Mapping):
            raise ValueError(f"{name} is no object")
        self._content: Mapping[str, Any] = content

    def text(self, name: str) -> str | None:
        """A text, cut to what a person would read."""
        value = self._content.get(name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"'{name}' is no text")
        return value[:_MOST_LETTERS] if value is not None else None

    def number(self, name: str) -> float | None:
        """A finite number."""
        value = self._content.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"'{name}' is no number")
        return value

    def whole(self, name: str) -> int | None:
        """A whole number."""
        value = self.number(name)
        if value is not None and value != int(value):
            raise ValueError(f"'{name}' is no whole number")
        return int(value) if value is not None else None

    def flag(self, name: str) -> bool | None:
        """True or false."""
        value = self._content.get(name)
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"'{name}' is neither true nor false")
        return value

    def inner(self, name: str) -> Fields:
        """An object; an empty one where it is missing."""
        value = self._content.get(name)
        return Fields({} if value is None else value, f"'{name}'")

    def each(self, name: str) -> Sequence[Any]:
        """A list; an empty one where it is missing."""
        value = self._content.get(name)
        if value is not None and not isinstance(value, list):
            raise ValueError(f"'{name}' is no list")
        return value or ()

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(str(value)[:_MOST_LETTERS] for value in self.each(name))

    def rows(self, name: str) -> list[Fields]:
        """A list of objects."""
        return [Fields(value, f"a row of '{name}'") for value in self.each(name)]

    def names(self) -> list[str]:
        """What it has, in order."""
        return [str(name)[:_MOST_LETTERS] for name in self._content]
