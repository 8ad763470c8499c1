"""A damaged MCAP file written anew: every message that is well, and a word about each that is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Header, MessageIndex, Metadata, Schema, Statistics
from mcap.writer import CompressionType, Writer

from kc_vla.bags.errors import Damage
from kc_vla.bags.loss import UNKNOWN_TOPIC, Losses, Salvaged, Span
from kc_vla.bags.mcap_scan import BytesSource, Gap, scan
from kc_vla.bags.mcap_summary import Summary, read_summary
from kc_vla.bags.records import (
    MAGIC,
    MESSAGE_HEAD,
    RandomAccess,
    Record,
    chunk_content,
    chunk_head,
    split_chunk,
    unpack_message,
)


class _Definitions(NamedTuple):
    """Schemas and channels by their numbers, and how many messages a channel had."""

    schemas: dict[int, Schema]
    channels: dict[int, Channel]
    statistics: Statistics | None


def salvage_mcap(path: Path, target: Path) -> Salvaged:
    """Write what is well in `path` to `target`, a whole file.

    Raises:
        OSError: one cannot be read or the other not be written.
    """
    with path.open("rb") as file, target.open("wb") as output:
        source = RandomAccess(file)
        known = _definitions(source)
        copy = _Copy(Writer(output, compression=CompressionType.ZSTD), known)
        for item in scan(source, len(MAGIC)):
            copy.take(item)
        copy.finish()
    return Salvaged(copy.losses, _expected(known))


def _definitions(source: RandomAccess) -> _Definitions:
    """Return what the summary says; where there is none to be believed, what is found anywhere."""
    try:
        summary: Summary | None = read_summary(source, source.size)
    except Damage:
        summary = None
    if summary is not None and summary.statistics is not None:
        return _Definitions(summary.schemas, summary.channels, summary.statistics)
    sure, found = _Definitions({}, {}, None), _Definitions({}, {}, None)
    for item in scan(source, len(MAGIC)):
        if isinstance(item, Record) and item.opcode == Opcode.CHUNK:
            for inner in _records(item):
                if isinstance(inner, Record):
                    _learn(sure, inner)
        elif isinstance(item, Record):
            _learn(found, item)
    # The last ones count: they are the summary's, others may be what looks like one in a gap.
    return _Definitions(found.schemas | sure.schemas, found.channels | sure.channels, None)


def _learn(known: _Definitions, record: Record) -> None:
    stream = ReadDataStream(BytesIO(record.content))
    if record.opcode == Opcode.SCHEMA:
        schema = Schema.read(stream)
        known.schemas[schema.id] = schema
    elif record.opcode == Opcode.CHANNEL:
        channel = Channel.read(stream)
        known.channels[channel.id] = channel


def _expected(known: _Definitions) -> Mapping[str, int] | None:
    if known.statistics is None:
        return None
    counts: dict[str, int] = {}
    for number, count in known.statistics.channel_message_counts.items():
        if number in known.channels:
            topic = known.channels[number].topic
            counts[topic] = counts.get(topic, 0) + count
    return counts


def _records(chunk: Record) -> Iterator[Record | Gap]:
    """Yield the records in a chunk; all of it is a gap where its check sum is wrong."""
    head = chunk_head(chunk.content, len(chunk.content), chunk.offset)
    try:
        content = chunk_content(chunk)
    except Damage:
        if head.compression or head.crc:
            yield Gap(0, head.size)
            return
        content = chunk.content[head.begin : head.end]  # it has told a wrong size of itself
    if not head.crc:
        yield from scan(BytesSource(content), 0)
        return
    try:
        for opcode, begin, end in split_chunk(content, chunk.offset):
            yield Record(opcode, begin, content[begin:end])
    except Damage:  # its writer's fault
        yield Gap(0, head.size)


def _is_index(content: bytes) -> bool:
    channel_and_size = 6
    return int.from_bytes(content[2:channel_and_size], "little") == len(content) - channel_and_size


class _Copy:
    """The file that is being written anew; numbers of schemas and channels are translated.

    Attributes:
        losses: what could not be copied so far.
    """

    def __init__(self, writer: Writer, known: _Definitions) -> None:
        self.losses = Losses()
        self._writer = writer
        self._known = known
        self._schemas: dict[int, int] = {0: 0}
        self._channels: dict[int, int] = {}
        self._started = self._ended = False
        self._gap: Span | None = None  # of which message indexes may follow
        self._copied: set[tuple[int, int]] = set()  # channel and time of the chunk before

    def take(self, item: Record | Gap) -> None:
        """Copy a record of the file; note a gap."""
        if isinstance(item, Gap):
            if not self._ended:
                self._gap = self.losses.lose_some()
            self.losses.any = True
        elif item.opcode == Opcode.DATA_END:
            self._ended = True  # the summary that follows repeats schemas and channels
        elif not self._ended and (item.offset > len(MAGIC) or item.opcode == Opcode.HEADER):  # which is the first
            self._take(item)

    def finish(self) -> None:
        """Write the end, with the channels that have no messages."""
        self._start(Header("ros2", ""))
        for number in self._known.channels:
            self._channel(number)
        self._writer.finish()  # type: ignore[no-untyped-call]

    def _take(self, record: Record) -> None:
        if record.opcode == Opcode.CHUNK:
            self._chunk(record)
        elif record.opcode == Opcode.MESSAGE_INDEX:
            self._index(record)
        elif record.opcode == Opcode.MESSAGE and self._copied and self._gap is None and _is_index(record.content):
            self.losses.any = True  # behind a chunk there are indexes: one bit makes a message of one
        else:
            self._plain(record)

    def _chunk(self, record: Record) -> None:
        self._gap, self._copied = None, set()
        for item in _records(record):
            if isinstance(item, Record):
                self._plain(item)
            elif item.begin == 0:
                head = chunk_head(record.content, len(record.content), record.offset)
                self._gap = self.losses.lose_some(head.start_ns, head.end_ns)
            else:
                self._gap = self.losses.lose_some()

    def _index(self, record: Record) -> None:
        """Hear which messages there were in a chunk that is lost."""
        if self._gap is None:
            return
        index = MessageIndex.read(ReadDataStream(BytesIO(record.content)))
        channel = self._known.channels.get(index.channel_id)
        times = [time_ns for time_ns, _ in index.records if (index.channel_id, time_ns) not in self._copied]
        if channel is None or not times:
            return
        for time_ns in times:
            self.losses.lose(channel.topic, time_ns)
        self.losses.explain(self._gap)

    def _plain(self, record: Record) -> None:
        stream = ReadDataStream(BytesIO(record.content))
        if record.opcode == Opcode.HEADER:
            self._start(Header.read(stream))
        elif record.opcode == Opcode.METADATA:
            metadata = Metadata.read(stream)
            self._start(Header("ros2", ""))
            self._writer.add_metadata(metadata.name, metadata.metadata)
        elif record.opcode == Opcode.ATTACHMENT:
            self.losses.any = True
        elif record.opcode == Opcode.MESSAGE:
            self._message(record)

    def _message(self, record: Record) -> None:
        if len(record.content) < MESSAGE_HEAD.size:
            self.losses.lose_some()
            return
        number, sequence, log_time_ns, publish_time_ns = MESSAGE_HEAD.unpack_from(record.content)
        data = record.content[MESSAGE_HEAD.size :]
        self._start(Header("ros2", ""))
        channel = self._channel(number)
        topic = self._known.channels[number].topic if number in self._known.channels else UNKNOWN_TOPIC
        try:
            unpack_message(data, "")
        except Damage:
            channel = None
        if channel is None:
            self.losses.lose(topic, log_time_ns)
            return
        self._writer.add_message(channel, log_time_ns, data, publish_time_ns, sequence)
        self._copied.add((number, log_time_ns))
        self.losses.keep(topic, log_time_ns)

    def _start(self, header: Header) -> None:
        if not self._started:
            self._started = True
            self._writer.start(profile=header.profile and "ros2", library=header.library)

    def _channel(self, number: int) -> int | None:
        """Return the new number of a channel; None for one of which nothing is known."""
        channel = self._known.channels.get(number)
        if number in self._channels or channel is None:
            return self._channels.get(number)
        if channel.schema_id not in self._schemas:
            schema = self._known.schemas.get(channel.schema_id)
            if schema is None:
                return None
            self._schemas[schema.id] = self._writer.register_schema(schema.name, schema.encoding, schema.data)
        self._channels[number] = self._writer.register_channel(
            channel.topic, channel.message_encoding, self._schemas[channel.schema_id], channel.metadata
        )
        return self._channels[number]
