"""Finds episode bags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.exchange.errors import ExchangeError

_KINDS = (".mcap", ".db3")


def find_bags(paths: Sequence[Path]) -> list[Path]:
    """The bags that `paths` are, or that lie in them at any depth, each once, in order; hidden folders are left out.

    Raises:
        ExchangeError: a path is not there, or there is no bag in it.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise ExchangeError(f"no bag at {path}: give a bag, or a folder with bags in it")
        bags = [path] if path.is_file() else _below(path)
        if not bags:
            raise ExchangeError(f"there is no bag in {path}: give the folder that the recorder wrote")
        found += bags
    return list(dict.fromkeys(found))


def _below(folder: Path) -> list[Path]:
    files = [path for kind in _KINDS for path in folder.rglob(f"*{kind}")]
    folders = {path.parent for path in files}
    return sorted(f for f in folders if not any(part.startswith(".") for part in f.relative_to(folder).parts))
