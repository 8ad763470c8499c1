"""What the end of a whole MCAP file says of it: topics, counts, chunks, and where every message is.

Neither the chunks are read nor decompressed: their message indexes lie beside them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Footer, Metadata, MetadataIndex, Schema, Statistics

from kc_vla.bags.errors import Damage
from kc_vla.bags.records import MAGIC, PARSE_ERRORS, RECORD_HEAD, RandomAccess, split_records

_FOOTER_BYTES = RECORD_HEAD.size + 20
_FOOTER_SIGNED = RECORD_HEAD.size + 16
"""Bytes of the footer that its check sum covers."""
_CHUNK_INDEX_HEAD = struct.Struct("<QQQQI")
_INDEX_HEAD = struct.Struct("<BQHI")
"""Head of an index record: opcode and length of the record, then the channel and the bytes of its entries."""
_INDEX_BYTES = 6
_ENTRY_BYTES = 16

Positions = npt.NDArray[np.int64]
"""Log time, ns, chunk and position within it of each message, in order of recording: (N, 3)."""


class ChunkPlace(NamedTuple):
    """Where a chunk and, behind it, its message indexes are, in bytes of the file."""

    offset: int
    index_begin: int
    index_length: int


@dataclass
class Summary:
    """The summary section of a file.

    Attributes:
        schemas, channels: by id.
        chunks: in order of the file.
        statistics: counts and times; None where the writer left them out.
        metadata: what each metadata record says, by its name; the first of a name counts.
    """

    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    chunks: list[ChunkPlace] = field(default_factory=list)
    statistics: Statistics | None = None
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)


def read_summary(file: RandomAccess, size: int) -> Summary | None:
    """Return the summary of a file of `size` bytes; None where it was never closed or its writer made none.

    Raises:
        Damage: it contradicts itself.
    """
    try:
        begin, end = _section(file, size)
        if begin == 0:
            return None
        summary = Summary()
        content = file.read(begin, end - begin)
        for opcode, first, last in split_records(content, "in its summary"):
            _learn(summary, file, opcode, content[first:last])
    except PARSE_ERRORS as error:
        raise Damage(f"is damaged in its summary: {error or type(error).__name__}") from error
    summary.chunks.sort()
    return summary


def message_positions(
    file: RandomAccess, summary: Summary, topics: Collection[str] | None
) -> dict[int, Positions] | None:
    """Return where the messages of `topics` (all: None) are, by channel.

    Returns:
        None where the file's message indexes do not account for all of its messages.

    Raises:
        Damage: the indexes contradict the file.
    """
    if summary.statistics is None or not summary.statistics.channel_message_counts.keys() <= summary.channels.keys():
        return None
    wanted = {number for number, channel in summary.channels.items() if topics is None or channel.topic in topics}
    entries: dict[int, list[bytes]] = {number: [] for number in wanted}
    chunks: dict[int, list[tuple[int, int]]] = {number: [] for number in wanted}
    for chunk in summary.chunks:
        for number, packed in _message_indexes(file.read(chunk.index_begin, chunk.index_length)):
            if number in wanted:
                entries[number].append(packed)
                chunks[number].append((chunk.offset, len(packed) // _ENTRY_BYTES))
    found = {number: _positions(entries[number], chunks[number]) for number in wanted}
    counts = summary.statistics.channel_message_counts
    if any(len(positions) != counts.get(number, 0) for number, positions in found.items()):
        return None
    return found


def _section(file: RandomAccess, size: int) -> tuple[int, int]:
    """Return the first byte of the summary and the one after its last; (0, 0) where there is none."""
    at = size - _FOOTER_BYTES - len(MAGIC)
    if at < len(MAGIC):
        return 0, 0
    ending = file.read(at, _FOOTER_BYTES + len(MAGIC))
    if not ending.endswith(MAGIC) or RECORD_HEAD.unpack_from(ending) != (Opcode.FOOTER, 20):
        return 0, 0
    footer = Footer.read(ReadDataStream(BytesIO(ending[RECORD_HEAD.size :])))
    if footer.summary_start == 0:
        return 0, 0
    end = footer.summary_offset_start or at
    if not len(MAGIC) <= footer.summary_start <= end <= at:
        raise Damage("is damaged in its last bytes: the summary lies outside of the file")
    if footer.summary_crc:
        covered = file.read(footer.summary_start, at - footer.summary_start) + ending[:_FOOTER_SIGNED]
        if zlib.crc32(covered) != footer.summary_crc:
            raise Damage("is damaged in its summary: wrong check sum")
    return footer.summary_start, end


def _learn(summary: Summary, file: RandomAccess, opcode: int, content: bytes) -> None:
    stream = ReadDataStream(BytesIO(content))
    if opcode == Opcode.SCHEMA:
        schema = Schema.read(stream)
        summary.schemas[schema.id] = schema
    elif opcode == Opcode.CHANNEL:
        channel = Channel.read(stream)
        summary.channels[channel.id] = channel
    elif opcode == Opcode.STATISTICS:
        summary.statistics = Statistics.read(stream)
    elif opcode == Opcode.CHUNK_INDEX:
        _, _, offset, length, channels = _CHUNK_INDEX_HEAD.unpack_from(content)
        (index_length,) = struct.unpack_from("<Q", content, _CHUNK_INDEX_HEAD.size + channels)
        summary.chunks.append(ChunkPlace(offset, offset + length, index_length))
    elif opcode == Opcode.METADATA_INDEX:
        place = MetadataIndex.read(stream)
        record = file.read(place.offset, place.length)
        if RECORD_HEAD.unpack_from(record) != (Opcode.METADATA, place.length - RECORD_HEAD.size):
            raise Damage(f"has no metadata at byte {place.offset}")
        metadata = Metadata.read(ReadDataStream(BytesIO(record[RECORD_HEAD.size :])))
        summary.metadata.setdefault(metadata.name, metadata.metadata)


def _message_indexes(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the channel and the packed entries of each message index; a long bag has very many."""
    at = 0
    while at < len(content):
        if at + _INDEX_HEAD.size > len(content):
            raise Damage("is damaged in its message indexes: a torn one")
        opcode, record, number, length = _INDEX_HEAD.unpack_from(content, at)
        at += _INDEX_HEAD.size
        if opcode != Opcode.MESSAGE_INDEX or record != length + _INDEX_BYTES or length % _ENTRY_BYTES:
            raise Damage("is damaged in its message indexes: something else is there")
        if length > len(content) - at:
            raise Damage("is damaged in its message indexes: a torn one")
        yield number, content[at : at + length]
        at += length


def _positions(entries: list[bytes], chunks: list[tuple[int, int]]) -> Positions:
    """Return what one channel's index entries say, chunk by chunk."""
    packed = np.frombuffer(b"".join(entries), "<i8").reshape(-1, 2)
    places = np.array(chunks, np.int64).reshape(-1, 2)
    found = np.empty((len(packed), 3), np.int64)
    found[:, 0] = packed[:, 0]
    found[:, 1] = np.repeat(places[:, 0], places[:, 1])
    found[:, 2] = packed[:, 1]
    # Chunks and their entries may stand in any order; messages were recorded in that of their bytes.
    return found[np.lexsort((found[:, 2], found[:, 1]))]
