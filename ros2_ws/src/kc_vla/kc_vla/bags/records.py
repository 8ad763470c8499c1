"""The records of an MCAP file: walked from the front up to the damage, or read one at a time.

The usual readers start from the summary at the end, which a file of a killed process does not have. Every
length in the file is checked against the file before it is believed.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import lz4.frame
import zstandard
from mcap.exceptions import McapError
from mcap.opcode import Opcode

from kc_vla.bags.errors import Damage

MAGIC = b"\x89MCAP0\r\n"
RECORD_HEAD = struct.Struct("<BQ")
"""Opcode and length of the content."""
MESSAGE_HEAD = struct.Struct("<HIQQ")
"""Channel, sequence, log time and publish time; the data follow."""
_CHUNK_HEAD = struct.Struct("<QQQI")
_END_BYTES = RECORD_HEAD.size + 20 + len(MAGIC)  # footer and closing magic
_MAX_RECORD_BYTES = 1 << 29
"""Bytes of the largest record or decompressed chunk; writers make chunks of some megabytes."""
_KNOWN = frozenset(range(Opcode.HEADER, Opcode.DATA_END + 1)) - {Opcode.ATTACHMENT}
_LONGEST_NAME = 16
_LZ4_STEP = 1 << 20
_ZSTD = b"\x28\xb5\x2f\xfd"
"""How what zstd has compressed begins; a message in CDR begins with a zero."""

PARSE_ERRORS = (McapError, ValueError, struct.error, zstandard.ZstdError, RuntimeError, OverflowError, EOFError)
"""What libraries raise for records that are not what they claim (RuntimeError: lz4)."""


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


class ChunkHead(NamedTuple):
    """What stands before the records of a chunk.

    Attributes:
        start_ns, end_ns: log time of its first and last message.
        size: bytes of the records when decompressed.
        crc: check sum of these; 0 for none.
        compression: "" for none.
        begin, end: where the records lie, counted as the head itself was.
    """

    start_ns: int
    end_ns: int
    size: int
    crc: int
    compression: str
    begin: int
    end: int


def is_one_bit_off(found: bytes, expected: bytes) -> bool:
    """Return whether a disk, rather than another kind of file, has made `found` of `expected`."""
    differences = (one ^ other for one, other in zip(found, expected, strict=False))
    return len(found) == len(expected) and sum(byte.bit_count() for byte in differences) == 1


def walk(file: BinaryIO, size: int, passes: Callable[[int, int], bool] | None = None) -> Iterator[Record]:
    """Yield the records of `file` (positioned after the magic) up to and without the footer.

    Attachments, and kinds of records that are not known, are left out, and those for whose opcode and first byte
    `passes` is true; they are not read.

    Raises:
        Damage: the file ends or lies before the footer.
    """
    while True:
        offset = file.tell()
        head = file.read(RECORD_HEAD.size)
        if not head:
            raise Damage("was never closed")
        if len(head) < RECORD_HEAD.size:
            raise Damage(f"is cut off in a record at byte {offset}")
        opcode, length = RECORD_HEAD.unpack(head)
        if opcode == Opcode.FOOTER:
            if size - offset < _END_BYTES:
                raise Damage("is cut off in its last bytes")
            return
        if length > size - offset - RECORD_HEAD.size:
            raise Damage(f"is cut off in a record at byte {offset}")
        if opcode not in _KNOWN or (passes is not None and passes(opcode, offset)):
            file.seek(length, os.SEEK_CUR)
            continue
        if length > _MAX_RECORD_BYTES:
            raise Damage(f"is damaged at byte {offset}: a record of {length} bytes")
        yield Record(opcode, offset, file.read(length))


def split_records(content: bytes, where: str) -> Iterator[tuple[int, int, int]]:
    """Yield (opcode, begin, end) of each record in `content`; begin is after its head.

    Raises:
        Damage: a length in it leads beyond its end; `where` says where `content` is from.
    """
    at = 0
    while at < len(content):
        if at + RECORD_HEAD.size > len(content):
            raise Damage(f"is damaged {where}: a torn record")
        opcode, length = RECORD_HEAD.unpack_from(content, at)
        begin = at + RECORD_HEAD.size
        at = begin + length
        if at > len(content):
            raise Damage(f"is damaged {where}: a torn record")
        yield opcode, begin, at


def split_chunk(content: bytes, offset: int) -> Iterator[tuple[int, int, int]]:
    """Yield (opcode, begin, end) of each record in the decompressed chunk that began at file byte `offset`."""
    return split_records(content, f"in the chunk at byte {offset}")


def chunk_content(record: Record) -> bytes:
    """Return the decompressed records of the chunk `record`.

    Raises:
        Damage: the chunk is torn, too large to be true, or its check sum is wrong.
    """
    head = chunk_head(record.content, len(record.content), record.offset)
    return _decompress(head, record.content[head.begin : head.end], record.offset)


def chunk_head(content: bytes, length: int, offset: int) -> ChunkHead:
    """Return the head of the chunk at file byte `offset` from its first bytes.

    Args:
        content: what follows the head of its record, as far as it was read.
        length: of the whole content of the record, bytes.
        offset: for the text of an error.

    Raises:
        Damage: it is no head of a chunk.
    """
    where = f"is damaged in the chunk at byte {offset}"
    try:
        start_ns, end_ns, size, crc = _CHUNK_HEAD.unpack_from(content)
        at = _CHUNK_HEAD.size
        (letters,) = struct.unpack_from("<I", content, at)
        if letters > _LONGEST_NAME:
            raise Damage(f"{where}: no kind of compression")
        at += 4 + letters
        compression = content[at - letters : at].decode("ascii")
        (bytes_,) = struct.unpack_from("<Q", content, at)
    except (struct.error, ValueError) as error:
        raise Damage(f"{where}: {error}") from error
    begin, end = at + 8, at + 8 + bytes_
    if end > length:
        raise Damage(f"{where}: it claims more than its record holds")
    if size > _MAX_RECORD_BYTES:
        raise Damage(f"{where}: it claims {size} bytes")
    return ChunkHead(start_ns, end_ns, size, crc, compression, begin, end)


class RandomAccess:
    """Reads single records and chunks of an open MCAP file, wherever they lie."""

    def __init__(self, file: BinaryIO) -> None:
        """Read from `file`, which stays open and whose position does not matter."""
        self._number = file.fileno()
        self.size = os.fstat(self._number).st_size

    def read(self, position: int, length: int) -> bytes:
        """Return `length` bytes from `position` on.

        Raises:
            Damage: the file ends before.
        """
        if position < 0 or length > self.size - position or length > _MAX_RECORD_BYTES:
            raise Damage(f"has no {length} bytes at byte {position}")
        data = os.pread(self._number, length, position)
        if len(data) < length:
            raise Damage(f"has no {length} bytes at byte {position}")
        return data

    def chunk_head(self, offset: int) -> ChunkHead:
        """Return the head of the chunk whose record begins at byte `offset`; `begin` and `end` are bytes of the file.

        Raises:
            Damage: there is no chunk.
        """
        first = offset + RECORD_HEAD.size
        opcode, length = RECORD_HEAD.unpack(self.read(offset, RECORD_HEAD.size))
        if opcode != Opcode.CHUNK or length > self.size - first:
            raise Damage(f"has no chunk at byte {offset}")
        most = _CHUNK_HEAD.size + 4 + _LONGEST_NAME + 8
        head = chunk_head(self.read(first, min(most, length)), length, offset)
        return head._replace(begin=first + head.begin, end=first + head.end)

    def chunk_content(self, head: ChunkHead, offset: int) -> bytes:
        """Return the decompressed records of the chunk with this head.

        Raises:
            Damage: it is not what its head claims.
        """
        return _decompress(head, self.read(head.begin, head.end - head.begin), offset)


def _decompress(head: ChunkHead, data: bytes, offset: int) -> bytes:
    """Decompress a chunk to no more than its head claims, which is bounded, whatever the compressed bytes say."""
    where = f"is damaged in the chunk at byte {offset}"
    try:
        if head.compression == "zstd":
            content = _unpack_zstd(data, head.size)
        elif head.compression == "lz4":
            content = _unpack_lz4(data, head.size)
        elif head.compression == "":
            content = data
        else:
            raise Damage(f"{where}: unknown compression '{head.compression}'")
    except PARSE_ERRORS as error:
        raise Damage(f"{where}: {error or type(error).__name__}") from error
    if len(content) != head.size:
        raise Damage(f"{where}: {len(content)} bytes instead of {head.size}")
    if head.crc and zlib.crc32(content) != head.crc:
        raise Damage(f"{where}: wrong check sum")
    return content


def unpack_message(data: bytes, which: str) -> bytes:
    """Return a message as it traveled: rosbag2 compresses each by itself in its mode MESSAGE.

    Raises:
        Damage: it cannot be decompressed; `which` says which it is.
    """
    if not data.startswith(_ZSTD):
        return data
    try:
        return _unpack_zstd(data, _MAX_RECORD_BYTES)
    except PARSE_ERRORS as error:
        raise Damage(f"is damaged: {which} cannot be decompressed: {error}") from error


def _unpack_zstd(data: bytes, most: int) -> bytes:
    """Return the decompressed frame `data` of at most `most` bytes; raise ZstdError or ValueError otherwise."""
    if zstandard.frame_content_size(data) > most:
        raise ValueError("it decompresses to more than it claims")
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=max(1, most))


def _unpack_lz4(data: bytes, most: int) -> bytes:
    unpacker = lz4.frame.LZ4FrameDecompressor()
    parts, size = [], 0
    while not unpacker.eof and size <= most:
        part = unpacker.decompress(data, max_length=_LZ4_STEP)
        data = b""
        if not part and unpacker.needs_input:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
