"""The rows of a damaged SQLite file: all that lie whole in a page of a table, whatever leads there.

Form: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from kc_vla.bags.errors import Damage

Value = int | float | str | bytes | None
_FILE_HEAD_BYTES = 100
_TABLE_LEAF = 13
_MOST_BYTES = 1 << 29
_MOST_COLUMNS = 100
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer by its serial type."""


class Readable(Protocol):
    """A file that is read wherever one likes, as `RandomAccess` is.

    Attributes:
        size: bytes.
    """

    size: int

    def read(self, position: int, length: int) -> bytes:
        """Return `length` bytes from `position` on; raise Damage if the file ends before."""
        ...


class Layout(NamedTuple):
    """How a file is divided.

    Attributes:
        page: bytes of a page.
        usable: of these without what is reserved at its end.
    """

    page: int
    usable: int


class SqliteRow(NamedTuple):
    """A row, as far as its head tells.

    Attributes:
        rowid: its number.
        types: serial types of its columns.
        place: first byte in the file of its content.
        length: of the content, bytes.
        page: in which it lies, from 1 on.
    """

    rowid: int
    types: tuple[int, ...]
    place: int
    length: int
    page: int


class Pages:
    """An SQLite file divided into pages of one size."""

    def __init__(self, file: Readable, layout: Layout) -> None:
        """Read from `file`, which stays open."""
        self._file = file
        self._layout = layout

    def rows(self) -> Iterator[SqliteRow]:
        """Yield the rows of all tables, page by page, in the order in which a page has them."""
        unused = self._unused()
        for number in range(1, self._file.size // self._layout.page + 1):
            if number not in unused:
                yield from self._rows_of(number)

    def values(self, row: SqliteRow) -> list[Value]:
        """Return what is in the columns of a row.

        Raises:
            Damage: its content is not whole, or is not what its head says.
        """
        content = self._content(row)
        end, at = _varint(content, 0)
        types = []
        while at < end:
            kind, at = _varint(content, at)
            types.append(kind)
        values: list[Value] = []
        for kind in types:
            size = _size(kind)
            values.append(_value(kind, content[at : at + size]))
            at += size
        return values

    def _rows_of(self, number: int) -> Iterator[SqliteRow]:
        begin = (number - 1) * self._layout.page
        page = self._file.read(begin, self._layout.page)
        first = _FILE_HEAD_BYTES if number == 1 else 0
        if page[first] != _TABLE_LEAF:
            return
        (count,) = struct.unpack_from(">H", page, first + 3)
        pointers = first + 8
        count = min(count, (self._layout.usable - pointers) // 2)
        for at in struct.unpack_from(f">{count}H", page, pointers):
            if pointers + 2 * count <= at < self._layout.usable:
                row = self._row(page, at, begin, number)
                if row is not None:
                    yield row

    def _row(self, page: bytes, at: int, begin: int, number: int) -> SqliteRow | None:
        """Return the row whose cell is at byte `at` of a page; None where there is none."""
        try:
            length, at = _varint(page, at)
            rowid, at = _varint(page, at)
            if not 0 < length <= min(_MOST_BYTES, self._file.size):
                return None
            head, cursor = _varint(page, at)
            end = at + head
            if not 1 < head <= min(length, _MOST_COLUMNS) or end > self._layout.usable:
                return None
            types = []
            while cursor < end:
                kind, cursor = _varint(page, cursor)
                types.append(kind)
            fits = cursor == end and head + sum(map(_size, types)) == length
        except (IndexError, Damage):
            return None
        return SqliteRow(rowid, tuple(types), begin + at, length, number) if fits else None

    def _content(self, row: SqliteRow) -> bytes:
        usable, length = self._layout.usable, row.length
        most, least = usable - 35, (usable - 12) * 32 // 255 - 23
        local = length
        if length > most:
            local = least + (length - least) % (usable - 4)
            local = least if local > most else local
        if row.place + local > row.page * self._layout.page:
            raise Damage(f"is damaged: row {row.rowid} leaves its page")
        parts = [self._file.read(row.place, local)]
        missing = length - local
        following = int.from_bytes(self._file.read(row.place + local, 4), "big") if missing else 0
        while missing > 0:
            if following == 0:
                raise Damage(f"is damaged: row {row.rowid} is not whole")
            content = self._file.read((following - 1) * self._layout.page, usable)
            parts.append(content[4 : 4 + missing])
            missing -= usable - 4
            following = int.from_bytes(content[:4], "big")
        if following != 0:
            raise Damage(f"is damaged: row {row.rowid} goes on after its end")
        return b"".join(parts)

    def _unused(self) -> set[int]:
        """Return the pages that the file says are in no table: they hold what was deleted."""
        found: set[int] = set()
        try:
            trunk = int.from_bytes(self._file.read(32, 4), "big")
            while trunk and trunk not in found:
                found.add(trunk)
                page = self._file.read((trunk - 1) * self._layout.page, self._layout.page)
                count = min(int.from_bytes(page[4:8], "big"), self._layout.usable // 4 - 2)
                found.update(struct.unpack_from(f">{count}I", page, 8))
                trunk = int.from_bytes(page[:4], "big")
        except Damage:
            return set()  # it leads nowhere
        return found


def layouts(file: Readable) -> list[Layout]:
    """Return how a file may be divided: as its head says, and every other way where it says what cannot be."""
    head = file.read(0, min(_FILE_HEAD_BYTES, file.size)).ljust(_FILE_HEAD_BYTES, b"\0")
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    sizes = [page] if page in (512 << power for power in range(8)) else [512 << power for power in range(8)]
    return [
        Layout(size, size - reserved) for size in sizes for reserved in sorted({0, head[20]}) if reserved < size // 4
    ]


def is_integer(kind: int) -> bool:
    """Return whether a column of this serial type holds an integer."""
    return 1 <= kind <= 6 or kind in (8, 9)


def is_blob(kind: int) -> bool:
    """Return whether a column of this serial type holds bytes."""
    return kind >= 12 and kind % 2 == 0


def _size(kind: int) -> int:
    if kind in (10, 11):
        raise Damage("is damaged: no type of a column")
    if kind >= 12:
        return (kind - 12) // 2
    return 8 if kind == 7 else _INTEGERS.get(kind, 0)


def _value(kind: int, content: bytes) -> Value:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind == 7:
        return float(struct.unpack(">d", content)[0])
    if kind < 7:
        return int.from_bytes(content, "big", signed=True)
    if is_blob(kind):
        return content
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Damage("is damaged: a text is none") from error


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Return the number at byte `at`, signed, and the byte after it; raise IndexError where it is cut off."""
    number = 0
    for index in range(9):
        byte = content[at + index]
        if index == 8:
            number = number << 8 | byte
            return (number - (1 << 64) if number >> 63 else number), at + 9
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number, at + index + 1
