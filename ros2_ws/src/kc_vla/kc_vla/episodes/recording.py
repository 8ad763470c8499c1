"""The bag of an episode, read by our names: images by view, all else, decoded when it is asked for."""

from __future__ import annotations

import struct
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.images import decode_image
from kc_vla.bags.messages import BagMessage, MessageRef
from kc_vla.bags.reader import BagReader
from kc_vla.bags.topics import RecordedEpisodeInfo
from kc_vla.core.alignment import Times, nearest_within
from kc_vla.core.stamps import nanoseconds
from kc_vla.core.topics import picture_topics, view_on
from kc_vla.core.views import DEFAULT_VIEWS, can_be_view
from kc_vla.episodes.episode_data import RecordedStatus

T = TypeVar("T")
_PICTURES = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")
RUNNING = 1
_CACHE_BYTES = 32 * 1024 * 1024
"""Bytes of decompressed chunks that each open bag keeps, those around the present frame."""


class Recording:
    """An open bag, in which topics are found by their names in any namespace.

    If several topics end with a name, as with a second arm in its own namespace, the shortest one counts. Several
    threads may call all methods, except `walk` and `messages` of a bag that is opened without its index.

    Attributes:
        bag: where it is.
        damages: one line for each torn file.
        counts: messages by topic.
    """

    def __init__(self, bag: Path, by_index: bool = False) -> None:
        """Open `bag`, a bag folder, an .mcap or a .db3 file.

        Args:
            bag: where it is.
            by_index: nothing is read before it is asked for, and a damage is met only then. Otherwise the bag is read
                up to its first damage, and what can be asked for is what lies before.

        Raises:
            BagError: it cannot be read.
        """
        self.bag = bag
        self.damages: tuple[str, ...] = ()
        self.counts: dict[str, int] = {}
        self._reader = BagReader(bag, _CACHE_BYTES)
        self._lock = threading.Lock()
        self._refs: dict[str, list[MessageRef]] = {}  # by index of all topics, else of pictures alone
        self._stamps: dict[MessageRef, int] = {}
        self._by_index = self._known = by_index
        self._views: tuple[str, ...] | None = None
        if by_index:
            self._refs = {topic: refs for topic, refs in self._reader.index().items() if refs}
            self.counts = {topic: len(refs) for topic, refs in self._refs.items()}
            self.damages = tuple(self._reader.damages)

    @property
    def info(self) -> RecordedEpisodeInfo | None:
        """Return what the bag says of itself; None where it does not."""
        return self._reader.episode

    @property
    def views(self) -> tuple[str, ...]:
        """Return the names of the robot's views.

        The images of the first are the frames, those of the others lie beside them.

        Where the bag does not say, as one from before it did or one of another stack: the usual ones if it has images
        of any, otherwise those on topics called `<view>/image_raw`, by name.
        """
        if self._views is None:
            self._look_through()
            found = sorted({view_on(topic) for topic, refs in self._refs.items() if refs[0].type in _PICTURES} - {""})
            usual = any(view in found for view in DEFAULT_VIEWS) or not found
            told = self.info.views if self.info is not None and all(map(can_be_view, self.info.views)) else ()
            self._views = told or (DEFAULT_VIEWS if usual else tuple(found))
        return self._views

    def walk(self, *names: str) -> Iterator[tuple[str, Any]]:
        """Go through the bag; the name and the decoded message of what is on *all* topics called by one of `names`.

        At the end it is known what there is, and when the images were taken, without a second look at them.

        Raises:
            BagReadError: the bag, or a message on these topics, cannot be read.
        """
        self.counts, self._refs, self._views = {}, {}, None
        called, shown = dict[str, str](), dict[str, bool]()
        for message in self._reader.messages():
            topic = message.topic
            if topic not in called:
                called[topic] = next((name for name in names if is_topic(topic, name)), "")
                shown[topic] = bool(view_on(topic)) and message.ref.type in _PICTURES
            self.counts[topic] = self.counts.get(topic, 0) + 1
            if shown[topic]:
                self._refs.setdefault(topic, []).append(message.ref)
                self._stamps[message.ref] = header_stamp_ns(message)
            elif called[topic]:
                yield called[topic], self._reader.decode(message)
        self.damages, self._known = tuple(self._reader.damages), True

    def topic(self, name: str) -> str:
        """Return the full name of the topic called so; empty for none."""
        self._look_through()
        return min((topic for topic in self.counts if is_topic(topic, name)), key=len, default="")

    def _look_through(self) -> None:
        if not self._known:
            for _ in self.walk():
                pass

    def refs(self, name: str) -> list[MessageRef]:
        """Return where the messages called so are, in order of recording; without an index only those of images."""
        topic = self.topic(name)
        return self._refs.get(topic, [])

    def pictures(self, view: str) -> list[MessageRef]:
        """Return where the images of a view are, in order of recording."""
        return next((refs for name in picture_topics(view) if (refs := self.refs(name))), [])

    def messages(self, *names: str) -> Iterator[tuple[str, Any]]:
        """Yield the name and the decoded message of what is called so.

        They come in order of recording, or by an index name by name.

        Raises:
            BagReadError: one cannot be read.
        """
        if self._by_index:
            yield from ((name, self.message(ref)) for name in names for ref in self.refs(name))
            return
        topics = {topic: name for name in names if (topic := self.topic(name))}
        for message in self._reader.messages(list(topics)) if topics else ():
            yield topics[message.topic], self._reader.decode(message)

    def message(self, ref: MessageRef) -> Any:
        """Return the decoded message there.

        Raises:
            BagReadError: it cannot be read.
        """
        with self._lock:
            return self._reader.decode(self._reader.load(ref))

    def image(self, ref: MessageRef) -> NDArray[np.uint8]:
        """Return an image as (H, W, 3) RGB.

        Raises:
            BagReadError: its encoding is unknown, its bytes do not fit its size, or it is compressed and cut off.
        """
        return decode_image(self.message(ref), ref.topic)

    def stamp_ns(self, ref: MessageRef) -> int:
        """Return the stamp of the header of a message, ns of ROS time; errors as `message`."""
        if ref not in self._stamps:
            with self._lock:
                self._stamps[ref] = header_stamp_ns(self._reader.load(ref))
        return self._stamps[ref]


