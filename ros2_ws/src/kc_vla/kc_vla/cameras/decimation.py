"""Fewer pictures of a camera whose rate others set."""

from __future__ import annotations

_SLACK = 0.1
"""Of a period: a picture may be so much too early."""


class Decimator:
    """Which pictures to take for a rate: those nearest to its beat, never two of one moment."""

    def __init__(self, fps: float) -> None:
        """Args: `fps` of what is taken; 0 for all."""
        self._period_ns = round(1e9 / fps) if fps else 0
        self._due_ns: int | None = None

    def takes(self, stamp_ns: int) -> bool:
        """Whether the picture of this stamp is taken; stamps come in order."""
        period = self._period_ns
        if self._due_ns is None or not -2 * period <= stamp_ns - self._due_ns <= period:
            self._due_ns = stamp_ns  # the first, or one after a gap or a clock that was set back: the beat begins anew
        if stamp_ns < self._due_ns - _SLACK * period:
            return False
        self._due_ns += period
        return True
