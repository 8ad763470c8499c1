"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PART_OF = re.compile(r"^\.(.+)\.part$")
"""How a file is called while it is written, and its name; a process that is killed leaves such a file behind."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; what was written takes the place of `path` at the end, nothing does after an error.

    What was committed outlives a loss of power: it is on the disk before it takes its place.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str) -> None:
    """Write a text, in place of what `path` held before."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
