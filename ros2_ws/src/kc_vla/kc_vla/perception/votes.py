"""What most of the last looks say, those that are surer with more weight."""

from __future__ import annotations

_LEAST = 0.02


class Votes:
    """Counts of values that fade with each look."""

    def __init__(self, keep: float) -> None:
        """Begin without a vote.

        Args:
            keep: share of the older votes that is left after a newer one.
        """
        self._keep = keep
        self._counts: dict[str, float] = {}
        self.best = ""
        """The value with most votes; of two with as many, the one that was ahead before."""

    def add(self, value: str, weight: float) -> None:
        """Count a vote; an empty value says nothing."""
        if not value:
            return
        faded = ((name, count * self._keep) for name, count in self._counts.items())
        self._counts = {name: count for name, count in faded if count > _LEAST}
        self._counts[value] = self._counts.get(value, 0.0) + max(weight, _LEAST)
        if self._counts[value] > self._counts.get(self.best, 0.0) or self.best not in self._counts:
            self.best = max(self._counts, key=lambda name: self._counts[name])

    def support(self, value: str, weight: float) -> None:
        """Count a vote beside the one of the same look."""
        if value:
            self._counts[value] = self._counts.get(value, 0.0) + weight
            self.best = max(self._counts, key=lambda name: (self._counts[name], name == self.best))
