"""Records one bag per episode: opens it when an episode begins, closes it in the background, tells how it stands.

An episode's first messages may arrive before its announcement, on other topics. So what arrives between two episodes
is kept for a moment, bounded, and what is of the next episode goes into the bag that is opened for it; so does the
last word on a topic that tells how something stands, however old it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import NamedTuple

from kc_vla.bags.errors import BagBusyError, BagEmptyError, BagError, BagReadError, BagWriteError
from kc_vla.bags.lock import is_being_written
from kc_vla.bags.reader import BagReader, bag_files
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import RecordedEpisodeInfo, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter

BAG_FOLDER = "bag"
"""Name of the bag within the folder of its episode."""

_BEFORE_NS = 2_000_000_000
"""What came so long before the announcement, and was sent before it, belongs to no episode."""
_KEEP_NS = 10_000_000_000
"""An announcement may be so late: what its episode has said meanwhile is kept. A reliable writer repeats every 3 s."""
_KEEP_BYTES = 32 * 1024 * 1024


class RecorderState(StrEnum):
    """How a recording stands."""

    RECORDING = "recording"
    CLOSED = "closed"
    FAILED = "failed"
    ELSEWHERE = "elsewhere"
    """Another recorder has the bag of this episode: it is that one's to tell."""


@dataclass(frozen=True)
class RecorderStatus:
    """How the recording of an episode stands.

    Attributes:
        episode_id: the episode.
        bag: path of its bag folder.
        state: see `RecorderState`.
        messages: messages handed to the file so far.
        dropped: messages that found no room in the queue.
        error: empty, or why the recording failed.
    """

    episode_id: str
    bag: str
    state: RecorderState
    messages: int
    dropped: int
    error: str

    def as_dict(self) -> dict[str, str | int]:
        """Return the fields as plain values."""
        return {**asdict(self), "state": self.state.value}


class _Message(NamedTuple):
    topic: str
    data: bytes
    publish_ns: int
    log_ns: int


