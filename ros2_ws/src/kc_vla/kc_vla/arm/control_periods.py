"""The beat of a control loop: absolute deadlines in steady time."""

from __future__ import annotations

import time
from collections.abc import Iterator


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
