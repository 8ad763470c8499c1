"""Work done ahead of questions, a little at a time, by a worker that answers them meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

from kc_vla.core.errors import StackError
from kc_vla.inference.worker import JobOutcome, Runner

_AGAIN_S = 10.0


class BackgroundWork:
    """Has the work done in one job of the worker after the other, so that no question has to wait for all of it."""

    def __init__(
        self,
        prepare: Callable[[], bool],
        work: Runner,
        report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare nothing yet.

        Args:
            prepare: does some of the work, and returns whether that was all; a job of `work`.
            work: does the jobs.
            report: gets after each job why it failed; an empty text where it did not.
            clock: of the 10 s until work that failed is tried again, s.
        """
        self._prepare, self._work, self._report, self._clock = prepare, work, report, clock
        self._busy, self._again_at_s = False, 0.0

    def go_on(self) -> None:
        """Do what is new of the work."""
        if not self._busy and self._clock() >= self._again_at_s:
            self._busy = True
            self._work.submit(self._prepare, self._on_prepared)

    def _on_prepared(self, outcome: JobOutcome[bool]) -> None:
        self._busy = False
        try:
            done = outcome.result()
        except StackError as error:
            self._again_at_s = self._clock() + _AGAIN_S
            self._report(str(error))
            return
        self._report("")
        if not done:
            self.go_on()
