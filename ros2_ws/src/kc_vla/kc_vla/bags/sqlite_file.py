"""One SQLite file of a bag (rosbag2's `sqlite3` storage): read row by row, or a message at a time from anywhere.

Nothing in it is believed: not the types of its columns, not that its rows have an order, not that a table is one.
"""

from __future__ import annotations

import sqlite3
import struct
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.bags.errors import BagForeignError, Damage
from kc_vla.bags.messages import NO_CHUNK, BagMessage, MessageRef
from kc_vla.bags.metadata import noted_counts
from kc_vla.bags.records import is_one_bit_off, unpack_message
from kc_vla.bags.schemas import Schema, installed_schema
from kc_vla.bags.sqlite_opening import SqliteOpener, left_open
from kc_vla.bags.topics import EPISODE_RECORD, Contents, Qos, RecordedEpisodeInfo, RecordedTopic, offered

_HEAD_BYTES = 100
_MOST_FIELDS = 100
MAGIC = b"SQLite format 3\0"
_LATEST_NS = 2**63 - 1


@dataclass(frozen=True)
class _Topic:
    name: str
    type: str
    qos: Qos


class SqliteFile:
    """One SQLite file of a bag, which is never written.

    The file is open while it is read, and after the first `load`.

    Attributes:
        path: the file.
        episode: whose bag it is; None before reading, and where the file does not say.
        qos: what each topic was offered with, as far as the file has been read.
    """

    def __init__(self, path: Path) -> None:
        """Look at the head of `path`.

        Raises:
            BagForeignError: it is no SQLite file.
            OSError: it cannot be read.
        """
        self.path = path
        self.episode: RecordedEpisodeInfo | None = None
        self.qos: dict[str, Qos] = {}
        self._opener = SqliteOpener(path)
        self._lock = threading.Lock()
        self._loader: tuple[sqlite3.Connection, dict[int, _Topic]] | None = None
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
        if head != MAGIC[: len(head)] and not is_one_bit_off(head, MAGIC):
            raise BagForeignError(f"{path} is no SQLite file: give a bag recorded with rosbag2 or kc-vla")

    def messages(self, topics: Collection[str] | None, since_ns: int = 0) -> Iterator[BagMessage]:
        """Yield the messages of `topics` (all: None) that came at `since_ns` or later, in the order of recording.

        Raises:
            Damage: the file can be read no further.
            OSError: nor can the disk.
        """
        with closing(self._opener.open()) as bag:
            known = self._topics(bag)
            count = row = 0
            for row, topic, time_ns, data in self._rows(bag, known, topics, data=True, since_ns=since_ns):
                count += 1
                yield self._message(MessageRef(topic.name, topic.type, time_ns, self.path, NO_CHUNK, row), data)
            if topics is None and not since_ns and row != count:  # else every number was there
                _check_count(bag, count)
        if unfinished := self._unfinished():
            raise Damage(unfinished)

    def contents(self) -> Contents | None:
        """Return what is in the file; None where it is torn.

        Raises:
            Damage: it contradicts itself.
            OSError: it cannot be read.
        """
        if self._unfinished():
            return None
        with closing(self._opener.open()) as bag:
            known = self._topics(bag)
            counts = {topic.name: 0 for topic in known.values()}
            first, last = _LATEST_NS, 0
            for _, topic, time_ns, _ in self._rows(bag, known, None, data=False):
                counts[topic.name] += 1
                first, last = min(first, time_ns), max(last, time_ns)
        topics = {topic.name: RecordedTopic(topic.type, topic.qos, counts[topic.name]) for topic in known.values()}
        return Contents(topics, min(first, last), last)

    def index(self, topics: Collection[str] | None) -> dict[str, list[MessageRef]] | None:
        """Return where the messages of `topics` (all: None) are, in order of recording; None where it is torn.

        Raises:
            Damage: it contradicts itself.
            OSError: it cannot be read.
        """
        if self._unfinished():
            return None
        with closing(self._opener.open()) as bag:
            known = self._topics(bag)
            refs: dict[str, list[MessageRef]] = {
                topic.name: [] for topic in known.values() if topics is None or topic.name in topics
            }
            for row, topic, time_ns, _ in self._rows(bag, known, topics, data=False):
                refs[topic.name].append(MessageRef(topic.name, topic.type, time_ns, self.path, NO_CHUNK, row))
        return refs

    def load(self, ref: MessageRef) -> BagMessage:
        """Return the message at `ref`.

        Raises:
            Damage: something else is there.
            OSError: the file cannot be read.
        """
        with self._lock:
            if self._loader is None:
                bag = self._opener.open()
                self._loader = bag, self._topics(bag)
            bag, known = self._loader
            query = "SELECT rowid, topic_id, timestamp, data FROM messages WHERE rowid = ?"
            row = next(_fetched(bag, query, [ref.position]), None)
        if row is None or not isinstance(row[3], bytes):
            raise Damage(f"has no message {ref.position}")
        topic = known.get(row[1])
        if topic is None or topic.name != ref.topic or row[2] != ref.log_time_ns:
            raise Damage(f"has another message {ref.position}")
        return self._message(ref, row[3])

    def schema(self, message_type: str) -> Schema | None:
        """Return the definition of a type: from the file, or as it is installed here; None where there is none.

        Raises:
            Damage: the file cannot be read.
            OSError: nor can the disk.
        """
        with closing(self._opener.open()) as bag:
            columns = ("topic_type", "encoding", "encoded_message_definition", "type_description_hash")
            if _columns(bag, "message_definitions") >= set(columns):
                query = f"SELECT {', '.join(columns)} FROM message_definitions WHERE topic_type = ? LIMIT 1"
                for kind, encoding, text, type_hash in _fetched(bag, query, [message_type]):
                    if not all(isinstance(value, str) for value in (kind, encoding, text, type_hash)):
                        raise Damage(f"is damaged: the definition of {message_type} is no text")
                    if text:
                        return Schema(kind, text, type_hash, encoding)
        return installed_schema(message_type)

    def _unfinished(self) -> str:
        """Return why there may have been more than can be read; "" for a file that is whole as far as its head says."""
        if left_open(self.path):
            return "was never closed"
        with self.path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        if len(head) < _HEAD_BYTES:
            return "is cut off in its first bytes"
        (page_bytes,) = struct.unpack_from(">H", head, 16)
        (pages,) = struct.unpack_from(">I", head, 28)
        size = self.path.stat().st_size
        claimed = pages * (65536 if page_bytes == 1 else page_bytes)
        return f"is cut off: it has {size} of {claimed} bytes" if claimed > size and head[24:28] == head[92:96] else ""

    def _topics(self, bag: sqlite3.Connection) -> dict[int, _Topic]:
        """Return the topics by their number, and learn from them and from the metadata."""
        for table, columns in (
            ("topics", {"id", "name", "type"}),
            ("messages", {"id", "topic_id", "timestamp", "data"}),
        ):
            if missing := columns - _columns(bag, table):
                raise Damage(f"is no bag of rosbag2: its table '{table}' has no {', '.join(sorted(missing))}")
        qos = "offered_qos_profiles" if "offered_qos_profiles" in _columns(bag, "topics") else "''"
        known: dict[int, _Topic] = {}
        for number, name, kind, profiles in _fetched(bag, f"SELECT id, name, type, {qos} FROM topics"):
            if not (isinstance(number, int) and isinstance(name, str) and isinstance(kind, str)):
                raise Damage("is damaged: a topic without name or type")
            known[number] = _Topic(name, kind, offered(profiles if isinstance(profiles, str) else ""))
            self.qos.setdefault(name, known[number].qos)
        if self.episode is None:
            self.episode = _episode(bag)
        return known

    def _rows(
        self,
        bag: sqlite3.Connection,
        known: dict[int, _Topic],
        topics: Collection[str] | None,
        *,
        data: bool,
        since_ns: int = 0,
    ) -> Iterator[tuple[int, _Topic, int, bytes]]:
        """Yield row, topic, time in ns and, if asked for, data of the messages, in the order of the rows."""
        query = f"SELECT rowid, topic_id, timestamp, {'data' if data else 'NULL'} FROM messages"
        values: list[int] = []
        conditions: list[str] = []
        if topics is not None:
            values += [number for number, topic in known.items() if topic.name in topics]
            conditions.append(f"topic_id IN ({', '.join('?' * len(values))})")
        if since_ns:
            values.append(since_ns)
            conditions.append("timestamp >= ?")
        if conditions:
            query += f" WHERE {' AND '.join(conditions)}"
        last = -(2**63) - 1
        for row, number, time_ns, content in _fetched(bag, f"{query} ORDER BY rowid", values):
            if not isinstance(row, int) or row <= last:
                raise Damage(f"is damaged: message {row!r} after message {last}")
            last = row
            topic = known.get(number) if isinstance(number, int) else None
            if topic is None:
                raise Damage(f"is damaged: message {row} is of an unknown topic")
            if not isinstance(time_ns, int) or time_ns < 0:
                raise Damage(f"is damaged: the time of message {row} is {str(time_ns)[:40]}")
            if data and not isinstance(content, bytes):
                raise Damage(f"is damaged: the data of message {row} are no bytes")
            yield row, topic, time_ns, content or b""

    def _message(self, ref: MessageRef, data: bytes) -> BagMessage:
        return BagMessage(ref, unpack_message(data, f"message {ref.position}"), ref.log_time_ns)


