"""Makes a torn file of a bag whole, so that stock tools open it too.

A recorder that was killed leaves an MCAP file without summary, or a SQLite file with a journal beside it. All whole
messages are copied, in place of the file.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Header, Message, Metadata, Schema
from mcap.writer import CompressionType, Writer

from kc_vla.bags.errors import Damage
from kc_vla.bags.metadata import FileFacts
from kc_vla.bags.reader import BagReader
from kc_vla.bags.records import MAGIC, PARSE_ERRORS, chunk_content, split_chunk, walk
from kc_vla.bags.sqlite_mend import mend_sqlite
from kc_vla.bags.storage import Storage, storage_of
from kc_vla.files import replacing


def mend(path: Path) -> tuple[FileFacts, str]:
    """Make `path` a whole file if it is not.

    Returns:
        what it holds, and what was wrong with it ("" for nothing). A file without any message is left as it is.

    Raises:
        BagReadError: it is no file of ROS 2 messages, or cannot be read.
        OSError: there is no room for the copy; the file is unchanged then.
    """
    if path.stat().st_size == 0:
        return FileFacts(path.name, 0, 0, {}), f"{path} is empty"
    reader = BagReader(path)
    facts = _facts(path, reader)
    if reader.damages and storage_of(path) == Storage.SQLITE3:
        mend_sqlite(path, holds_messages=facts.messages > 0)
        facts = _facts(path, BagReader(path))  # a journal may have held more than could be read
    elif reader.damages and facts.messages:
        _rewrite(path)
    return facts, "".join(reader.damages)


def _facts(path: Path, reader: BagReader) -> FileFacts:
    counts: Counter[str] = Counter()
    start, end = None, 0
    for message in reader.messages():
        counts[message.topic] += 1
        start = message.ref.log_time_ns if start is None else min(start, message.ref.log_time_ns)
        end = max(end, message.ref.log_time_ns)
    return FileFacts(path.name, start or 0, end, counts)


def _rewrite(path: Path) -> None:
    with replacing(path) as part, path.open("rb") as source, part.open("wb") as target:
        source.seek(len(MAGIC))
        copy = _Copy(Writer(target, compression=CompressionType.ZSTD))
        # The damage itself was told by the first reading.
        with contextlib.suppress(Damage):
            for opcode, content in _flat_records(source, path.stat().st_size):
                copy.add(opcode, content)
        copy.finish()


def _flat_records(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield opcode and content of every record of the data section, those within chunks included."""
    for record in walk(file, size):
        if record.opcode == Opcode.CHUNK:
            content = chunk_content(record)
            for opcode, begin, end in split_chunk(content, record.offset):
                yield opcode, content[begin:end]
        else:
            yield record.opcode, record.content


class _Copy:
    """The file that is being written anew; ids of schemas and channels are translated."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._schemas: dict[int, int] = {0: 0}
        self._channels: dict[int, int] = {}
        self._ended = False

    def add(self, opcode: int, content: bytes) -> None:
        """Copy one record; raise `Damage` where it is not what it claims to be."""
        stream = ReadDataStream(BytesIO(content))
        try:
            if opcode == Opcode.HEADER:
                header = Header.read(stream)
                self._writer.start(profile=header.profile, library=header.library)
            elif opcode == Opcode.DATA_END:
                self._ended = True  # the summary that follows repeats schemas and channels
            elif not self._ended:
                self._add_data(opcode, content, stream)
        except PARSE_ERRORS as error:
            raise Damage(f"is damaged: {error or type(error).__name__}") from error
        except KeyError as error:
            raise Damage("is damaged: a record refers to one that is missing") from error

    def _add_data(self, opcode: int, content: bytes, stream: ReadDataStream) -> None:
        if opcode == Opcode.METADATA:
            metadata = Metadata.read(stream)
            self._writer.add_metadata(metadata.name, metadata.metadata)
        elif opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            if schema.id not in self._schemas:
                self._schemas[schema.id] = self._writer.register_schema(schema.name, schema.encoding, schema.data)
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(stream)
            if channel.id not in self._channels:
                self._channels[channel.id] = self._writer.register_channel(
                    channel.topic, channel.message_encoding, self._schemas[channel.schema_id], channel.metadata
                )
        elif opcode == Opcode.MESSAGE:
            message = Message.read(stream, len(content))
            self._writer.add_message(
                self._channels[message.channel_id],
                message.log_time,
                message.data,
                message.publish_time,
                message.sequence,
            )

    def finish(self) -> None:
        """Write the end."""
        self._writer.finish()  # type: ignore[no-untyped-call]
