"""Finds the bags under a path."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.storage import PACKED, Storage

SUFFIXES = tuple(storage.suffix for storage in Storage)
_ENDINGS = (*SUFFIXES, *(suffix + PACKED for suffix in SUFFIXES))


def bags_below(path: Path) -> list[Path]:
    """Return the bags that `path` is or that lie in it at any depth, in order; empty where there is none.

    A folder is a bag if it has a metadata.yaml, or files that are named after it (`bag/bag_0.mcap`), as a recorder that
    was killed leaves them. Any other bag file is a bag of its own. Hidden folders and links to folders are left out.
    Files that rosbag2 has compressed as a whole count, too: the reader says how to unpack them.
    """
    if path.is_file():
        return [path] if path.name.endswith(_ENDINGS) else []
    found: list[Path] = []
    for name, folders, files in os.walk(path):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        folder = Path(name)
        held = [file for file in files if file.endswith(_ENDINGS) and not file.startswith(".")]
        if held and ("metadata.yaml" in files or _named_after(folder, held)):
            found.append(folder)
        else:
            found += [folder / file for file in held]
    return sorted(found)


def changes_with(bag: Path) -> list[str]:
    """Return what changes with a bag: the name, the size and the time of writing of each of its files."""
    files = sorted(bag.iterdir()) if bag.is_dir() else [bag]
    return [f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in files if p.suffix in SUFFIXES]


def _named_after(folder: Path, files: Sequence[str]) -> bool:
    pattern = re.compile(re.escape(folder.resolve().name) + r"_\d+$")
    return all(pattern.match(Path(file.removesuffix(PACKED)).stem) for file in files)
