"""A share of a count, and how far chance may have moved it."""

from __future__ import annotations

import math
from typing import NamedTuple

_95 = 1.959964


class Share(NamedTuple):
    """So many of so many."""

    right: int
    of: int

    @property
    def share(self) -> float:
        """Return the share, 0..1."""
        return self.right / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the share after Wilson (1927), which stays within 0..1."""
        square = _95**2 / self.of
        middle = (self.share + square / 2) / (1 + square)
        half = _95 * math.sqrt(self.share * (1 - self.share) / self.of + square / (4 * self.of)) / (1 + square)
        return min(max(middle - half, 0.0), self.share), max(min(middle + half, 1.0), self.share)

    def __str__(self) -> str:
        """Return the share in percent, with its interval."""
        low, high = self.interval
        return f"{100 * self.share:.1f} ({100 * low:.1f} to {100 * high:.1f})"
