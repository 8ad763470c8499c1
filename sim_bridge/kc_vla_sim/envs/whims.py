"""Experts without variation, for policies that learn from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

LONGEST_REST = 0.05
"""Rests of an expert that are its own are no longer than this, s: a control step."""


def without_whims(ranges: Any) -> Any:
    """Return the same ranges of chance without the expert variation that nothing in the images shows.

    A policy that learns such a wait learns to stand still for good, and one that learns to go to places drawn at
    random, one after the other, creeps between them. The ranges of a task name theirs: `HIDDEN_WAITS`, fields in s,
    which become as short as they may be, and `HIDDEN_CHOICES`, fields whose middle is taken. Waits for a lamp or
    another arm stay.
    """
    waits = {name: _shortest(getattr(ranges, name)) for name in getattr(ranges, "HIDDEN_WAITS", ())}
    choices = {name: _middle(getattr(ranges, name)) for name in getattr(ranges, "HIDDEN_CHOICES", ())}
    return replace(ranges, **waits, **choices) if waits or choices else ranges


def _shortest(span: Any) -> Any:
    """Return the least of a range as a range; of a tuple of ranges, that of each."""
    if isinstance(span[0], tuple):
        return tuple(map(_shortest, span))
    least = min(span[0], LONGEST_REST)
    return least, least


def _middle(span: tuple[float, float]) -> tuple[float, float]:
    return (sum(span) / 2,) * 2
