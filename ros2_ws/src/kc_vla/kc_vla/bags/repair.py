"""Makes a torn or damaged file of a bag whole, so that stock tools open it too.

A recorder that was killed leaves an MCAP file without summary, or a SQLite file with a journal beside it; a disk may
spoil what lies anywhere. All messages that are well are copied, in place of the file, which is kept beside it unless
all that it held is in the new one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kc_vla.bags.loss import Salvaged
from kc_vla.bags.mcap_repair import salvage_mcap
from kc_vla.bags.metadata import FileFacts, noted_counts, noted_metadata
from kc_vla.bags.reader import BagReader
from kc_vla.bags.sqlite_opening import companions
from kc_vla.bags.sqlite_recovery import is_whole, put_in_place, recovered
from kc_vla.bags.sqlite_repair import salvage_sqlite
from kc_vla.bags.storage import Storage, storage_of
from kc_vla.core.files import keep_as, replacing, resolved


class Repaired(NamedTuple):
    """What became of a file.

    Attributes:
        facts: what it holds now.
        damage: what was wrong with it; "" for nothing.
        missing: a line about each topic that has lost messages.
        kept: where the bytes of the file are as they were; None where nothing of it is lost.
    """

    facts: FileFacts
    damage: str
    missing: tuple[str, ...] = ()
    kept: Path | None = None


def repair_file(path: Path) -> Repaired:
    """Make `path` a whole file if it is not. A file without any message is left as it is.

    Of a symbolic link it is the file that it leads to: that is replaced, and kept beside itself, and the link stays.

    Raises:
        BagReadError: it is no file of ROS 2 messages, or cannot be read.
        OSError: there is no room for the copy; the file is unchanged then.
    """
    if path.stat().st_size == 0:
        return Repaired(FileFacts(path.name, 0, 0, {}), f"{path} is empty")
    reader = BagReader(path)
    facts = _facts(path, reader)
    if not reader.damages:
        return Repaired(facts, "")
    damage = "".join(reader.damages)
    noted = noted_metadata(path.parent)
    lines: list[str] = []
    real = resolved(path)
    try:
        if storage_of(path) == Storage.SQLITE3:
            with recovered(real) as (source, passed_over):
                lines += [f"what was committed behind a damaged place of {path.name}-wal is missing"] * passed_over
                if source != real and is_whole(source):
                    kept = _keep(real) if passed_over else None
                    put_in_place(source, real)
                    return Repaired(_facts(path, BagReader(path)), damage, tuple(lines), kept)
                salvaged, kept = _salvage(real, lambda part: salvage_sqlite(source, part, noted))
        else:
            salvaged, kept = _salvage(real, lambda part: salvage_mcap(real, part))
    except _NothingKeptError:
        return Repaired(facts, damage)
    lines += salvaged.losses.lines(noted_counts(noted) if salvaged.expected is None else salvaged.expected)
    return Repaired(_facts(path, BagReader(path)), damage, tuple(lines), kept)


def _salvage(path: Path, write: Callable[[Path], Salvaged]) -> tuple[Salvaged, Path | None]:
    """Let what is written take the place of `path`, which is kept under another name if anything of it is lost."""
    with replacing(path) as part:
        salvaged = write(part)
        if not salvaged.losses.kept:
            raise _NothingKeptError
        return salvaged, _keep(path) if salvaged.losses.any else None


class _NothingKeptError(Exception):
    """No message could be read: a file without any helps nobody."""


def _keep(path: Path) -> Path:
    """Give `path`, no link, a second name, which stays when it is replaced; one that is there is never taken."""
    number = 1
    while any(map(os.path.lexists, [name := _kept_name(path, number), *companions(name)])):
        if not name.is_symlink() and name.exists() and name.samefile(path):
            break  # by a repair that was killed
        number += 1
    else:
        keep_as(path, name)
    for journal in companions(path):
        if journal.exists():
            journal.rename(journal.with_name(journal.name.replace(path.name, name.name)))
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    return name


def _kept_name(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged{'' if number == 1 else f'-{number}'}")


def _facts(path: Path, reader: BagReader) -> FileFacts:
    counts: Counter[str] = Counter()
    start, end = None, 0
    for message in reader.messages():
        counts[message.topic] += 1
        start = message.ref.log_time_ns if start is None else min(start, message.ref.log_time_ns)
        end = max(end, message.ref.log_time_ns)
    return FileFacts(path.name, start or 0, end, counts)
