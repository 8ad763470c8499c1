"""How much a process may say: a burst, then one line a second. A flood must not fill a disk, or a terminal."""

from __future__ import annotations

import time

BURST = 50


class LogBudget:
    """Room for `burst` lines, which grows again by one a second."""

    def __init__(self, burst: int = BURST) -> None:
        self._burst = self._room = float(burst)
        self._asked_at = time.monotonic()

    def take(self) -> bool:
        """Use up one line; return False if there is no room for it."""
        now = time.monotonic()
        self._room, self._asked_at = min(self._burst, self._room + now - self._asked_at), now
        if self._room < 1.0:
            return False
        self._room -= 1.0
        return True
