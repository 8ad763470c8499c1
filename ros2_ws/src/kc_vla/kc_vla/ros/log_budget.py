"""How much a node may log: a burst, then one line a second. A flood of problems must not fill a disk."""

from __future__ import annotations

import time

BURST = 50


class LogBudget:
    """Room for `BURST` lines, which grows again by one a second."""

    def __init__(self) -> None:
        self._room = float(BURST)
        self._asked_at = time.monotonic()

    def take(self) -> bool:
        """Use up one line; return False if there is no room for it."""
        now = time.monotonic()
        self._room, self._asked_at = min(BURST, self._room + now - self._asked_at), now
        if self._room < 1.0:
            return False
        self._room -= 1.0
        return True
