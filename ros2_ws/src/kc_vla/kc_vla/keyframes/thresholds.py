"""The threshold of each task, chosen on validation episodes by the F1 of the free-running selector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.keyframes.free_run import Scores, free_running
from kc_vla.keyframes.metrics import Counts, count

CANDIDATES = tuple(round(0.01 * k, 2) for k in range(1, 100))
_TELLING = 10
"""Keyframes, of fewer than which each one tells a threshold."""


def f1_curve(episodes: Sequence[tuple[Scores, Sequence[int]]], phases: int) -> list[float]:
    """Return F1 over all `episodes` (scores, true keyframes) of one task with each of `CANDIDATES`."""
    return [
        sum((count(free_running(scores, phases, tau), truth) for scores, truth in episodes), Counts()).f1
        for tau in CANDIDATES
    ]


def best_threshold(episodes: Sequence[tuple[Scores, Sequence[int]]], phases: int) -> tuple[float, float]:
    """Return the threshold in the middle of those that do as well as the best one, and its F1 over all `episodes`.

    As well does what misplaces at most one keyframe more, of ten or more: few episodes do not tell the two apart, and
    exactly the best F1 may be had in a narrow place alone, close to the noise. Of several ranges it is the widest. Its
    middle is the furthest from where things go wrong, which matters on episodes that were not there.
    """
    curve = np.asarray(f1_curve(episodes, phases))
    keyframes = sum(len(truth) - 1 for _, truth in episodes)
    one = 1 / keyframes if keyframes >= _TELLING else 0.0
    good = curve >= curve.max() - one - 1e-9
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    ranges = edges.reshape(-1, 2)
    first, after = max(ranges.tolist(), key=lambda row: row[1] - row[0])
    middle = (first + after - 1) // 2
    return CANDIDATES[middle], float(curve[middle])
