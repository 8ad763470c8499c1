"""Writes an episode: a bag in rosbag2's form, MCAP or SQLite, safe against a crash and never in the caller's way.

Messages go through a bounded queue to a thread of its own, because a chunk takes milliseconds to compress and
a disk may stall for seconds, while the caller serves callbacks. A full queue drops messages and counts them;
large ones (images) are refused first, so that events, commands and results still find room.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kc_vla.bags.errors import BagReadError, BagWriteError
from kc_vla.bags.lock import BagLock
from kc_vla.bags.metadata import FileFacts, bag_information, to_yaml, write_metadata
from kc_vla.bags.outputs import create_output
from kc_vla.bags.reader import bag_files
from kc_vla.bags.repair import repair_file
from kc_vla.bags.schemas import Schema, collect_schema
from kc_vla.bags.storage import Storage, storage_of
from kc_vla.bags.topics import RecordedEpisodeInfo, TopicInfo

_LARGE_BYTES = 16 * 1024
_RESERVED_FOR_SMALL = 0.25
_OVERHEAD_BYTES = 200  # of a queued message in this process; keeps a flood of empty messages bounded as well


@dataclass(frozen=True)
class WriterStats:
    """How far the writing has come.

    Attributes:
        written: messages handed to the file, by topic.
        dropped: messages refused because the queue was full, by topic.
    """

    written: Mapping[str, int]
    dropped: Mapping[str, int]


class _Queued(NamedTuple):
    topic: str
    data: bytes
    publish_time_ns: int
    log_time_ns: int


class _Declared(NamedTuple):
    topic: str
    info: TopicInfo
    schema: Schema


_CLOSED = _Queued("", b"", 0, 0)
"""Stands for the end of the queue."""


class EpisodeBagWriter:
    """One bag folder with a file and, once closed, `metadata.yaml`.

    A process that is killed loses at most the last `flush_period_s` of messages.
    """

    def __init__(
        self,
        folder: Path,
        topics: Mapping[str, TopicInfo],
        episode: RecordedEpisodeInfo | None,
        *,
        storage: Storage = Storage.MCAP,
        flush_period_s: float = 1.0,
        chunk_bytes: int = 2 * 1024 * 1024,
        queue_bytes: int = 64 * 1024 * 1024,
        resume: bool = False,
    ) -> None:
        """Create the bag.

        Args:
            folder: the bag folder; made if missing.
            topics: the topics that will be written, by their full names; `declare` adds to them.
            episode: whose bag this is, if it is one's; written into it.
            storage: form of the file.
            flush_period_s: a message is in the file at most this much later, in s.
            chunk_bytes: size of a chunk of an MCAP file before compression, in bytes.
            queue_bytes: bound of the messages that wait for the disk, in bytes.
            resume: the folder may hold files of this episode already, from a process that was killed. They are
                repaired and kept, and a further file of the same storage is added.

        Raises:
            BagBusyError: another process writes a bag in the folder.
            BagWriteError: the folder holds a bag (and not `resume`), cannot be written, or a message type is not
                installed.
        """
        self._folder = folder
        self._topics = dict(topics)
        self._episode = episode
        self._flush_period_s = flush_period_s
        self._queue_bytes = queue_bytes
        self._schemas: dict[str, Schema] = {t.type: collect_schema(t.type) for t in topics.values()}
        self._queue: deque[_Queued | _Declared] = deque()
        self._queued_bytes = 0
        self._dropped = dict.fromkeys(topics, 0)
        self._error: BagWriteError | None = None
        self._closing = False
        self._wake = threading.Condition()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = BagLock(folder)
            try:
                self._earlier = self._mend_earlier(resume)
                if self._earlier:
                    storage = storage_of(Path(self._earlier[-1].name))
                path = self._free_path(storage)
                self._output = create_output(storage, path, topics, self._schemas, episode, chunk_bytes)
            except BaseException:
                self._lock.release()
                raise
        except OSError as error:
            raise self._describe(error) from error
        self._thread = threading.Thread(target=self._run, name="bag-writer", daemon=True)
        self._thread.start()

    @property
    def folder(self) -> Path:
        """Return the bag folder."""
        return self._folder

    @property
    def stats(self) -> WriterStats:
        """Return the counts of written and dropped messages so far."""
        return WriterStats(dict(self._output.facts().counts), dict(self._dropped))

    def declare(self, topic: str, info: TopicInfo) -> None:
        """Add a topic by its full name.

        Raises:
            BagWriteError: an earlier message could not be written, the bag is closed, or the type is not installed.
        """
        schema = self._schemas.get(info.type) or collect_schema(info.type)
        with self._wake:
            self._check_open()
            if topic not in self._topics:
                self._topics[topic], self._schemas[info.type] = info, schema
                self._dropped[topic] = 0
                self._queue.append(_Declared(topic, info, schema))
                self._wake.notify()

    def write(self, topic: str, serialized_cdr: bytes, publish_time_ns: int, log_time_ns: int) -> bool:
        """Queue one message and return at once.

        Args:
            topic: one of the topics given at the start.
            serialized_cdr: the message as it travels, with its 4-byte CDR header.
            publish_time_ns: when it was published, ns since the epoch.
            log_time_ns: when it was received, ns since the epoch.

        Returns:
            False where the queue is full and the message was dropped (and counted).

        Raises:
            BagWriteError: an earlier message could not be written, or the bag is closed.
            KeyError: the topic was not declared.
        """
        if topic not in self._topics:
            raise KeyError(f"topic {topic} was not declared for the bag {self._folder}")
        size = len(serialized_cdr) + _OVERHEAD_BYTES
        with self._wake:
            self._check_open()
            bound = self._queue_bytes * (1 - _RESERVED_FOR_SMALL if size > _LARGE_BYTES else 1)
            if self._queued_bytes and self._queued_bytes + size > bound:  # one that fits nowhere goes alone
                self._dropped[topic] += 1
                return False
            self._queue.append(_Queued(topic, bytes(serialized_cdr), publish_time_ns, log_time_ns))
            self._queued_bytes += size
            self._wake.notify()
        return True

    @property
    def ended(self) -> bool:
        """Return whether nothing more will be written: closed, or failed."""
        return not self._thread.is_alive()

    def request_close(self) -> None:
        """Begin to close and return at once; `ended` says when that is done, `close` how it went."""
        with self._wake:
            self._closing = True
            self._wake.notify()

    def close(self, timeout_s: float = 30.0) -> WriterStats:
        """Write what is queued, end the file, write metadata.yaml. Closing twice does no harm.

        Raises:
            BagWriteError: something could not be written; what was written before stays readable.
        """
        self.request_close()
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise BagWriteError(
                f"the bag {self._folder} did not close within {timeout_s:g} s: the disk does not answer"
            )
        if self._error is not None:
            raise self._error
        return self.stats

    def _run(self) -> None:
        """Write queued messages until the bag is closed, then its end; or until the disk refuses."""
        flush_at: float | None = None  # when the oldest message of the open chunk has waited long enough
        try:
            while (message := self._take(flush_at)) is not _CLOSED:
                if isinstance(message, _Declared):
                    self._output.declare(*message)
                elif message is not None:
                    self._output.add(*message)
                    flush_at = flush_at or time.monotonic() + self._flush_period_s
                if flush_at is not None and time.monotonic() >= flush_at:
                    self._output.flush()
                    flush_at = None
            self._finish()
        except OSError as error:
            self._output.abandon()
            with self._wake:
                self._error = self._describe(error)
                self._queue.clear()
        finally:
            self._lock.release()

    def _take(self, deadline: float | None) -> _Queued | _Declared | None:
        """Wait for a message or a topic until `deadline` (monotonic, s), else return None; `_CLOSED` at the end."""
        with self._wake:
            while not self._queue:
                if self._closing:
                    return _CLOSED
                if not self._wake.wait(None if deadline is None else max(0.0, deadline - time.monotonic())):
                    return None
            message = self._queue.popleft()
            if isinstance(message, _Queued):
                self._queued_bytes -= len(message.data) + _OVERHEAD_BYTES
            return message

    def _check_open(self) -> None:
        if self._error is not None:
            raise self._error
        if self._closing:
            raise BagWriteError(f"the bag {self._folder} is closed: nothing can be added")

    def _mend_earlier(self, resume: bool) -> list[FileFacts]:
        """Return the facts of the files that an earlier process left, each made whole."""
        paths = bag_files(self._folder)
        if paths and not resume:
            raise BagWriteError(f"{self._folder} holds a bag already: choose another folder")
        kept = []
        for path in paths:
            try:
                facts = repair_file(path).facts
            except BagReadError as error:
                raise BagWriteError(f"cannot go on with the bag {self._folder}: {error}") from error
            if facts.messages:
                kept.append(facts)
            else:
                path.unlink()
        return kept

    def _free_path(self, storage: Storage) -> Path:
        number = len(self._earlier)
        while (path := self._folder / f"{self._folder.name}_{number}{storage.suffix}").exists():
            number += 1
        return path

    def _finish(self) -> None:
        hashes = {name: schema.type_hash for name, schema in self._schemas.items()}
        files = [*self._earlier, self._output.facts()]
        custom_data = {} if self._episode is None else self._episode.as_metadata()
        information = bag_information(files, self._topics, hashes, custom_data, self._output.storage)
        self._output.finish(to_yaml(information))
        write_metadata(self._folder, information)

    def _describe(self, error: OSError) -> BagWriteError:
        why = os.strerror(error.errno) if error.errno else str(error)
        return BagWriteError(
            f"cannot write the bag {self._folder}: {why}; free space or choose another output folder "
            "(what was written before stays readable)"
        )
