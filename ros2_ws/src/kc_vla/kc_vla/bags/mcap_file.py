"""One MCAP file of a bag: walked from its front, or a message at a time from anywhere."""

from __future__ import annotations

import gc
import struct
from collections.abc import Callable, Collection, Iterator
from io import BytesIO
from itertools import repeat
from pathlib import Path

import mcap.records as mcap
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode

from kc_vla.bags.chunk_cache import ChunkCache
from kc_vla.bags.errors import BagForeignError, Damage
from kc_vla.bags.mcap_summary import Positions, Summary, message_positions, read_summary
from kc_vla.bags.messages import NO_CHUNK, BagMessage, MessageRef
from kc_vla.bags.records import (
    MAGIC,
    MESSAGE_HEAD,
    PARSE_ERRORS,
    RECORD_HEAD,
    RandomAccess,
    chunk_content,
    split_chunk,
    unpack_message,
    walk,
)
from kc_vla.bags.schemas import Schema
from kc_vla.bags.topics import EPISODE_RECORD, Contents, EpisodeInfo, Qos, RecordedTopic, offered


class McapFile:
    """See the module. What has been learned of the file stays; the file is open only while it is read.

    Attributes:
        path: the file.
        episode: whose bag it is; None before reading, and where the file does not say.
        qos: what each topic was offered with, as far as the file has been read.
    """

    def __init__(self, path: Path, cache: ChunkCache) -> None:
        """Look at the head of `path`.

        Raises:
            BagForeignError: it is no MCAP file of ROS 2 messages.
            OSError: it cannot be read.
        """
        self.path = path
        self.episode: EpisodeInfo | None = None
        self.qos: dict[str, Qos] = {}
        self._cache = cache
        self._schemas: dict[int, mcap.Schema] = {}
        self._channels: dict[int, mcap.Channel] = {}
        self._summarised = False
        self._check_head()

    def messages(self, topics: Collection[str] | None, since_ns: int = 0) -> Iterator[BagMessage]:
        """Yield the messages of `topics` (all: None) that came at `since_ns` or later, in the order of recording.

        Where the summary has told what topics there are, chunks of older messages are passed by.

        Raises:
            Damage: the file can be read no further.
            OSError: nor can the disk.
        """
        with self.path.open("rb") as file:
            file.seek(len(MAGIC))
            passes = self._passes(RandomAccess(file), since_ns) if since_ns and self._summarised else None
            for record in walk(file, self.path.stat().st_size, passes):
                if record.opcode == Opcode.CHUNK:
                    content, chunk = chunk_content(record), record.offset
                    records = split_chunk(content, chunk)
                else:
                    content, chunk = record.content, NO_CHUNK
                    records = iter([(record.opcode, 0, len(content))])
                for opcode, begin, end in records:
                    if opcode != Opcode.MESSAGE:
                        self._learn(opcode, content[begin:end], record.offset)
                        continue
                    position = record.offset if chunk == NO_CHUNK else begin - RECORD_HEAD.size
                    message = self._take(content, begin, end, chunk, position, topics)
                    if message is not None and message.ref.log_time_ns >= since_ns:
                        yield message

    def contents(self) -> Contents | None:
        """Return what is in the file as its summary says; None where it has none that tells.

        Raises:
            Damage: the summary contradicts itself.
            OSError: the file cannot be read.
        """
        summary = self._summary()
        if summary is None or summary.statistics is None:
            return None
        statistics = summary.statistics
        topics: dict[str, RecordedTopic] = {}
        for number, channel in summary.channels.items():
            count = statistics.channel_message_counts.get(number, 0)
            earlier = topics.get(channel.topic)
            topics[channel.topic] = RecordedTopic(
                earlier.type if earlier else self._type(channel),
                self.qos[channel.topic],
                count + (earlier.count if earlier else 0),
            )
        if sum(topic.count for topic in topics.values()) != statistics.message_count:
            return None
        return Contents(topics, statistics.message_start_time, statistics.message_end_time)

    def index(self, topics: Collection[str] | None) -> dict[str, list[MessageRef]] | None:
        """Return where the messages of `topics` (all: None) are, in order of recording; None where no index tells.

        Raises:
            Damage: the index contradicts the file.
            OSError: the file cannot be read.
        """
        summary = self._summary()
        if summary is None:
            return None
        with self.path.open("rb") as file:
            positions = message_positions(RandomAccess(file), summary, topics)
        if positions is None:
            return None
        refs: dict[str, list[MessageRef]] = {}
        for number, found in positions.items():
            channel = self._channels[number]
            earlier = refs.setdefault(channel.topic, [])
            several = bool(earlier)
            earlier.extend(self._refs(channel, found))
            if several:  # publishers with channels of their own
                earlier.sort(key=lambda ref: (ref.chunk, ref.position))
        return refs

    def load(self, ref: MessageRef) -> BagMessage:
        """Return the message at `ref`.

        Raises:
            Damage: something else is there.
            OSError: the file cannot be read.
        """
        with self.path.open("rb", buffering=0) as raw:
            file = RandomAccess(raw)
            if ref.chunk == NO_CHUNK:
                return self._load_from(file, ref, ref.position)
            head = file.chunk_head(ref.chunk)
            if not head.compression:
                if ref.position > head.end - head.begin:
                    raise Damage(f"is damaged in the chunk at byte {ref.chunk}: it ends before a message")
                return self._load_from(file, ref, head.begin + ref.position)
            key = (self.path, ref.chunk)
            content = self._cache.get(key, lambda: file.chunk_content(head, ref.chunk))
        try:
            opcode, length = RECORD_HEAD.unpack_from(content, ref.position)
            begin = ref.position + RECORD_HEAD.size
            return self._same(ref, opcode, content[begin : begin + length], length)
        except struct.error as error:
            raise Damage(f"is damaged in the chunk at byte {ref.chunk}: {error}") from error

    def schema(self, message_type: str) -> Schema | None:
        """Return the definition of a type, as far as the file has been read; None where it has none.

        Raises:
            Damage: it is no text.
        """
        for schema in self._schemas.values():
            if schema.name == message_type and schema.encoding:
                try:
                    text = schema.data.decode()
                except UnicodeDecodeError as error:
                    raise Damage(f"is damaged: the definition of {message_type} is no text") from error
                return Schema(message_type, text, self._type_hash(schema.id), schema.encoding)
        return None

    def _check_head(self) -> None:
        """Raise unless the file begins like an MCAP file of ROS 2 messages, as far as it goes."""
        with self.path.open("rb") as file:
            head = file.read(len(MAGIC))
            if head != MAGIC[: len(head)]:
                raise BagForeignError(f"{self.path} is no MCAP file: give a bag recorded with rosbag2 or kc-vla")
            try:
                record = next(walk(file, self.path.stat().st_size))
                if record.opcode != Opcode.HEADER:
                    raise BagForeignError(f"{self.path} is no MCAP file: it has no header")
                profile = mcap.Header.read(ReadDataStream(BytesIO(record.content))).profile
            except (Damage, StopIteration):
                return  # cut off right here: read as far as it goes, which is told with the messages
            except PARSE_ERRORS as error:
                raise BagForeignError(f"{self.path} is no MCAP file: its header cannot be read") from error
        if profile not in ("ros2", ""):
            raise BagForeignError(f"{self.path} holds '{profile}' messages: only ROS 2 bags can be read")

    @staticmethod
    def _passes(file: RandomAccess, since_ns: int) -> Callable[[int, int], bool]:
        """Say whether a record may be passed by: a chunk whose messages are all older."""

        def passes(opcode: int, offset: int) -> bool:
            return opcode == Opcode.CHUNK and file.chunk_head(offset).end_ns < since_ns

        return passes

    def _summary(self) -> Summary | None:
        """Read the summary and learn from it."""
        with self.path.open("rb") as file:
            summary = read_summary(RandomAccess(file), self.path.stat().st_size)
        if summary is not None:
            self._summarised = (
                summary.statistics is not None and len(summary.channels) == summary.statistics.channel_count
            )
            for schema in summary.schemas.values():
                self._learn_schema(schema)
            for channel in summary.channels.values():
                self._learn_channel(channel)
            self._learn_metadata(EPISODE_RECORD, summary.metadata.get(EPISODE_RECORD, {}))
        return summary

    def _refs(self, channel: mcap.Channel, positions: Positions) -> list[MessageRef]:
        times, chunks, places = positions.T.tolist()
        topic, kind = repeat(channel.topic), repeat(self._type(channel))
        collects = gc.isenabled()
        gc.disable()  # it would go through hundreds of thousands of new tuples again and again, and find nothing
        try:
            return list(map(MessageRef._make, zip(topic, kind, times, repeat(self.path), chunks, places, strict=False)))
        finally:
            if collects:
                gc.enable()

    def _load_from(self, file: RandomAccess, ref: MessageRef, at: int) -> BagMessage:
        opcode, length = RECORD_HEAD.unpack(file.read(at, RECORD_HEAD.size))
        return self._same(ref, opcode, file.read(at + RECORD_HEAD.size, length), length)

    def _same(self, ref: MessageRef, opcode: int, content: bytes, length: int) -> BagMessage:
        """Return the message of this record if it is the one of `ref`."""
        if opcode != Opcode.MESSAGE or len(content) != length or length < MESSAGE_HEAD.size:
            raise Damage(f"has no message at byte {ref.position} of the chunk at byte {ref.chunk}")
        number, _, log_time_ns, publish_time_ns = MESSAGE_HEAD.unpack_from(content)
        channel = self._channels.get(number)
        if log_time_ns != ref.log_time_ns or channel is None or channel.topic != ref.topic:
            raise Damage(f"has another message at byte {ref.position} of the chunk at byte {ref.chunk}")
        data = unpack_message(content[MESSAGE_HEAD.size :], f"the message at byte {ref.position}")
        return BagMessage(ref, data, publish_time_ns)

    def _take(
        self, content: bytes, begin: int, end: int, chunk: int, position: int, topics: Collection[str] | None
    ) -> BagMessage | None:
        """Return the message whose record is `content[begin:end]` where it is on one of `topics`."""
        where = position if chunk == NO_CHUNK else chunk
        if end - begin < MESSAGE_HEAD.size:
            raise Damage(f"is damaged at byte {where}: a torn message")
        number, _, log_time_ns, publish_time_ns = MESSAGE_HEAD.unpack_from(content, begin)
        channel = self._channels.get(number)
        if channel is None:
            raise Damage(f"is damaged at byte {where}: a message of an unknown topic")
        if topics is not None and channel.topic not in topics:
            return None
        ref = MessageRef(channel.topic, self._type(channel), log_time_ns, self.path, chunk, position)
        data = unpack_message(content[begin + MESSAGE_HEAD.size : end], f"the message at byte {position}")
        return BagMessage(ref, data, publish_time_ns)

    def _learn(self, opcode: int, content: bytes, offset: int) -> None:
        """Learn from the record that begins, or whose chunk begins, at byte `offset`."""
        stream = ReadDataStream(BytesIO(content))
        try:
            if opcode == Opcode.SCHEMA:
                self._learn_schema(mcap.Schema.read(stream))
            elif opcode == Opcode.CHANNEL:
                self._learn_channel(mcap.Channel.read(stream))
            elif opcode == Opcode.METADATA:
                metadata = mcap.Metadata.read(stream)
                self._learn_metadata(metadata.name, metadata.metadata)
        except PARSE_ERRORS as error:
            raise Damage(f"is damaged at byte {offset}: {error or type(error).__name__}") from error

    def _learn_schema(self, schema: mcap.Schema) -> None:
        self._schemas[schema.id] = schema

    def _learn_channel(self, channel: mcap.Channel) -> None:
        self._channels[channel.id] = channel
        if channel.topic not in self.qos:
            self.qos[channel.topic] = offered(channel.metadata.get("offered_qos_profiles", ""))

    def _learn_metadata(self, name: str, fields: dict[str, str]) -> None:
        if name == EPISODE_RECORD and self.episode is None:
            self.episode = EpisodeInfo.from_metadata(fields)

    def _type(self, channel: mcap.Channel) -> str:
        schema = self._schemas.get(channel.schema_id)
        return schema.name if schema is not None else ""

    def _type_hash(self, schema_id: int) -> str:
        hashes = (c.metadata.get("topic_type_hash", "") for c in self._channels.values() if c.schema_id == schema_id)
        return next(hashes, "")
