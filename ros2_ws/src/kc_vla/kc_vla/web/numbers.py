"""Numbers as JSON has them: it knows no NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable

_DIGITS = 5


def number(value: float) -> float | None:
    """Return a number, rounded; None where it is not finite."""
    return round(float(value), _DIGITS) if math.isfinite(value) else None


def numbers(values: Iterable[float]) -> list[float | None]:
    """Return each of them so."""
    return [number(value) for value in values]
