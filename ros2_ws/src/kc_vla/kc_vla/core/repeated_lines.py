"""How much a process may say: problems that come again and again as one line each, and lines within a budget."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from dataclasses import dataclass

AGAIN_S = 10.0
"""Between two lines about a problem that lasts, s."""
QUIET_S = 5.0
"""A problem that has not come for so long is over, s; then it is news again."""
_MOST_KINDS = 32
_NUMBER = re.compile(r"\d+(\.\d+)?")

BURST = 50
"""Lines of a budget at first."""


@dataclass
class _Block:
    """A problem that comes again.

    Attributes:
        text: as it was last.
        begun: when the lines not yet counted began, s.
        last: when it came last, s.
        count: how often it has come since it was last logged.
    """

    text: str
    begun: float
    last: float
    count: int = 0

    def words(self) -> str:
        """Return what is logged in place of `count` lines."""
        times = "once" if self.count == 1 else f"{self.count} times"
        return f"{self.text} ({times} more within {max(self.last - self.begun, 0.1):.1f} s)"


class RepeatedLines:
    """Counts lines that differ in nothing but their numbers, also where others come in between."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[str, _Block] = OrderedDict()

    def is_news(self, text: str, now: float) -> bool:
        """Return whether a line is to be logged; else it is counted. `now`: of a steady clock, s."""
        kind = _NUMBER.sub("#", text)
        block = self._blocks.get(kind)
        if block is not None and (now - block.last <= QUIET_S or block.count):
            block.text, block.last, block.count = text, now, block.count + 1
            return False
        self._blocks[kind] = _Block(text, now, now)
        self._blocks.move_to_end(kind)
        if len(self._blocks) > _MOST_KINDS:
            self._blocks.popitem(last=False)
        return True

    def due(self, now: float) -> list[str]:
        """Return the lines that stand for what was counted, of problems that last or are over."""
        lines = []
        for kind, block in list(self._blocks.items()):
            over = now - block.last > QUIET_S
            if block.count and (over or now - block.begun >= AGAIN_S):
                lines.append(block.words())
                block.begun, block.count = now, 0
            if over:
                del self._blocks[kind]
        return lines


class LogBudget:
    """Room for `burst` lines, which grows again by one a second: a flood must not fill a disk, or a terminal."""

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
