"""Whether two texts are equal, as 'true' or 'false'."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

_TRUE_TEXTS = ("true", "1")


class EqualsSubstitution(Substitution):
    """Compares two values: as truth values where both are, else as numbers, else as text."""

    def __init__(self, left: Any, right: Any) -> None:
        from ..utilities import normalize_to_list_of_substitutions

        self._left = normalize_to_list_of_substitutions(_as_text(left))
        self._right = normalize_to_list_of_substitutions(_as_text(right))

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return str(self._equal(context)).lower()

    def _equal(self, context: LaunchContext) -> bool:
        from ..utilities import perform_substitutions

        left = perform_substitutions(context, self._left)
        right = perform_substitutions(context, self._right)
        if left == right:
            return True
        truths = (_truth(left), _truth(right))
        if None not in truths:
            return truths[0] is truths[1]
        numbers = (_number(left), _number(right))
        if numbers[0] is not None and numbers[1] is not None:
            return math.isclose(numbers[0], numbers[1])
        return False

    def describe(self) -> str:
        """Return the call as written."""
        sides = (" + ".join(sub.describe() for sub in side) for side in (self._left, self._right))
        return f"{type(self).__name__}({', '.join(sides)})"


class NotEqualsSubstitution(EqualsSubstitution):
    """The contrary of EqualsSubstitution."""

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return str(not self._equal(context)).lower()


def _as_text(value: Any) -> Any:
    """Turn plain numbers and truth values into text, leave text and substitutions."""
    return value if isinstance(value, str | Substitution | Iterable) else str(value)


def _truth(text: str) -> bool | None:
    lowered = text.lower()
    if lowered in _TRUE_TEXTS:
        return True
    return False if lowered in ("false", "0") else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