class EpisodeRecorder:
    """Turns a stream of serialized messages into one bag per episode. For one thread."""

    def __init__(
        self,
        output_folder: Path,
        topics: Mapping[str, TopicInfo],
        stack_version: str,
        storage: Storage = Storage.MCAP,
        views: Sequence[str] = (),
        standing: Collection[str] = (),
    ) -> None:
        """Set up; nothing is written yet.

        Args:
            output_folder: bags go to `output_folder/<episode id>/bag`.
            topics: every topic that will come, by its full name.
            stack_version: noted in each bag.
            storage: form of the bags.
            views: of the robot, the first of which counts the frames; noted in each bag.
            standing: those of the topics whose last word holds until the next one, also in the episodes after it.
        """
        self._output_folder = output_folder
        self._topics = dict(topics)
        self._version = stack_version
        self._storage = storage
        self._views = tuple(views)
        self._writer: EpisodeBagWriter | None = None
        self._closing: list[tuple[str, EpisodeBagWriter]] = []
        self._episode_id = ""
        self._between = True
        self._kept: deque[_Message] = deque()
        self._kept_bytes = 0
        self._standing: dict[str, _Message | None] = dict.fromkeys(standing)

    @property
    def recording(self) -> str:
        """Return the id of the episode that is being recorded; empty between episodes and after a failure."""
        return self._episode_id if self._writer is not None else ""

    def begin(self, episode_id: str, task: str, seed: int, instruction: str, begun_ns: int) -> RecorderStatus:
        """Open the bag of an episode, and close that of an earlier one.

        A bag of this very episode that is there already (a recorder was killed within it) is continued; one of an
        earlier run is left alone, and the new one is called bag-2, bag-3, ...
        """
        self.finish()
        self._episode_id, self._between = episode_id, False
        episode = RecordedEpisodeInfo(episode_id, task, seed, instruction, self._version, begun_ns, self._views)
        folder = self._output_folder / episode_id / BAG_FOLDER
        try:
            if not episode_id or PurePath(episode_id).name != episode_id or episode_id == "..":
                raise BagWriteError(f"episode id '{episode_id}' cannot name a folder: its episode is not recorded")
            folder = _choose_folder(folder, episode)
            self._writer = EpisodeBagWriter(folder, self._topics, episode, storage=self._storage, resume=True)
            for message in self._said_before(begun_ns):
                self._writer.write(*message)
        except BagError as error:
            self._writer = None
            state = RecorderState.ELSEWHERE if isinstance(error, BagBusyError) else RecorderState.FAILED
            return RecorderStatus(episode_id, str(folder), state, 0, 0, str(error))
        finally:
            self._forget_kept()
        return self._status_of(episode_id, self._writer, RecorderState.RECORDING)

    def adopt(self, episode_id: str) -> RecorderStatus | None:
        """Go on with the torn bag of an episode that ended while no recorder was there; None if there is none."""
        folder = self._output_folder / episode_id / BAG_FOLDER
        try:
            if not folder.is_dir() or is_being_written(folder):
                return None
            reader = BagReader(folder)
            for _ in reader.messages():
                pass
        except BagReadError:
            return None
        info = reader.episode
        if not reader.damages or info is None or info.episode_id != episode_id:
            return None
        return self.begin(info.episode_id, info.task, info.seed, info.instruction, info.begun_ns)

    def add(self, topic: str, data: bytes, publish_ns: int, log_ns: int) -> bool:
        """Take one message; times in ns since the epoch. Return False if it was dropped for want of room."""
        if topic in self._standing:
            self._standing[topic] = _Message(topic, data, publish_ns, log_ns)
        if self._between:
            self._keep(_Message(topic, data, publish_ns, log_ns))
        if self._writer is None or self._writer.ended:
            return True
        try:
            return self._writer.write(topic, data, publish_ns, log_ns)
        except BagWriteError:
            return True  # `poll` tells of it

    def expect_next(self) -> None:
        """Keep what arrives from now on for the next bag as well: this episode is over, its bag still open."""
        self._between = True

    def finish(self) -> None:
        """Begin to close the open bag, if there is one; `poll` returns when that is done."""
        self._between = True
        if self._writer is not None:
            self._writer.request_close()
            self._closing.append((self._episode_id, self._writer))
            self._writer = None

    def poll(self) -> list[RecorderStatus]:
        """Return the recordings that have ended since the last call, closed or failed."""
        if self._writer is not None and self._writer.ended:
            self._closing.append((self._episode_id, self._writer))
            self._writer = None
        ended = [entry for entry in self._closing if entry[1].ended]
        self._closing = [entry for entry in self._closing if not entry[1].ended]
        return [self._end_status(*entry) for entry in ended]

    def progress(self) -> RecorderStatus | None:
        """Return how the open recording stands; None where none is open."""
        if self._writer is None:
            return None
        return self._status_of(self._episode_id, self._writer, RecorderState.RECORDING)

    def close(self) -> list[RecorderStatus]:
        """Close everything and wait for it; return the recordings that ended."""
        self.finish()
        statuses = [self._end_status(*entry) for entry in self._closing]
        self._closing.clear()
        return statuses

    def _end_status(self, episode_id: str, writer: EpisodeBagWriter) -> RecorderStatus:
        try:
            writer.close()
        except BagWriteError as error:
            return self._status_of(episode_id, writer, RecorderState.FAILED, str(error))
        return self._status_of(episode_id, writer, RecorderState.CLOSED)

    @staticmethod
    def _status_of(episode_id: str, writer: EpisodeBagWriter, state: RecorderState, error: str = "") -> RecorderStatus:
        stats = writer.stats
        messages, dropped = sum(stats.written.values()), sum(stats.dropped.values())
        return RecorderStatus(episode_id, str(writer.folder), state, messages, dropped, error)

    def _said_before(self, begun_ns: int) -> list[_Message]:
        """Return what was published in the episode or just before it.

        First comes what still stands, as received when the bag begins.
        """
        since = self._kept[-1].log_ns - _BEFORE_NS if self._kept else 0
        said = [message for message in self._kept if message.log_ns >= since or message.publish_ns >= begun_ns]
        topics = {message.topic for message in said}
        begins = min((message.log_ns for message in said), default=begun_ns)
        stands = (message for topic, message in self._standing.items() if message is not None and topic not in topics)
        return [*(message._replace(log_ns=begins) for message in stands), *said]

    def _keep(self, message: _Message) -> None:
        self._kept.append(message)
        self._kept_bytes += len(message.data)
        while self._kept and (self._kept_bytes > _KEEP_BYTES or message.log_ns - self._kept[0].log_ns > _KEEP_NS):
            self._kept_bytes -= len(self._kept.popleft().data)

    def _forget_kept(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0


def _choose_folder(folder: Path, episode: RecordedEpisodeInfo) -> Path:
    """Return the first of folder, folder-2, folder-3 ... that is free or holds a bag of this very episode."""
    number, candidate = 1, folder
    while bag_files(candidate) and not _is_bag_of(candidate, episode):
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate


def _is_bag_of(folder: Path, episode: RecordedEpisodeInfo) -> bool:
    try:
        reader = BagReader(folder)
    except BagEmptyError:
        return True  # a recorder was killed before its first word
    next(reader.messages(), None)
    return reader.episode is not None and reader.episode.begun_ns == episode.begun_ns
