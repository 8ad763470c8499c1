"""Finds episode bags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.find import bags_below
from kc_vla.datasets.exchange.errors import ExchangeError


def find_bags(paths: Sequence[Path]) -> list[Path]:
    """Return the bags that `paths` are, or that lie in them at any depth, each once, in order.

    Raises:
        ExchangeError: a path is not there, or there is no bag in it.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise ExchangeError(f"no bag at {path}: give a bag, or a folder with bags in it")
        bags = [path] if path.is_file() else bags_below(path)
        if not bags:
            raise ExchangeError(f"there is no bag in {path}: give the folder that the recorder wrote")
        found += bags
    return list(dict.fromkeys(found))
