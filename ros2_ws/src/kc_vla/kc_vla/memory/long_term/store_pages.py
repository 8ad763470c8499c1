"""The rows in the pages of a store whose way to them is damaged.

SQLite finds a page by those above it: where one of these is lost, all below it are out of its reach, though whole.
Whether a row is as it was written is for the caller to tell.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from kc_vla.bags.errors import Damage
from kc_vla.bags.sqlite_pages import Pages, Value, layouts

_LOG_HEAD, _FRAME_HEAD = 32, 24


def rows_in_pages(path: Path) -> Iterator[tuple[Value, ...]]:
    """Yield the rows of all tables, as they come; what is not one is left out.

    Args:
        path: of the file; its log (`-wal`) is beside it, if there is one. Nobody writes them.
    """
    data = path.read_bytes()
    log_file = path.with_name(f"{path.name}-wal")
    log = log_file.read_bytes() if log_file.exists() else b""
    for layout in layouts(_Bytes(data)):
        pages = Pages(_Bytes(_with_log(data, log, layout.page)), layout)
        for row in pages.rows():
            try:
                yield tuple(pages.values(row))
            except Damage:
                continue


class _Bytes:
    """A file in memory."""

    def __init__(self, data: bytes) -> None:
        self._data, self.size = data, len(data)

    def read(self, position: int, length: int) -> bytes:
        """Return `length` bytes from `position` on.

        Raises:
            Damage: there are fewer.
        """
        if position < 0 or length > self.size - position:
            raise Damage(f"has no {length} bytes at byte {position}")
        return self._data[position : position + length]


def _with_log(data: bytes, log: bytes, size: int) -> bytes:
    """Return a file with the newest of each of its pages in a log, as far as it was committed."""
    salt, whole, begun = log[16:24], bytearray(data), dict[int, bytes]()
    most = (len(data) + len(log)) // size
    for at in range(_LOG_HEAD, len(log) - _FRAME_HEAD - size + 1, _FRAME_HEAD + size):
        number, commits = struct.unpack_from(">II", log, at)
        if log[at + 8 : at + 16] != salt or not 0 < number <= most:  # of before the log was begun anew, or damaged
            break
        begun[number] = log[at + _FRAME_HEAD : at + _FRAME_HEAD + size]
        if commits:
            for place, page in begun.items():
                whole.extend(bytes(max(0, place * size - len(whole))))
                whole[(place - 1) * size : place * size] = page
            begun.clear()
    return bytes(whole)
