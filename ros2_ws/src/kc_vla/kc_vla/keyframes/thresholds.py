"""The threshold of each task, chosen on validation episodes by the F1 of the free-running selector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.keyframes.free_run import Scores, free_running
from kc_vla.keyframes.metrics import Counts, count

CANDIDATES = tuple(round(0.01 * k, 2) for k in range(1, 100))


def f1_curve(episodes: Sequence[tuple[Scores, Sequence[int]]], phases: int) -> list[float]:
    """F1 over all `episodes` (scores, true keyframes) of one task with each of `CANDIDATES`."""
    return [
        sum((count(free_running(scores, phases, tau), truth) for scores, truth in episodes), Counts()).f1
        for tau in CANDIDATES
    ]


def best_threshold(curve: Sequence[float]) -> tuple[float, float]:
    """The threshold with the best F1, and that F1; of several, the middle of the longest run of them.

    The middle is the furthest from where things go wrong, which matters on episodes that were not there.
    """
    best = np.asarray(curve) >= max(curve) - 1e-9
    edges = np.flatnonzero(np.diff(np.concatenate([[False], best, [False]]).astype(int)))
    runs = edges.reshape(-1, 2)
    first, after = max(runs.tolist(), key=lambda run: run[1] - run[0])
    return CANDIDATES[(first + after - 1) // 2], float(max(curve))
