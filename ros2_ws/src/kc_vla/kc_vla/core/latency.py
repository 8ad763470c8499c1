"""Latencies and losses of one node, over a window of bounded size."""

from __future__ import annotations

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
    """What a node measures of itself: seconds per stage, losses per topic."""

    def __init__(self) -> None:
        self._stages: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=WINDOW))
        self._counts: defaultdict[str, int] = defaultdict(int)
        self.dropped: defaultdict[str, int] = defaultdict(int)

    def add(self, stage: str, seconds: float) -> None:
        """Note how long `stage` took this time."""
        self._stages[stage].append(seconds)
        self._counts[stage] += 1

    def drop(self, topic: str, count: int = 1) -> None:
        """Note that `count` messages of `topic` never arrived or had to be dropped."""
        self.dropped[topic] += count

    def percentiles(self) -> dict[str, Percentiles]:
        """Return the summary of every stage that was measured; `count` is over all time, the rest over the window."""
        return {
            stage: Percentiles(
                self._counts[stage],
                *(float(v) for v in np.percentile(np.fromiter(values, float), (50, 99, 100))),
            )
            for stage, values in self._stages.items()
        }

    def clear(self) -> None:
        """Forget everything: a new episode begins."""
        self._stages.clear()
        self._counts.clear()
        self.dropped.clear()
