"""Finds the bags under a path."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.storage import Storage

SUFFIXES = tuple(storage.suffix for storage in Storage)


def bags_below(path: Path) -> list[Path]:
    """The bags that `path` is or that lie in it at any depth, in order; empty where there is none.

    A folder is a bag if it has a metadata.yaml, or files that are named after it (`bag/bag_0.mcap`), as a recorder that
    was killed leaves them. Any other bag file is a bag of its own. Hidden folders and links to folders are left out.
    """
    if path.is_file():
        return [path] if path.suffix in SUFFIXES else []
    found: list[Path] = []
    for name, folders, files in os.walk(path):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        folder = Path(name)
        held = [file for file in files if Path(file).suffix in SUFFIXES and not file.startswith(".")]
        if held and ("metadata.yaml" in files or _named_after(folder, held)):
            found.append(folder)
        else:
            found += [folder / file for file in held]
    return sorted(found)


def changes_with(bag: Path) -> list[str]:
    """What is other once a bag is: of each of its files the name, the size and when it was written."""
    files = sorted(bag.iterdir()) if bag.is_dir() else [bag]
    return [f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in files if p.suffix in SUFFIXES]


def _named_after(folder: Path, files: Sequence[str]) -> bool:
    pattern = re.compile(re.escape(folder.resolve().name) + r"_\d+$")
    return all(pattern.match(Path(file).stem) for file in files)
