"""Latencies and losses of one node, over a window of bounded size."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np

WINDOW = 4096


@dataclass(frozen=True)
class Percentiles:
    """Summary of a window, seconds."""

    count: int
    p50: float
    p99: float
    maximum: float


class Statistics:
    """What a node measures of itself: seconds per stage, which any thread may add, and losses per topic."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards stages and counts
        self._stages: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=WINDOW))
        self._counts: defaultdict[str, int] = defaultdict(int)
        self.dropped: defaultdict[str, int] = defaultdict(int)

    def add(self, stage: str, seconds: float) -> None:
        """Note how long `stage` took this time."""
        with self._lock:
            self._stages[stage].append(seconds)
            self._counts[stage] += 1

    def drop(self, topic: str, count: int = 1) -> None:
        """Note that `count` messages of `topic` never arrived or had to be dropped."""
        self.dropped[topic] += count

    def percentiles(self) -> dict[str, Percentiles]:
        """Return the summary of every stage that was measured; `count` is over all time, the rest over the window."""
        with self._lock:
            stages = {stage: (self._counts[stage], np.fromiter(each, float)) for stage, each in self._stages.items()}
        return {
            stage: Percentiles(number, *(float(v) for v in np.percentile(values, (50, 99, 100))))
            for stage, (number, values) in stages.items()
        }

    def clear(self) -> None:
        """Forget everything: a new episode begins."""
        with self._lock:
            self._stages.clear()
            self._counts.clear()
        self.dropped.clear()
