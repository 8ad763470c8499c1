"""What is wrong with the stamps of a stream: some that are far off, a clock that was set, messages that came late.

Stamps are held against the times of recording, which another clock, or at least another program, has made. A simulator
may be slower than that clock, so only changes from one message to the next few count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]
_NS = 1_000_000_000
_WINDOW = 9
"""Messages among which the usual difference of the two clocks is found: up to four in a row may be wrong."""
_FAR_NS, _FAR_PERIODS = 1_000_000_000, 10
_BACK_NS = 500_000_000
_PAUSE_NS = 60 * _NS
"""No episode has a pause as long as that; stamps that leave it out were made by a clock that was set."""
_LONGEST_BURST = 2
"""Number of late messages in a row that are no clock that was set back."""
_DENSE = 1.5
"""Where a clock was set back, there are about twice as many stamps as a camera makes."""


@dataclass(frozen=True)
class Step:
    """A clock was set.

    Attributes:
        at: index of the first message behind it.
        seconds: by how much, below 0: back.
    """

    at: int
    seconds: float


def far_off(stamps: Times, logs: Times) -> NDArray[np.bool_]:
    """Return whether each of the stamps (N,) contradicts those around it, in the order of recording.

    Args:
        stamps: ns.
        logs: when the messages were recorded, ns.
    """
    if len(stamps) < 3:
        return np.zeros(len(stamps), bool)
    most = max(_FAR_NS, _FAR_PERIODS * period_ns(stamps))
    # Only both together: a recorder that pauses leaves stamps out, a simulator that stands still makes no stamps.
    return np.asarray((_from_usual(stamps - logs) > most) & (_from_usual(stamps) > most))


def _from_usual(times: Times) -> NDArray[np.float64]:
    """Return how far each of these (N,) is from the median of those around it.

    At the ends it is the median around the outermost one.
    """
    medians = np.median(np.lib.stride_tricks.sliding_window_view(times, min(_WINDOW, len(times))), axis=1)
    beyond = len(times) - len(medians)
    return np.asarray(np.abs(times - np.pad(medians, (beyond // 2, beyond - beyond // 2), mode="edge")))


def period_ns(stamps: Times) -> float:
    """Return the usual time between two messages, ns; 0.0 for fewer than two."""
    gaps = np.diff(np.unique(stamps))
    return float(np.median(gaps)) if len(gaps) else 0.0


def steps(stamps: Times, logs: Times) -> list[Step]:
    """Find where the clock of a stream was set, in the order of recording; arguments as `far_off`."""
    found: list[Step] = []
    period = period_ns(stamps)
    begin = 0  # of what was stamped since the last step
    newest = int(stamps[0]) if len(stamps) else 0
    for at in range(1, len(stamps)):
        stamp, before = int(stamps[at]), int(stamps[at - 1])
        if stamp < newest and _was_set_back(stamps, begin, at, newest, period):
            found.append(Step(at, (stamp - newest - round(period)) / _NS))
            begin, newest = at, stamp
        elif stamp > newest:
            gap, recorded = stamp - max(before, newest), int(logs[at] - logs[at - 1])
            if gap > _PAUSE_NS or gap - recorded > max(_FAR_NS, _FAR_PERIODS * period):
                found.append(Step(at, (gap - max(recorded, 0)) / _NS))
                begin = at
            newest = stamp
    return found


def _was_set_back(stamps: Times, begin: int, at: int, newest: int, period: float) -> bool:
    """Return whether message `at`, stamped before the `newest` ahead of it, is the first after a clock was set back."""
    end = at + 1
    while end < len(stamps) and stamps[end - 1] < stamps[end] <= newest:
        end += 1
    late = stamps[at:end]
    if len(late) <= _LONGEST_BURST and (end < len(stamps) or len(late) < _LONGEST_BURST):
        return False
    if newest - late[0] > max(_BACK_NS, _FAR_PERIODS * period):
        return True
    earlier = int((stamps[begin:at] >= late[0]).sum())
    return bool(earlier + len(late) >= _DENSE * ((newest - int(late[0])) / max(period, 1.0) + 1))


def too_late(stamps: Times) -> NDArray[np.bool_]:
    """Return whether each of the stamps (N,) is far behind one ahead of it.

    Those a little behind only changed places.
    """
    newest = np.maximum.accumulate(stamps) if len(stamps) else stamps
    return np.asarray(newest - stamps > max(_BACK_NS, _FAR_PERIODS * period_ns(stamps)))


def ascending(stamps: Times) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of messages in the order of their stamps (N,), and of those that repeat a stamp."""
    order = np.argsort(stamps, kind="stable")
    again = np.diff(stamps[order], prepend=-1) == 0
    return np.asarray(order[~again], np.int64), np.asarray(np.sort(order[again]), np.int64)


def longest_run(mask: NDArray[np.bool_]) -> tuple[int, int]:
    """Return where the longest run of True begins, and where it has ended; the first of equals, (0, 0) for none."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    begins, ends = edges[::2], edges[1::2]
    if not len(begins):
        return 0, 0
    best = int(np.argmax(ends - begins))
    return int(begins[best]), int(ends[best])
