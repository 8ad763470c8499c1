"""How often a memory has the right thing first (KARMA, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from kc_vla.planning.execution.results import MemoryLookup


class RecallShare(NamedTuple):
    """A share, of how many recalls it is, and how many were left out.

    Attributes:
        value: 0..1; None of nothing.
        whole: the denominator.
        left_out: recalls that do not count.
    """

    value: float | None
    whole: int
    left_out: int = 0


def retrieval_accuracy(
    recalls: Iterable[MemoryLookup], meant: Callable[[str], Collection[str]], seen: Collection[str], first: int = 1
) -> RecallShare:
    """Return MRA: the share of the recalls that have a thing that the task meant among the first.

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
    return RecallShare(right / counted if counted else None, counted, left_out)
