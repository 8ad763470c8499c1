"""How often this process was asked to end: for an end in order, again for a quick one, a third time for one at once.

One press of Ctrl-C may come twice, from the terminal, whose whole process group gets it, and from the launcher, which
passes it on. Only a thread that waits for a signal learns who sent it, and such a thread hears it whatever the
others do: also while a library is loaded, and while a callback hangs.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ENDING = (signal.SIGINT, signal.SIGTERM)


class Interruptions:
    """Counts; there is one of them in a process, `interruptions`."""

    def __init__(self) -> None:
        self._asked: Callable[[int], None] = lambda count: os._exit(0)  # nothing was begun
        self._counts = False
        self._by_parent = self._by_others = self._terminations = 0

    def count(self) -> None:
        """Count from now on: best before there are other threads. What is asked meanwhile ends the process at once."""
        if self._counts:
            return
        self._counts, self._parent = True, os.getppid()
        for number in _ENDING:  # a thread that was there already gets a signal this way
            signal.signal(number, lambda number, frame: self._take(signal.Signals(number), 0))
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        threading.Thread(target=self._wait, name="interruptions", daemon=True).start()

    def tell(self, asked: Callable[[int], None]) -> None:
        """Have `asked(count)` called from now on, each time, in a thread of its own."""
        self._asked = asked

    def _wait(self) -> None:
        while True:
            told = signal.sigwaitinfo(_ENDING)
            self._take(signal.Signals(told.si_signo), told.si_pid)

    def _take(self, number: signal.Signals, sender: int) -> None:
        if number == signal.SIGTERM:
            self._terminations += 1
        elif sender == self._parent:
            self._by_parent += 1
        else:
            self._by_others += 1
        self._asked(max(self._by_parent, self._by_others) + self._terminations)


interruptions = Interruptions()
"""The interruptions of this process."""


@contextmanager
def interruptible_children() -> Iterator[None]:
    """Let Ctrl-C reach the processes that are started here, though this process handles signals in its own way."""
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
