"""Files of one JSON object a line, to which what comes in is added: a crash costs the line that it was in, no other."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def append_line(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row, in a line of its own whatever stands before it; it is on the disk when this returns."""
    with path.open("ab+") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        torn = file.read(1) not in (b"", b"\n")  # the last letter alone: what was played before may be long
        file.write((("\n" if torn else "") + json.dumps(row) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())


def read_lines(path: Path, made: Callable[[Any], T]) -> Iterator[T]:
    """Yield what `made` makes of each row of a file; a missing file has no rows.

    A row that was cut off, or of which it makes nothing, is left out.
    """
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found = made(json.loads(line))
        except (ValueError, TypeError, KeyError):
            continue
        yield found