def _check_count(bag: sqlite3.Connection, count: int) -> None:
    """Raise unless `count`, all messages that were found, is what the metadata in the file say, if they do."""
    if "metadata" in _columns(bag, "metadata"):
        for (text,) in _fetched(bag, "SELECT metadata FROM metadata ORDER BY rowid DESC LIMIT 1"):
            noted = noted_counts(text) if isinstance(text, str) else None
            if noted is not None and sum(noted.values()) != count:
                raise Damage(f"is damaged: its metadata count {sum(noted.values())} messages")


def _columns(bag: sqlite3.Connection, table: str) -> set[str]:
    """Return the names of the columns of `table`; none where it is no ordinary table."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql NOT LIKE 'create virtual%'"
    if not list(_fetched(bag, query, [table])):
        return set()
    return {
        name for name, hidden in _fetched(bag, "SELECT name, hidden FROM pragma_table_xinfo(?)", [table]) if not hidden
    }


def _fetched(bag: sqlite3.Connection, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query; what SQLite cannot read is a `Damage`."""
    try:
        yield from bag.execute(query, values)
    except (sqlite3.Error, OverflowError, MemoryError) as error:
        raise Damage(f"is damaged: {error or type(error).__name__}") from error


def _episode(bag: sqlite3.Connection) -> RecordedEpisodeInfo | None:
    """Return what the table of our own says; it lies at the front, where a file that is cut off still has it."""
    if not _columns(bag, EPISODE_RECORD) >= {"name", "value"}:
        return None
    try:
        rows = _fetched(bag, f"SELECT name, value FROM {EPISODE_RECORD} LIMIT {_MOST_FIELDS}")
        return RecordedEpisodeInfo.from_metadata({str(name): str(value) for name, value in rows})
    except Damage:
        return None  # the messages may be well nevertheless
