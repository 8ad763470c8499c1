"""The splits of the benchmark: which seeds of a task are for what. This table is the only place that says so.

They share no seed, for no task and no variant. What is reported was measured on test seeds, was fitted on training
seeds, and every choice of it was made on validation seeds.
"""

from __future__ import annotations

from types import MappingProxyType

SPLITS = MappingProxyType(
    {
        "development": range(0, 10_000),
        "train": range(10_000, 20_000),
        "validation": range(20_000, 21_000),
        "test": range(30_000, 31_000),
    }
)
"""Seeds by the name of their split; "development" is free for play, for tests and for making things work."""


class SplitError(ValueError):
    """No such split, or more seeds than it has."""


def seeds_of(split: str, count: int) -> range:
    """Return the first `count` seeds of a split, which are the same at each call.

    Raises:
        SplitError: there is no such split, or it has not that many seeds.
    """
    if split not in SPLITS:
        raise SplitError(f"unknown split '{split}': choose one of {', '.join(SPLITS)}")
    seeds = SPLITS[split]
    if not 1 <= count <= len(seeds):
        raise SplitError(f"the split '{split}' has {len(seeds)} seeds: {count} cannot be taken from it")
    return seeds[:count]
