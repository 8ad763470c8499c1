"""The rows in the pages of a SQLite file whose way to them is damaged (sqlite.org/fileformat2.html).

SQLite finds a page by those above it: where one of these is lost, all below it are out of its reach, though whole. Here
every page that holds rows is looked at by itself. Whether a row is as it was written is for the caller to tell.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

Value = int | float | str | bytes | None
_HEAD, _LOG_HEAD, _FRAME_HEAD = 100, 32, 24
_ROWS = 13
"""The kind of a page that holds rows of a table."""
_SIZES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
"""Bytes of the values of each kind below 12."""


def rows_in_pages(path: Path) -> Iterator[tuple[Value, ...]]:
    """The rows of all tables, as they come; what is not one is passed over.

    Args:
        path: of the file; its log (`-wal`) is beside it, if there is one. Nobody writes them.
    """
    data = path.read_bytes()
    size = int.from_bytes(data[16:18], "big")
    size = 65536 if size == 1 else size
    if size < 512 or size & (size - 1):
        size = 4096  # the head is damaged: what SQLite takes unless asked
    pages = {number + 1: data[at : at + size] for number, at in enumerate(range(0, len(data), size))}
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        pages |= _committed(log.read_bytes(), size)
    file = _File(pages, size - (data[20] if len(data) > _HEAD else 0), size)
    free = file.free()
    for number, page in pages.items():
        if number not in free and len(page) == size:
            yield from file.rows(number)


def _committed(log: bytes, size: int) -> dict[int, bytes]:
    """The newest of each page in a log, as far as it was committed."""
    salt, found, begun = log[16:24], dict[int, bytes](), dict[int, bytes]()
    for at in range(_LOG_HEAD, len(log) - _FRAME_HEAD - size + 1, _FRAME_HEAD + size):
        number, commits = struct.unpack(">II", log[at : at + 8])
        if log[at + 8 : at + 16] != salt:  # of before the log was begun anew
            break
        begun[number] = log[at + _FRAME_HEAD : at + _FRAME_HEAD + size]
        if commits:
            found |= begun
            begun.clear()
    return found


class _File:
    """Pages by their number, of which `usable` bytes each are SQLite's."""

    def __init__(self, pages: dict[int, bytes], usable: int, size: int) -> None:
        self._pages, self._usable, self._size = pages, usable, size

    def free(self) -> set[int]:
        """Pages that hold nothing any more, as far as that can be read: what was forgotten does not come back."""
        found, trunk = set[int](), int.from_bytes(self._pages.get(1, b"")[32:36], "big")
        while trunk in self._pages and trunk not in found:
            page = self._pages[trunk]
            found.add(trunk)
            trunk, count = struct.unpack(">II", page[:8].ljust(8, b"\0"))
            leaves = page[8 : 8 + 4 * min(count, self._size // 4)]
            found.update(int.from_bytes(leaves[k : k + 4], "big") for k in range(0, len(leaves), 4))
        return found

    def rows(self, number: int) -> Iterator[tuple[Value, ...]]:
        """The rows of a page; none if it holds none."""
        page, head = self._pages[number], _HEAD if number == 1 else 0
        if page[head] != _ROWS:
            return
        count = int.from_bytes(page[head + 3 : head + 5], "big")
        for k in range(min(count, self._size // 4)):
            at = int.from_bytes(page[head + 8 + 2 * k : head + 10 + 2 * k], "big")
            try:
                yield _record(self._payload(page, at))
            except (IndexError, ValueError, struct.error):
                continue

    def _payload(self, page: bytes, at: int) -> bytes:
        """What a cell holds, of which what is long goes on in other pages."""
        length, at = _number(page, at)
        _, at = _number(page, at)
        if length > self._size * len(self._pages):
            raise ValueError("longer than the file")
        local, most = length, self._usable - 35
        if length > most:
            least = (self._usable - 12) * 32 // 255 - 23
            local = least + (length - least) % (self._usable - 4)
            local = local if local <= most else least
        parts, left = [page[at : at + local]], length - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        while left > 0:
            if following not in self._pages:
                raise ValueError("its rest is lost")
            more = self._pages[following]
            parts.append(more[4 : 4 + min(left, self._usable - 4)])
            left -= self._usable - 4
            following = int.from_bytes(more[:4], "big")
        return b"".join(parts)


def _record(payload: bytes) -> tuple[Value, ...]:
    """The values of a row."""
    head, at = _number(payload, 0)
    kinds = []
    while at < head:
        kind, at = _number(payload, at)
        kinds.append(kind)
    values: list[Value] = []
    at = head
    for kind in kinds:
        size = _SIZES[kind] if kind in _SIZES else (kind - 12) // 2
        if kind in (10, 11) or at + size > len(payload):
            raise ValueError("no row")
        values.append(_value(kind, payload[at : at + size]))
        at += size
    return tuple(values)


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind == 7:
        return float(struct.unpack(">d", data)[0])
    if kind < 7:
        return int.from_bytes(data, "big", signed=True)
    return data.decode("utf-8", "replace") if kind % 2 else data


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for k in range(9):
        byte = data[at + k]
        if k == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + k + 1
    raise AssertionError
