"""Reads a bag: every message up to its end or to the first damage, which is told in one line.

Messages are decoded with the definitions that the bag carries (mcap-ros2-support). That needs no ROS
installation, and unlike a shared type store it has no registry that a bag from another version of the
interfaces could contradict.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Header, Metadata, Schema
from mcap_ros2.decoder import DecoderFactory

from kc_vla.bags.errors import BagEmptyError, BagForeignError, BagMissingError, BagReadError
from kc_vla.bags.mcap_output import EPISODE_RECORD
from kc_vla.bags.records import (
    MAGIC,
    PARSE_ERRORS,
    Damage,
    chunk_content,
    read_record_at,
    split_chunk,
    walk,
)
from kc_vla.bags.topics import EpisodeInfo, Qos, offered

_MESSAGE_HEAD = struct.Struct("<HIQQ")
_CACHED_CHUNKS = 4


@dataclass(frozen=True)
class MessageRef:
    """Where a message is, without its bytes.

    Attributes:
        topic: its topic.
        type: its message type, e.g. "sensor_msgs/msg/Image".
        log_time_ns: when it was received, ns since the epoch.
        publish_time_ns: when it was published, ns since the epoch.
        file: the .mcap file.
        chunk_offset: byte of the file at which its chunk begins (its own record in a file without chunks).
        begin, end: its bytes within the decompressed chunk.
    """

    topic: str
    type: str
    log_time_ns: int
    publish_time_ns: int
    file: Path
    chunk_offset: int
    begin: int
    end: int


@dataclass(frozen=True)
class BagMessage:
    """One message of a bag.

    Attributes:
        ref: where it is and when it was.
        data: the serialized message (CDR with its 4-byte header).
    """

    ref: MessageRef
    data: bytes

    @property
    def topic(self) -> str:
        """Its topic."""
        return self.ref.topic


@dataclass
class _FileState:
    """What has been learned from one file so far."""

    path: Path
    schemas: dict[int, Schema]
    channels: dict[int, Channel]


class BagReader:
    """A bag folder or a single .mcap file, open for reading.

    Attributes:
        episode: whose bag it is; None before reading, and where the bag does not say.
        qos: what each topic was offered with, as far as the files have been read.
        damages: after `messages` has ended: one line for each damaged file; empty for a whole bag.
    """

    def __init__(self, bag: Path) -> None:
        """Find the files of `bag`.

        Raises:
            BagMissingError: nothing is there.
            BagEmptyError: a folder without .mcap files, or only empty files.
            BagForeignError: a file that is no MCAP file.
        """
        self.path = bag
        self.files = _find_files(bag)
        self.episode: EpisodeInfo | None = None
        self.qos: dict[str, Qos] = {}
        self.damages: list[str] = []
        self._decoders: dict[tuple[Path, str], Callable[[bytes], Any]] = {}
        self._factories: dict[Path, DecoderFactory] = {}
        self._schemas: dict[tuple[Path, str], Schema] = {}
        self._chunks: OrderedDict[tuple[Path, int], bytes] = OrderedDict()

    def messages(self, topics: Sequence[str] | None = None) -> Iterator[BagMessage]:
        """Yield the messages in the order in which they were recorded.

        Args:
            topics: full topic names to keep; all by default.

        Raises:
            BagReadError: a file cannot be read from the disk.
        """
        self.damages = []
        for path in self.files:
            count = 0
            try:
                for message in self._file_messages(path, None if topics is None else set(topics)):
                    count += 1
                    yield message
            except Damage as damage:
                self.damages.append(f"{path} {damage}; the {count} messages before that were read")
            except OSError as error:
                raise BagReadError(f"cannot read {path}: {error.strerror}") from error

    def load(self, ref: MessageRef) -> BagMessage:
        """Return the message at `ref`, which this reader has yielded before.

        Raises:
            BagReadError: the file has changed or vanished since.
        """
        key = (ref.file, ref.chunk_offset)
        try:
            if key not in self._chunks:
                record = read_record_at(ref.file, ref.chunk_offset)
                content = chunk_content(record) if record.opcode == Opcode.CHUNK else record.content
                self._chunks[key] = content
                if len(self._chunks) > _CACHED_CHUNKS:
                    self._chunks.popitem(last=False)
            self._chunks.move_to_end(key)
        except (OSError, struct.error, Damage) as error:
            raise BagReadError(f"cannot read {ref.file} again: {error}") from error
        return BagMessage(ref, self._chunks[key][ref.begin : ref.end])

    def decode(self, message: BagMessage) -> Any:
        """Return the message as a plain object with the fields of its type; byte arrays are `bytes`.

        Raises:
            BagReadError: its bytes do not fit the definition that the bag carries.
        """
        ref = message.ref
        key = (ref.file, ref.type)
        try:
            if key not in self._decoders:
                factory = self._factories.setdefault(ref.file, DecoderFactory())
                decoder = factory.decoder_for("cdr", self._schemas[key])
                if decoder is None:
                    raise BagReadError(f"{ref.file}: the definition of {ref.type} is not in .msg form")
                self._decoders[key] = decoder
            return self._decoders[key](message.data)
        except _DECODE_ERRORS as error:
            raise BagReadError(f"{ref.file}: a message on {ref.topic} is no {ref.type}: {error}") from error

    def _file_messages(self, path: Path, topics: set[str] | None) -> Iterator[BagMessage]:
        state = _FileState(path, {}, {})
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(len(MAGIC))
            for record in walk(file, size):
                if record.opcode == Opcode.CHUNK:
                    content = chunk_content(record)
                    for opcode, begin, end in split_chunk(content, record.offset):
                        message = self._take(state, record.offset, opcode, content, begin, end, topics)
                        if message is not None:
                            yield message
                else:
                    content = record.content
                    message = self._take(state, record.offset, record.opcode, content, 0, len(content), topics)
                    if message is not None:
                        yield message

    def _take(
        self,
        state: _FileState,
        offset: int,
        opcode: int,
        content: bytes,
        begin: int,
        end: int,
        topics: set[str] | None,
    ) -> BagMessage | None:
        """Learn from one record; return it where it is a message on one of `topics`."""
        if opcode != Opcode.MESSAGE:
            try:
                self._learn(state, opcode, content[begin:end])
            except PARSE_ERRORS as error:
                raise Damage(f"is damaged at byte {offset}: {error or type(error).__name__}") from error
            return None
        if end - begin < _MESSAGE_HEAD.size:
            raise Damage(f"is damaged at byte {offset}: a torn message")
        channel_id, _, log_time, publish_time = _MESSAGE_HEAD.unpack_from(content, begin)
        channel = state.channels.get(channel_id)
        if channel is None:
            raise Damage(f"is damaged at byte {offset}: a message of an unknown topic")
        if topics is not None and channel.topic not in topics:
            return None
        begin += _MESSAGE_HEAD.size
        schema = state.schemas.get(channel.schema_id)
        kind = schema.name if schema is not None else ""
        ref = MessageRef(channel.topic, kind, log_time, publish_time, state.path, offset, begin, end)
        return BagMessage(ref, content[begin:end])

    def _learn(self, state: _FileState, opcode: int, content: bytes) -> None:
        stream = ReadDataStream(BytesIO(content))
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            state.schemas[schema.id] = schema
            self._schemas[(state.path, schema.name)] = schema
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(stream)
            state.channels[channel.id] = channel
            self.qos.setdefault(channel.topic, offered(channel.metadata.get("offered_qos_profiles", "")))
        elif opcode == Opcode.METADATA:
            metadata = Metadata.read(stream)
            if metadata.name == EPISODE_RECORD and self.episode is None:
                self.episode = EpisodeInfo.from_metadata(metadata.metadata)


# A definition that cannot be parsed, or bytes that end early or hold no text where text is due.
_DECODE_ERRORS = (*PARSE_ERRORS, KeyError, IndexError, TypeError, AttributeError, NotImplementedError)


def bag_files(folder: Path) -> list[Path]:
    """Return the .mcap files of a bag folder in the order of recording: name_0, name_1, ... name_10."""
    return sorted(folder.glob("*.mcap"), key=lambda path: (len(path.name), path.name))


def _find_files(bag: Path) -> list[Path]:
    if not bag.exists():
        raise BagMissingError(f"no bag at {bag}: give a bag folder or an .mcap file")
    if bag.is_dir():
        files = bag_files(bag)
        if not files:
            raise BagEmptyError(f"no .mcap file in {bag}: give the folder that the recorder wrote")
    else:
        files = [bag]
    filled = [path for path in files if path.stat().st_size > 0]
    if not filled:
        raise BagEmptyError(f"{bag} is empty: nothing was recorded")
    for path in filled:
        _check_head(path)
    return filled


def _check_head(path: Path) -> None:
    """Raise unless `path` begins like an MCAP file of ROS 2 messages, as far as it goes."""
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
            if head != MAGIC[: len(head)]:
                raise BagForeignError(f"{path} is no MCAP file: give a bag that was recorded with rosbag2 or kc-vla")
            record = next(walk(file, path.stat().st_size))
            if record.opcode != Opcode.HEADER:
                raise BagForeignError(f"{path} is no MCAP file: it has no header")
            profile = Header.read(ReadDataStream(BytesIO(record.content))).profile
    except OSError as error:
        raise BagReadError(f"cannot read {path}: {error.strerror}") from error
    except (Damage, StopIteration):
        return  # cut off right here: read as far as it goes, which is told with the messages
    except PARSE_ERRORS as error:
        raise BagForeignError(f"{path} is no MCAP file: its header cannot be read") from error
    if profile not in ("ros2", ""):
        raise BagForeignError(f"{path} holds '{profile}' messages: only ROS 2 bags can be read")
