"""Whether a process gets on: on a busy machine it may take its time to start, which is not to hang."""

from __future__ import annotations

import time
from pathlib import Path

SAY_EVERY_S = 5.0
"""Between two words of what is waited for."""
_WANTS_TO_RUN = ("R", "D")
"""States of a process that waits for a processor or for the disk."""
_STATE, _USED = 0, slice(11, 13)
"""In /proc/<pid>/stat behind the name: the state, and processor time of its own and in the kernel, in ticks."""


class Progress:
    """Watches one process from outside; call `idle` often."""

    def __init__(self, pid: int) -> None:
        """Begin to watch a process.

        Args:
            pid: of the process.
        """
        self._stat = Path(f"/proc/{pid}/stat")
        self._used: tuple[str, ...] = ()
        self._since = time.monotonic()

    @property
    def idle(self) -> float:
        """Return for how many seconds the process has neither used a processor nor waited for one or for the disk."""
        now = time.monotonic()
        try:
            words = self._stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            return now - self._since
        used = tuple(words[_USED])
        if used != self._used or words[_STATE] in _WANTS_TO_RUN:
            self._used, self._since = used, now
        return now - self._since


class Patience:
    """Waits for the first answer of a process that starts, as long as it gets on, and says at times what for."""

    def __init__(self, pid: int, what: str, patience: float) -> None:
        """Begin to wait.

        Args:
            pid: of the process that is waited for.
            what: is waited for, in words.
            patience: with a process that does nothing, s.
        """
        self._progress = Progress(pid)
        self._what, self._patience = what, patience
        self._began = time.monotonic()
        self._say_at = self._began + SAY_EVERY_S

    @property
    def exhausted(self) -> str:
        """Return why it is waited for no longer; empty while it gets on."""
        idle = self._progress.idle
        return f"{self._what} hangs: its process has done nothing for {idle:.0f} s" if idle > self._patience else ""

    @property
    def news(self) -> str:
        """Return what is waited for, once every `SAY_EVERY_S`, else an empty text."""
        now = time.monotonic()
        if now < self._say_at:
            return ""
        self._say_at = now + SAY_EVERY_S
        return f"waiting for {self._what}: it has been starting for {now - self._began:.0f} s"
