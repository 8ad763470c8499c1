"""Finishes what a process that was killed had begun with a SQLite file of a bag, as SQLite itself would."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kc_vla.bags.reader import BagReader
from kc_vla.bags.sqlite_opening import companions, copy_with_journal, left_open
from kc_vla.bags.sqlite_output import close_journal
from kc_vla.core.files import replacing

_LOG_HEAD_BYTES = 32
_FRAME_HEAD_BYTES = 24
"""https://www.sqlite.org/fileformat2.html#walformat"""


class RecoveredFile(NamedTuple):
    """A file without a journal.

    Attributes:
        path: where it is.
        passed_over: whether the journal holds what was committed behind a damaged place, where SQLite stops.
    """

    path: Path
    passed_over: bool = False


@contextmanager
def recovered(path: Path) -> Iterator[RecoveredFile]:
    """Give `path`, or where a journal is beside it a copy that SQLite has brought together with it, if it can.

    Raises:
        OSError: there is no room for the copy.
    """
    if not left_open(path):
        yield RecoveredFile(path)
        return
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        copy = copy_with_journal(path, Path(folder))
        committed = _committed_frames(path.with_name(path.name + "-wal"))
        read = _finish(copy)
        yield RecoveredFile(path if read is None else copy, committed > (read or 0))


def put_in_place(copy: Path, path: Path) -> None:
    """Let a finished copy take the place of `path` and its journal; raise OSError where the disk refuses."""
    with replacing(path) as part:
        copy.rename(part)
    for name in (*companions(path), path.with_name(path.name + "-shm")):
        name.unlink(missing_ok=True)


def _finish(path: Path) -> int | None:
    """Do what the process that was killed would have done next.

    Returns:
        how many frames of a write-ahead log SQLite has read; None where it can do nothing.
    """
    try:
        with closing(sqlite3.connect(path)) as bag:
            (_, frames, _) = bag.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            close_journal(bag)
    except sqlite3.Error:
        return None
    return max(0, int(frames))


def _committed_frames(log: Path) -> int:
    """Return how many frames there are in a write-ahead log up to the last commit, whatever their check sums say."""
    if not log.is_file():
        return 0
    count = 0
    with log.open("rb") as file:
        head = file.read(_LOG_HEAD_BYTES).ljust(_LOG_HEAD_BYTES, b"\0")
        page, salt = int.from_bytes(head[8:12], "big"), head[16:24]
        for number in range(1, 1 + (log.stat().st_size - _LOG_HEAD_BYTES) // (_FRAME_HEAD_BYTES + page)):
            frame = file.read(_FRAME_HEAD_BYTES)
            file.seek(page, os.SEEK_CUR)
            if frame[8:16] == salt and any(frame[4:8]):
                count = number
    return count


def is_whole(path: Path) -> bool:
    """Return whether every message can be read; raise BagReadError where the disk refuses."""
    reader = BagReader(path)
    for _ in reader.messages():
        pass
    return not reader.damages
