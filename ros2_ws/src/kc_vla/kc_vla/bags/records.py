"""Walks the records of an MCAP file from the front, and stops cleanly where the file is damaged.

The usual readers start from the summary at the end, which a file of a killed process does not have. Every
length in the file is checked against the file before it is believed.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Chunk
from mcap.stream_reader import get_chunk_data_stream

MAGIC = b"\x89MCAP0\r\n"
_HEAD = struct.Struct("<BQ")
_END_BYTES = _HEAD.size + 20 + len(MAGIC)  # footer and closing magic
_MAX_CHUNK_BYTES = 1 << 30

PARSE_ERRORS = (McapError, ValueError, struct.error, zstandard.ZstdError, RuntimeError, OverflowError)
"""What the MCAP library raises for records that are not what they claim (RuntimeError: lz4)."""


class Damage(Exception):  # noqa: N818 - it ends a reading, it is no failure of the caller
    """The records end here, and the text says why."""


@dataclass(frozen=True)
class Record:
    """One record of the outer level.

    Attributes:
        opcode: kind of record, see `mcap.opcode`.
        offset: where it begins in the file, bytes.
        content: its bytes without opcode and length.
    """

    opcode: int
    offset: int
    content: bytes


def walk(file: BinaryIO, size: int) -> Iterator[Record]:
    """Yield the records of `file` (positioned after the magic) up to and without the footer.

    Raises:
        Damage: the file ends or lies before the footer.
    """
    while True:
        offset = file.tell()
        head = file.read(_HEAD.size)
        if not head:
            raise Damage("was never closed")
        if len(head) < _HEAD.size:
            raise Damage(f"is cut off in a record at byte {offset}")
        opcode, length = _HEAD.unpack(head)
        if opcode == Opcode.FOOTER:
            if size - offset < _END_BYTES:
                raise Damage("is cut off in its last bytes")
            return
        if length > size - offset - _HEAD.size:
            raise Damage(f"is cut off in a record at byte {offset}")
        yield Record(opcode, offset, file.read(length))


def chunk_content(record: Record) -> bytes:
    """Return the decompressed records of the chunk `record`.

    Raises:
        Damage: the chunk is torn, too large to be true, or its check sum is wrong.
    """
    where = f"in the chunk at byte {record.offset}"
    try:
        chunk = Chunk.read(ReadDataStream(BytesIO(record.content)))
        claimed = chunk.uncompressed_size
        if chunk.compression == "zstd":
            claimed = max(claimed, zstandard.frame_content_size(chunk.data))
        if claimed > _MAX_CHUNK_BYTES:
            raise Damage(f"is damaged {where}: it claims {claimed} bytes")
        stream, length = get_chunk_data_stream(chunk)
        data = stream.read(length)
    except PARSE_ERRORS as error:
        raise Damage(f"is damaged {where}: {error or type(error).__name__}") from error
    if chunk.uncompressed_crc and zlib.crc32(data) != chunk.uncompressed_crc:
        raise Damage(f"is damaged {where}: wrong check sum")
    return data


def split_chunk(content: bytes, offset: int) -> Iterator[tuple[int, int, int]]:
    """Yield (opcode, begin, end) of each record in the decompressed chunk that began at file byte `offset`.

    Raises:
        Damage: a length in it leads beyond its end.
    """
    at = 0
    while at < len(content):
        if at + _HEAD.size > len(content):
            raise Damage(f"is damaged in the chunk at byte {offset}: a torn record")
        opcode, length = _HEAD.unpack_from(content, at)
        begin = at + _HEAD.size
        at = begin + length
        if at > len(content):
            raise Damage(f"is damaged in the chunk at byte {offset}: a torn record")
        yield opcode, begin, at


def read_record_at(path: Path, offset: int) -> Record:
    """Return the record that begins at byte `offset` of `path`, which `walk` has yielded before."""
    with path.open("rb") as file:
        file.seek(offset)
        opcode, length = _HEAD.unpack(file.read(_HEAD.size))
        return Record(opcode, offset, file.read(length))
