"""What can go wrong with a scene graph or its store; each text says in one line what, and what to do."""

from __future__ import annotations

from kc_vla.core.errors import StackError

_MOST_TOLD = 80


class GraphError(StackError):
    """A node is invalid, or the graph does not have what was requested."""


class StoreError(StackError):
    """The store cannot be opened, read or written; what was committed to it is as it was."""


def told(value: object) -> str:
    """Return a value for a message: in quotes, in one line, cut where it is long, whatever is in it."""
    text = ascii(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= _MOST_TOLD else f"{text[:_MOST_TOLD]}... ({len(text)} letters)"
