"""Experts that do not dawdle: for those who learn from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any


def brisk(ranges: Any) -> Any:
    """The same ranges of chance, each wait that the expert draws for itself as short as it may be.

    No picture tells when such a wait is over: whoever learns it learns to stand still for good. Waits for a lamp or
    another arm stay as they are. The ranges of a task name theirs in `HIDDEN_WAITS`, a tuple of fields.
    """
    waits = {name: _shortest(getattr(ranges, name)) for name in getattr(ranges, "HIDDEN_WAITS", ())}
    return replace(ranges, **waits) if waits else ranges


def _shortest(span: Any) -> Any:
    """The lower end of a range as a range; of a tuple of ranges, of each."""
    return tuple(map(_shortest, span)) if isinstance(span[0], tuple) else (span[0], span[0])
