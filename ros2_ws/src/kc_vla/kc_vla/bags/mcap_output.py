"""One .mcap file being written: topics declared at the start, messages added, chunks closed on demand.

Not thread-safe: `EpisodeBagWriter` calls it from its writing thread only.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mcap.writer import CompressionType, Writer

from kc_vla.bags.metadata import FileFacts, Tally, offered_profiles
from kc_vla.bags.schemas import Schema
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import EPISODE_RECORD, RecordedEpisodeInfo, TopicInfo


class RecordFile:
    """A new file that always ends after a whole record, also when the disk is full.

    The MCAP library hands over whole records; one that does not fit is taken back.
    """

    def __init__(self, path: Path) -> None:
        """Create `path`; raise OSError where it exists or cannot be created."""
        self._file = path.open("xb", buffering=0)

    def write(self, data: bytes) -> int:
        """Append `data` whole, or nothing of it and raise OSError."""
        start = self._file.tell()
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError:
            self._file.seek(start)
            self._file.truncate(start)
            raise
        return len(data)

    def tell(self) -> int:
        """Return the bytes written so far."""
        return self._file.tell()

    def flush(self) -> None:
        """Do nothing: every write has gone to the operating system already."""

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class McapOutput:
    """An MCAP file of serialized ROS 2 messages with zstd chunks."""

    storage = Storage.MCAP

    def __init__(
        self,
        path: Path,
        topics: Mapping[str, TopicInfo],
        schemas: Mapping[str, Schema],
        episode: RecordedEpisodeInfo | None,
        chunk_bytes: int,
    ) -> None:
        """Create the file `path` and write its head.

        Args:
            path: a file that does not exist yet.
            topics: what will be written, by topic name.
            schemas: schema by message type.
            episode: whose bag this is, if it is one's.
            chunk_bytes: a chunk is closed when it has grown beyond this.

        Raises:
            OSError: the file cannot be created or written.
        """
        self._file = RecordFile(path)
        self._writer = Writer(self._file, chunk_size=chunk_bytes, compression=CompressionType.ZSTD)  # type: ignore[arg-type]
        self._tally = Tally(path.name)
        self._channels: dict[str, int] = {}
        self._schema_ids: dict[str, int] = {}
        try:
            self._writer.start(
                profile="ros2", library="kc_vla" if episode is None else f"kc_vla {episode.stack_version}"
            )
            if episode is not None:
                self._writer.add_metadata(EPISODE_RECORD, episode.as_metadata())
            for topic, info in topics.items():
                self.declare(topic, info, schemas[info.type])
        except OSError:
            self._file.close()
            raise

    def declare(self, topic: str, info: TopicInfo, schema: Schema) -> None:
        """Announce a further topic; raise OSError where a chunk became full and could not be written."""
        if info.type not in self._schema_ids:
            self._schema_ids[info.type] = self._writer.register_schema(info.type, schema.encoding, schema.text.encode())
        self._channels[topic] = self._writer.register_channel(
            topic,
            "cdr",
            self._schema_ids[info.type],
            {"offered_qos_profiles": offered_profiles(info.qos), "topic_type_hash": schema.type_hash},
        )
        self._tally.declare(topic)

    def add(self, topic: str, data: bytes, publish_time_ns: int, log_time_ns: int) -> None:
        """Add one serialized message; raise OSError where a chunk became full and could not be written."""
        self._writer.add_message(
            self._channels[topic], log_time_ns, data, publish_time_ns, sequence=self._tally.count(topic)
        )
        self._tally.add(topic, log_time_ns)

    def flush(self) -> None:
        """Close the open chunk, so that its messages outlive this process; raise OSError if that fails."""
        self._writer.flush()  # type: ignore[no-untyped-call]

    def facts(self) -> FileFacts:
        """Return what was added so far."""
        return self._tally.facts()

    def finish(self, rosbag2_information: str) -> None:
        """Write the end of the file and close it.

        Args:
            rosbag2_information: the YAML that rosbag2 keeps inside the file as well as beside it.

        Raises:
            OSError: the end could not be written; the messages are readable nevertheless.
        """
        try:
            self._writer.flush()  # type: ignore[no-untyped-call]
            self._writer.add_metadata("rosbag2", {"serialized_metadata": rosbag2_information})
            self._writer.finish()  # type: ignore[no-untyped-call]
        finally:
            self._file.close()

    def abandon(self) -> None:
        """Close the file as it is, without an end."""
        self._file.close()
