"""One SQLite file being written as rosbag2 does it (schema version 4); what was committed outlives this process.

Not thread-safe: `EpisodeBagWriter` calls it from its writing thread only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from kc_vla.bags.metadata import VERSION, FileFacts, Tally, offered_profiles
from kc_vla.bags.schemas import Schema
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import EPISODE_RECORD, RecordedEpisodeInfo, TopicInfo

_TABLES = """
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
    serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL, type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL,
    encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
    data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
INSERT INTO schema VALUES (4, 'jazzy');
"""


class SqliteOutput:
    """A SQLite file of serialized ROS 2 messages."""

    storage = Storage.SQLITE3

    def __init__(
        self,
        path: Path,
        topics: Mapping[str, TopicInfo],
        schemas: Mapping[str, Schema],
        episode: RecordedEpisodeInfo | None,
    ) -> None:
        """Create the file `path` and write its tables.

        Args:
            path: a file that does not exist yet.
            topics: what will be written, by topic name.
            schemas: schema by message type.
            episode: whose bag this is, if it is one's.

        Raises:
            OSError: the file cannot be created or written.
        """
        self._tally = Tally(path.name)
        self._numbers: dict[str, int] = {}
        self._defined: set[str] = set()
        path.touch(exist_ok=False)
        with _os_errors():
            self._bag = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            with _os_errors():
                # Readers see what was committed while this process writes, and after it was killed.
                self._bag.execute("PRAGMA journal_mode = WAL")
                self._bag.execute("PRAGMA synchronous = NORMAL")
                self._bag.executescript(f"BEGIN; {_TABLES} COMMIT;")
                if episode is not None:
                    self._bag.execute(f"CREATE TABLE {EPISODE_RECORD}(name TEXT NOT NULL, value TEXT NOT NULL)")
                    fields = episode.as_metadata().items()
                    self._bag.executemany(f"INSERT INTO {EPISODE_RECORD} VALUES (?, ?)", fields)
                for topic, info in topics.items():
                    self.declare(topic, info, schemas[info.type])
        except OSError:
            self._bag.close()
            raise

    def declare(self, topic: str, info: TopicInfo, schema: Schema) -> None:
        """Announce a further topic; raise OSError where that could not be written."""
        with _os_errors():
            if info.type not in self._defined:
                self._defined.add(info.type)
                self._bag.execute(
                    "INSERT INTO message_definitions VALUES (NULL, ?, ?, ?, ?)",
                    (info.type, schema.encoding, schema.text, schema.type_hash),
                )
            number = self._numbers[topic] = len(self._numbers) + 1
            self._tally.declare(topic)
            self._bag.execute(
                "INSERT INTO topics VALUES (?, ?, ?, 'cdr', ?, ?)",
                (number, topic, info.type, offered_profiles(info.qos), schema.type_hash),
            )

    def add(self, topic: str, data: bytes, publish_time_ns: int, log_time_ns: int) -> None:
        """Add one serialized message; raise OSError where the disk refuses. `publish_time_ns` has no place there."""
        with _os_errors():
            if not self._bag.in_transaction:
                self._bag.execute("BEGIN")
            self._bag.execute("INSERT INTO messages VALUES (NULL, ?, ?, ?)", (self._numbers[topic], log_time_ns, data))
        self._tally.add(topic, log_time_ns)

    def flush(self) -> None:
        """Commit, so that what was added outlives this process; raise OSError if that fails."""
        with _os_errors():
            if self._bag.in_transaction:
                self._bag.execute("COMMIT")

    def facts(self) -> FileFacts:
        """Return what was added so far."""
        return self._tally.facts()

    def finish(self, rosbag2_information: str) -> None:
        """Write the metadata and close the file, so that it is one file again.

        Args:
            rosbag2_information: the YAML that rosbag2 keeps inside the file as well as beside it.

        Raises:
            OSError: the end could not be written; the messages are readable nevertheless.
        """
        try:
            self.flush()
            with _os_errors():
                self._bag.execute("INSERT INTO metadata VALUES (NULL, ?, ?)", (VERSION, rosbag2_information))
                close_journal(self._bag)
        finally:
            self._bag.close()

    def abandon(self) -> None:
        """Close the file as it is, without an end."""
        with suppress(sqlite3.Error):
            if self._bag.in_transaction:
                self._bag.execute("ROLLBACK")
        self._bag.close()


def close_journal(bag: sqlite3.Connection) -> None:
    """Bring everything into the one file, whatever journal it had; raise sqlite3.Error where that fails."""
    (busy, *_) = bag.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    (mode,) = bag.execute("PRAGMA journal_mode = DELETE").fetchone()
    if busy or mode != "delete":
        raise sqlite3.OperationalError("another process has the file open: close it")


@contextmanager
def _os_errors() -> Iterator[None]:
    """Raise what SQLite finds wrong with the disk as errors of the operating system."""
    try:
        yield
    except (sqlite3.Error, OverflowError) as error:
        raise OSError(str(error)) from error
