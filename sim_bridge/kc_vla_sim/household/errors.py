"""What can go wrong with a household; each text says in one line what, and what to do."""

from __future__ import annotations

from kc_vla.core.errors import StackError

_MOST_TOLD = 80


class HouseholdError(StackError, ValueError):
    """A scene, a goal, a sequence or a table is none, or a task cannot be done."""


def told(text: str) -> str:
    """Return a third-party text for a message: in quotes, in one line, cut where it is long."""
    return ascii(text[:_MOST_TOLD]) + ("..." if len(text) > _MOST_TOLD else "")
