"""What a memory is worth, from what came of the same instructions with it and without any (KARMA, section 4.2).

The paper names its ratios and not their denominators; here they are written down.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from kc_vla.planning.execution.told import Recall, Result


class Share(NamedTuple):
    """A share, of how many it is, and how many were left out.

    Attributes:
        value: 0..1, negative where a memory costs more than it saves; None of nothing.
        whole: the denominator.
        left_out: instructions or recalls that do not count.
    """

    value: float | None
    whole: float
    left_out: int = 0


class Pair(NamedTuple):
    """What came of one instruction.

    Attributes:
        with_memory: with the memory that is looked at.
        without: with none, of the same planner, in the same home at the same state.
        both_succeeded: by the goal, not by what the robot thinks.
    """

    with_memory: Result
    without: Result
    both_succeeded: bool


def success_rate(succeeded: Sequence[bool]) -> Share:
    """Share of the instructions whose goal holds at their end."""
    return Share(sum(succeeded) / len(succeeded) if succeeded else None, len(succeeded))


def reduced_exploration(pairs: Iterable[Pair]) -> Share:
    """RE = 1 - E / E_none: places explored with the memory, over those without any, each summed over the instructions.

    One counts if both runs reached its goal (a run that failed explored for nothing, or too little) and the one without
    a memory explored at all. It is not clipped: with a memory that misleads it is negative.
    """
    return _reduced(pairs, lambda result: float(result.explorations))


def reduced_time(pairs: Iterable[Pair]) -> Share:
    """RT = 1 - T / T_none, alike: simulated seconds of walking, acting and looking; not of planning."""
    return _reduced(pairs, lambda result: result.seconds)


def retrieval_accuracy(
    recalls: Iterable[Recall], meant: Callable[[str], Collection[str]], seen: Collection[str], first: int = 1
) -> Share:
    """MRA: share of the recalls that have a thing that the task meant among the first.

    One counts if the memory could know: the task says which things it means by the reference, and one of them had been
    seen before the instruction began.

    Args:
        recalls: of one instruction.
        meant: ids of the things that a reference of the plan may mean; none where the task does not say.
        seen: ids of all that was seen before.
        first: how many of a recall are looked at.
    """
    right = counted = left_out = 0
    for each in recalls:
        ids = set(meant(each.reference))
        if not ids & set(seen):
            left_out += 1
            continue
        counted += 1
        right += bool(ids & set(each.found[:first]))
    return Share(right / counted if counted else None, counted, left_out)


def _reduced(pairs: Iterable[Pair], cost: Callable[[Result], float]) -> Share:
    spent = whole = 0.0
    left_out = 0
    for pair in pairs:
        if not pair.both_succeeded or not cost(pair.without):
            left_out += 1
            continue
        spent += cost(pair.with_memory)
        whole += cost(pair.without)
    return Share(1.0 - spent / whole if whole else None, whole, left_out)
