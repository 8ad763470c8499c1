"""What is for development and what for test, by names alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

SPLITS = ("development", "test")


def halves(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of each of `SPLITS`: every other one in the order of the SHA-256 of their names."""
    mixed = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return {split: sorted(mixed[index::2]) for index, split in enumerate(SPLITS)}
