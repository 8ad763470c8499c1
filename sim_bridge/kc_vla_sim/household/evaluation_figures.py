"""Figures with their intervals, as `kc-vla eval household` tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla.core.shares import Share
from kc_vla_sim.household.trial import TaskRecord, TrialArm

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
        """Return the figure in percent."""
        if self.value is None:
            return "-"
        return f"{100 * self.value:.1f} ({100 * self.low:.1f} to {100 * self.high:.1f})"


def share(right: int, of: int) -> Figure:
    """Return the share of so many of so many, with Wilson's interval."""
    return Figure(right / of, *Share(right, of).interval, of) if of else Figure(None, 0.0, 0.0, 0)


def reduced(
    records: Sequence[TaskRecord], costs: Callable[[TaskRecord], tuple[float, float]], failed: bool = False
) -> Figure:
    """Return 1 - the cost with the memory over that without.

    Each is summed over tasks that cost something without.

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


@dataclass(frozen=True)
class SequenceRow:
    """The figures of the sequences of a kind with one memory.

    Attributes:
        arm, kind: which.
        tasks: how many were played.
        success: share of tasks whose goal holds afterwards.
        alone: likewise of the robot without a memory, in the same homes.
        retrieval: MRA: share of the recalls of things seen before that had them first.
        exploration, seconds: RE and RT: of the tasks in which both robots reached the goal.
        known: RE of the tasks about things that had all been seen before: nobody remembers what was never seen.
    """

    arm: TrialArm
    kind: str
    tasks: int
    success: Figure
    alone: Figure
    retrieval: Figure
    exploration: Figure
    seconds: Figure
    known: Figure
