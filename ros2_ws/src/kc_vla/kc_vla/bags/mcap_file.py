"""One MCAP file of a bag: walked from its front, or a message at a time from anywhere."""

from __future__ import annotations

import gc
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator
from io import BytesIO
from itertools import repeat
from pathlib import Path

import mcap.records as mcap
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode

from kc_vla.bags.errors import BagForeignError, Damage
from kc_vla.bags.mcap_names import McapNames
from kc_vla.bags.mcap_summary import Positions, Summary, message_positions, read_summary
from kc_vla.bags.messages import NO_CHUNK, BagMessage, MessageRef
from kc_vla.bags.records import (
    MAGIC,
    MESSAGE_HEAD,
    PARSE_ERRORS,
    RECORD_HEAD,
    RandomAccess,
    chunk_content,
    is_one_bit_off,
    split_chunk,
    unpack_message,
    walk,
)
from kc_vla.bags.schemas import Schema, installed_schema
from kc_vla.bags.topics import Contents, Qos, RecordedEpisodeInfo, RecordedTopic


class ChunkCache:
    """Holds at most `max_bytes`, or the newest chunk alone where that is larger. For any thread."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._chunks: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self.held_bytes = 0

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the chunk `key`, made by `make` if it is not here; what `make` raises passes through."""
        with self._lock:
            if key in self._chunks:
                self._chunks.move_to_end(key)
                return self._chunks[key]
            content = self._chunks[key] = make()
            self.held_bytes += len(content)
            while self.held_bytes > self._max_bytes and len(self._chunks) > 1:
                self.held_bytes -= len(self._chunks.popitem(last=False)[1])
            return content


class McapFile:
    """One MCAP file of a bag, which is open only while it is read.

    What was learned of the file is kept.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, cache: ChunkCache) -> None:
        """Look at the head of `path`.

        Raises:
            BagForeignError: it is no MCAP file of ROS 2 messages.
            OSError: it cannot be read.
        """
        self.path = path
        self._cache = cache
        self._names = McapNames()
        self._summarised = False
        self._wrong_head = ""
        self._check_head()

    @property
    def episode(self) -> RecordedEpisodeInfo | None:
        """Return whose bag it is; None before reading, and where the file does not say."""
        return self._names.episode

    @property
    def qos(self) -> dict[str, Qos]:
        """Return what each topic was offered with, as far as the file has been read."""
        return self._names.qos

    def schema(self, message_type: str) -> Schema | None:
        """Return the definition of a message type: the file's own, else the installed one, else None."""
        return self._names.schema(message_type) or installed_schema(message_type)

    def messages(self, topics: Collection[str] | None, since_ns: int = 0) -> Iterator[BagMessage]:
        """Yield the messages of `topics` (all: None) that came at `since_ns` or later, in the order of recording.

        Where the summary lists the topics, chunks of older messages are passed by.

        Raises:
            Damage: the file can be read no further.
            OSError: nor can the disk.
        """
        count, ended = 0, False
        with self.path.open("rb") as file:
            file.seek(len(MAGIC))
            passes = self._passes(RandomAccess(file), since_ns) if since_ns and self._summarised else None
            for record in walk(file, self.path.stat().st_size, passes):
                if self._wrong_head and record.offset == len(MAGIC):
                    continue  # whatever it has become
                ended = ended or record.opcode == Opcode.DATA_END
                if ended and record.opcode in (Opcode.CHUNK, Opcode.MESSAGE):
                    raise Damage(f"is damaged at byte {record.offset}: messages after the end of the data")
                if record.opcode == Opcode.CHUNK:
                    content, chunk = chunk_content(record), record.offset
                    records = split_chunk(content, chunk)
                else:
                    content, chunk = record.content, NO_CHUNK
                    records = iter([(record.opcode, 0, len(content))])
                for opcode, begin, end in records:
                    if opcode != Opcode.MESSAGE:
                        self._names.learn(opcode, content[begin:end], record.offset)
                        continue
                    position = record.offset if chunk == NO_CHUNK else begin - RECORD_HEAD.size
                    message = self._take(content, begin, end, chunk, position, topics)
                    if message is not None and message.ref.log_time_ns >= since_ns:
                        count += 1
                        yield message
        if self._wrong_head:
            raise Damage(self._wrong_head)
        if topics is None and not since_ns:
            self._check_count(count)

    def contents(self) -> Contents | None:
        """Return what is in the file as its summary says; None where it has none that does.

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
                earlier.type if earlier else self._names.type_of(channel),
                self.qos[channel.topic],
                count + (earlier.count if earlier else 0),
            )
        if sum(topic.count for topic in topics.values()) != statistics.message_count:
            return None
        return Contents(topics, statistics.message_start_time, statistics.message_end_time)

    def index(self, topics: Collection[str] | None) -> dict[str, list[MessageRef]] | None:
        """Return where the messages of `topics` (all: None) are, in order of recording; None without an index.

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
            channel = self._names.channels[number]
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

    def _check_head(self) -> None:
        """Raise unless the file begins like an MCAP file of ROS 2 messages, as far as it goes."""
        with self.path.open("rb") as file:
            head = file.read(len(MAGIC))
            if is_one_bit_off(head, MAGIC):
                self._wrong_head = "is damaged in its first bytes"
                return
            if head != MAGIC[: len(head)]:
                raise BagForeignError(f"{self.path} is no MCAP file: give a bag recorded with rosbag2 or kc-vla")
            try:
                record = next(walk(file, self.path.stat().st_size))
                profile = mcap.Header.read(ReadDataStream(BytesIO(record.content))).profile
                if record.opcode != Opcode.HEADER or is_one_bit_off(profile.encode(), b"ros2"):
                    self._wrong_head = "is damaged in its header"
                    return
            except (Damage, StopIteration):
                return  # cut off right here: read as far as it goes, which is told with the messages
            except PARSE_ERRORS:
                self._wrong_head = "is damaged in its header"
                return
        if profile not in ("ros2", ""):
            raise BagForeignError(f"{self.path} holds '{profile}' messages: only ROS 2 bags can be read")

    def _check_count(self, count: int) -> None:
        """Raise unless `count`, all messages that were found, is what the summary counts."""
        summary = self._summary()
        if summary is not None and summary.statistics is not None and summary.statistics.message_count != count:
            raise Damage(f"is damaged: its summary counts {summary.statistics.message_count} messages")

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
            self._names.learn_summary(summary)
        return summary

    def _refs(self, channel: mcap.Channel, positions: Positions) -> list[MessageRef]:
        times, chunks, places = positions.T.tolist()
        topic, kind = repeat(channel.topic), repeat(self._names.type_of(channel))
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
        channel = self._names.channels.get(number)
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
        channel = self._names.channels.get(number)
        if channel is None:
            raise Damage(f"is damaged at byte {where}: a message of an unknown topic")
        if topics is not None and channel.topic not in topics:
            return None
        ref = MessageRef(channel.topic, self._names.type_of(channel), log_time_ns, self.path, chunk, position)
        data = unpack_message(content[begin + MESSAGE_HEAD.size : end], f"the message at byte {position}")
        return BagMessage(ref, data, publish_time_ns)
