"""Figures with their intervals, as `kc-vla eval household` tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla.core.shares import Share
from kc_vla_sim.household.trial import TaskRecord

_DRAWS = 2000


@dataclass(frozen=True)
class Figure:
    """A figure with its 95 % interval; None of nothing.

    Attributes:
        value, low, high: shares; those of what was reduced may be negative.
        of: how many it is a figure of: tasks, recalls, or what the robot without a memory needed.
    """

    value: float | None
    low: float
    high: float
    of: float

    def __str__(self) -> str:
        """In percent."""
        if self.value is None:
            return "-"
        return f"{100 * self.value:.1f} ({100 * self.low:.1f} to {100 * self.high:.1f})"


def share(right: int, of: int) -> Figure:
    """So many of so many, with Wilson's interval."""
    return Figure(right / of, *Share(right, of).interval, of) if of else Figure(None, 0.0, 0.0, 0)


def reduced(
    records: Sequence[TaskRecord], costs: Callable[[TaskRecord], tuple[float, float]], failed: bool = False
) -> Figure:
    """1 - the cost with the memory over that without, each summed over tasks that cost something without.

    Args:
        records: of tasks.
        costs: of one, with the memory and without.
        failed: tasks that one of the two robots failed count as well.
    """
    by_sequence: dict[str, list[tuple[float, float]]] = {}
    for each in records:
        if (failed or (each.reached and each.alone_reached)) and costs(each)[1]:
            by_sequence.setdefault(each.sequence, []).append(costs(each))
    if not by_sequence:
        return Figure(None, 0.0, 0.0, 0)
    sums = np.array([np.sum(pairs, axis=0) for pairs in by_sequence.values()])
    chance = np.random.default_rng(0)
    drawn = sums[chance.integers(len(sums), size=(_DRAWS, len(sums)))].sum(axis=1)
    low, high = np.quantile(1 - drawn[:, 0] / drawn[:, 1], (0.025, 0.975))
    spent, whole = sums.sum(axis=0)
    return Figure(float(1 - spent / whole), float(low), float(high), float(whole))
