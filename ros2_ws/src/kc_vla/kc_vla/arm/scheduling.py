"""The time of a control loop: its absolute deadlines, and how the operating system treats its process, first."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Iterator

_NOW_AND_LATER = 3
"""MCL_CURRENT | MCL_FUTURE of mlockall(2)."""


def control_periods(period: float) -> Iterator[tuple[float, float]]:
    """Wait for one deadline after the other, `period` s apart; periods that were missed are not made up for.

    Yields:
        steady time, s, and how late it is for this period, s.
    """
    due = time.monotonic()
    while True:
        due += period
        time.sleep(max(0.0, due - time.monotonic()))
        now = time.monotonic()
        yield now, now - due
        due = max(due, now - period)


class PriorityError(RuntimeError):
    """The system refuses a real-time priority; the text says what to do."""


def take_priority(priority: int) -> None:
    """Let every thread of this process run before all ordinary ones from now on (SCHED_FIFO).

    Every thread: the middleware's share locks with the loop, which would wait for them while they wait for their turn.

    Args:
        priority: 1..99, among the real-time threads of the machine; 0 goes back to ordinary threads.

    Raises:
        PriorityError: the user may not; the process goes on as it was.
    """
    policy = os.SCHED_FIFO if priority else os.SCHED_OTHER
    try:
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.sched_setscheduler(int(thread), policy, os.sched_param(priority))
    except PermissionError as error:
        raise PriorityError(
            f"no real-time priority {priority}: the control loop will be late beside other work. Allow it with "
            "'kc-vla setup realtime --do' and log in again"
        ) from error


def lock_memory() -> None:
    """Keep all memory of this process in RAM from now on: a page that has to be read from disk costs many periods.

    Raises:
        PriorityError: the user may not; the process goes on as it was.
    """
    if ctypes.CDLL(None, use_errno=True).mlockall(_NOW_AND_LATER):
        reason = os.strerror(ctypes.get_errno())
        raise PriorityError(
            f"memory cannot be locked ({reason}): the control loop may be late. Allow it with "
            "'kc-vla setup realtime --do' and log in again"
        )