def announced(told: Sequence[Any], info: RecordedEpisodeInfo | None) -> RecordedStatus | None:
    """Return the episode that messages of episode/status announce: the bag's own, else the last; None for none."""
    running = [m for m in told if m.state == RUNNING and (info is None or m.episode_id == info.episode_id)]
    if not running:
        return None
    m = running[-1]
    return RecordedStatus(
        m.episode_id, m.task, m.variant, m.instruction, m.seed, nanoseconds(m.start_time), m.frame_period
    )


def require_one(bag: Path, episode_ids: Sequence[str], do: str) -> None:
    """Check that a bag holds one episode, as a merged bag does not.

    Raises:
        BagReadError: it holds the several that `episode_ids` names; the message says to `do` it with the bag of each.
    """
    if len(episode_ids) > 1:
        raise BagReadError(f"{bag} holds {len(episode_ids)} episodes, {', '.join(episode_ids)}: {do} the bag of each")


def within(frames: Sequence[T], stamp: Callable[[T], int], begin_ns: int, end_ns: int | None) -> Sequence[T]:
    """Return those of `frames`, of ascending stamps, from `begin_ns` to `end_ns`; few stamps are looked at."""
    end = len(frames) if end_ns is None else bisect_left(frames, end_ns + 1, key=stamp)
    return frames[bisect_left(frames, begin_ns, key=stamp) : end]


def beside(times: Times, own: Sequence[tuple[int, T]], within_ns: int) -> list[T | None]:
    """Return for each of `times` (T,), ns, the nearest of `own` by its time; None where none is `within_ns`.

    The times of `own` are ascending.
    """
    found = nearest_within(times, np.array([time for time, _ in own], np.int64), within_ns)
    return [None if at is None else own[at][1] for at in found]


def is_topic(topic: str, name: str) -> bool:
    """Return whether the full `topic` is the relative `name` in any namespace."""
    return topic == name or topic.endswith("/" + name)


def header_stamp_ns(message: BagMessage) -> int:
    """Return the stamp of a message that begins with a header, without decoding the rest."""
    data = message.data
    if len(data) < 12:
        raise BagReadError(f"{message.ref.file}: a message on {message.topic} is too short")
    sec, nanosec = struct.unpack_from("<iI" if data[1] & 1 else ">iI", data, 4)
    return int(sec) * 1_000_000_000 + int(nanosec)
