"""Times of messages, from a topic or from a bag."""

from __future__ import annotations

from typing import Any


def nanoseconds(time: Any) -> int:
    """Return a builtin_interfaces/Time in ns."""
    return int(time.sec) * 1_000_000_000 + int(time.nanosec)
