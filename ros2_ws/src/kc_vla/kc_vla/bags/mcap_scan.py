"""The records of a damaged MCAP file: all that are what they claim to be, and where others lie between them.

After a record that is none, the next one is found by its form: a known kind, a length that fits, a content that is
parsed to its end, and the head of a further record behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any, NamedTuple, Protocol

from mcap import records as mcap
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode

from kc_vla.bags.errors import Damage
from kc_vla.bags.records import MAGIC, MESSAGE_HEAD, PARSE_ERRORS, RECORD_HEAD, Record, chunk_head

_HEAD = re.compile(rb"(?=[\x01-\x0f].{4}\x00{4})", re.DOTALL)
"""How a record of less than 4 GiB begins."""
_WINDOW_BYTES = 1 << 20
_MOST_BYTES = 1 << 29
_SIZES = {Opcode.FOOTER: 20, Opcode.DATA_END: 4}
_PARSERS: dict[Opcode, Any] = {
    Opcode.HEADER: mcap.Header,
    Opcode.SCHEMA: mcap.Schema,
    Opcode.CHANNEL: mcap.Channel,
    Opcode.MESSAGE_INDEX: mcap.MessageIndex,
    Opcode.CHUNK_INDEX: mcap.ChunkIndex,
    Opcode.ATTACHMENT_INDEX: mcap.AttachmentIndex,
    Opcode.STATISTICS: mcap.Statistics,
    Opcode.METADATA: mcap.Metadata,
    Opcode.METADATA_INDEX: mcap.MetadataIndex,
    Opcode.SUMMARY_OFFSET: mcap.SummaryOffset,
}


class ByteSource(Protocol):
    """Bytes that records are in."""

    size: int

    def read(self, position: int, length: int) -> bytes:
        """Return `length` bytes from `position` on; raise `Damage` where there are fewer."""


class BytesSource:
    """Bytes at hand as a `ByteSource`."""

    def __init__(self, content: bytes) -> None:
        """Hold bytes that are read already.

        Args:
            content: the records of a chunk.
        """
        self._content = content
        self.size = len(content)

    def read(self, position: int, length: int) -> bytes:
        """Return `length` bytes from `position` on.

        Raises:
            Damage: there are fewer.
        """
        if position + length > self.size:
            raise Damage(f"has no {length} bytes at byte {position}")
        return self._content[position : position + length]


class Gap(NamedTuple):
    """Bytes that are no record."""

    begin: int
    end: int


def scan(source: ByteSource, begin: int) -> Iterator[Record | Gap]:
    """Yield what is in `source` from byte `begin` on, in order; attachments without their content.

    Raises:
        OSError: the disk cannot be read.
    """
    at = begin
    while at < source.size and not _is_end(source, at):
        record = _record(source, at, expected=True)
        if record is not None:
            yield record
            at += RECORD_HEAD.size + _length(source, at)
            continue
        end = _next(source, at + 1)
        yield Gap(at, end)
        at = end


def _next(source: ByteSource, begin: int) -> int:
    """Return where the next record is, or the end."""
    for window in range(begin, source.size, _WINDOW_BYTES):
        content = source.read(window, min(_WINDOW_BYTES + RECORD_HEAD.size, source.size - window))
        for found in _HEAD.finditer(content):
            if found.start() < _WINDOW_BYTES and _record(source, window + found.start(), expected=False) is not None:
                return window + found.start()
    return source.size - len(MAGIC) if _is_end(source, source.size - len(MAGIC)) else source.size


def _record(source: ByteSource, at: int, *, expected: bool) -> Record | None:
    """Return the record at byte `at`, if there is one; where one is `expected`, the next may be the damaged one."""
    if not _is_head(source, at):
        return None
    opcode, length = RECORD_HEAD.unpack(source.read(at, RECORD_HEAD.size))
    begin = at + RECORD_HEAD.size
    if opcode == Opcode.CHUNK and not _is_chunk(source, begin, length):
        return None  # before its length is believed
    end = begin + length
    followed = end == source.size or _is_end(source, end) or _is_head(source, end)
    if not (followed or opcode == Opcode.CHUNK or (expected and _is_spoilt_head(source, end, opcode))):
        return None
    if opcode == Opcode.ATTACHMENT:
        return Record(opcode, at, b"")
    if length > _MOST_BYTES:
        return None
    content = source.read(begin, length)
    return Record(opcode, at, content) if opcode == Opcode.CHUNK or _is_content(opcode, content) else None


def _is_head(source: ByteSource, at: int) -> bool:
    if at + RECORD_HEAD.size > source.size:
        return False
    opcode, length = RECORD_HEAD.unpack(source.read(at, RECORD_HEAD.size))
    return bool(Opcode.HEADER <= opcode <= Opcode.DATA_END and length <= source.size - at - RECORD_HEAD.size)


def _is_spoilt_head(source: ByteSource, at: int, before: int) -> bool:
    """Return whether a record with a damaged head may be at byte `at`, behind the kind `before`.

    One bit of the head is wrong, or all of it.
    """
    if before != Opcode.MESSAGE:
        return True  # its own content has told its length
    rest = source.size - at - RECORD_HEAD.size
    if rest < 0:
        return True  # cut off
    head = source.read(at, RECORD_HEAD.size)
    opcode, length = RECORD_HEAD.unpack(head)
    lengths = [length]
    if Opcode.HEADER <= opcode <= Opcode.DATA_END:
        lengths += [length ^ (1 << bit) for bit in range(64)]
    ends = (at + RECORD_HEAD.size + length for length in lengths if length <= rest)
    return not any(head) or any(end == source.size or _is_end(source, end) or _is_head(source, end) for end in ends)


def _is_chunk(source: ByteSource, begin: int, length: int) -> bool:
    try:
        return chunk_head(source.read(begin, min(length, 64)), length, begin).end == length
    except Damage:
        return False


def _is_content(opcode: int, content: bytes) -> bool:
    if opcode == Opcode.MESSAGE:
        return len(content) >= MESSAGE_HEAD.size
    if opcode in _SIZES:
        return len(content) == _SIZES[Opcode(opcode)]
    stream = ReadDataStream(BytesIO(content))
    try:
        record = _PARSERS[Opcode(opcode)].read(stream)
    except PARSE_ERRORS:
        return False
    if isinstance(record, mcap.Schema):  # its reader takes less than the length of the data claims
        begin = len(content) - len(record.data)
        return record.id > 0 and content[begin - 4 : begin] == len(record.data).to_bytes(4, "little")
    return stream.count == len(content)


def _is_end(source: ByteSource, at: int) -> bool:
    return at == source.size - len(MAGIC) and source.read(at, len(MAGIC)) == MAGIC


def _length(source: ByteSource, at: int) -> int:
    return int(RECORD_HEAD.unpack(source.read(at, RECORD_HEAD.size))[1])
