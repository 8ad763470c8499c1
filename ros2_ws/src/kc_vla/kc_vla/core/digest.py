"""A short name that changes with what it is of."""

from __future__ import annotations

import hashlib


def digest(content: str | bytes) -> str:
    """Return 16 hex digits that change with any of `content`: SHA-256, cut, against chance and no enemy."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:16]
