"""The thread that steps the servo: absolute deadlines, and what others ask of it is done between two steps."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from kc_vla.arm.interface import ArmError
from kc_vla.arm.limiter import LimiterError
from kc_vla.arm.servo import Report, Servo

Work = Callable[[Servo, float], None]


class ControlLoop(threading.Thread):
    """Steps a servo once in each control period until `end`, or until something happens that must not.

    Attributes:
        error: what ended the loop, None as long as it runs or if it was ended.
    """

    def __init__(self, servo: Servo, period: float, on_step: Callable[[Report, float], None]) -> None:
        """Args: `period` of control, s; `on_step(report, lateness)`, s, is called in this thread and must be quick."""
        super().__init__(name="control", daemon=True)
        self._servo, self._period, self._on_step = servo, period, on_step
        self._asked: queue.SimpleQueue[tuple[Work, Future[None]]] = queue.SimpleQueue()
        self._ended = threading.Event()
        self.error: Exception | None = None

    def ask(self, work: Work) -> Future[None]:
        """Have `work(servo, now)` done before the next step; the future holds what it raises."""
        future: Future[None] = Future()
        self._asked.put((work, future))
        return future

    def end(self) -> None:
        """Step no more; the arm keeps its power and stays where it was last sent."""
        self._ended.set()
        self.join()

    def run(self) -> None:
        """See the class."""
        due = time.monotonic()
        while not self._ended.is_set():
            due += self._period
            time.sleep(max(0.0, due - time.monotonic()))
            now = time.monotonic()
            try:
                self._work(now)
                report = self._servo.step(now)
            except (ArmError, LimiterError, ValueError) as error:
                self.error = error  # nothing is sent any more: the arm holds by itself
                return
            self._on_step(report, now - due)
            due = max(due, now - self._period)  # steps that were missed are not made up for

    def _work(self, now: float) -> None:
        while True:
            try:
                work, future = self._asked.get_nowait()
            except queue.Empty:
                return
            try:
                work(self._servo, now)
            except (ArmError, ValueError) as error:
                future.set_exception(error)
            else:
                future.set_result(None)
