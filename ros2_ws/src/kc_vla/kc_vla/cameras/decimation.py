"""Fewer images of a camera whose rate others set."""

from __future__ import annotations

_SLACK = 0.1
"""Share of a period by which an image may be too early."""


class Decimator:
    """Which images to take for a rate: those nearest to its beat, never two of one moment."""

    def __init__(self, fps: float) -> None:
        """Take every image at first.

        Args:
            fps: of what is taken; 0 for all.
        """
        self._period_ns = round(1e9 / fps) if fps else 0
        self._due_ns: int | None = None

    def takes(self, stamp_ns: int) -> bool:
        """Return whether the image of this stamp is taken; stamps come in order."""
        period = self._period_ns
        if self._due_ns is None or not -2 * period <= stamp_ns - self._due_ns <= period:
            self._due_ns = stamp_ns  # the first, or one after a gap or a clock that was set back: the beat begins anew
        if stamp_ns < self._due_ns - _SLACK * period:
            return False
        self._due_ns += period
        return True
