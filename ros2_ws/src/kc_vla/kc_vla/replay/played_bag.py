"""A bag as it is played: which of its topics, under which names, and in which time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.errors import BagReadError, one_line
from kc_vla.bags.images import decode_image
from kc_vla.bags.joining_late import with_late_start
from kc_vla.bags.playback import Playback
from kc_vla.bags.reader import BagMessage, BagReader
from kc_vla.bags.schemas import collect_schema, same_definition
from kc_vla.bags.topics import Qos
from kc_vla.episodes.stamped_time import in_stamped_time

_COMPRESSED = "sensor_msgs/msg/CompressedImage"
_OURS = "kc_vla_msgs/"
_PACKED = "/compressed"


@dataclass(frozen=True)
class PlayedTopic:
    """A topic of a bag.

    Attributes:
        name: under which it is played.
        type: of its messages in the bag.
        qos: with which it was recorded.
        unpacked: whether its compressed images are played as raw ones.
    """

    name: str
    type: str
    qos: Qos
    unpacked: bool


class PlayedBag:
    """What a player does with one bag.

    Attributes:
        topics: those that are played, by their names in the bag; only such as have messages.
        left_out: of each topic that cannot be played, why.
    """

    def __init__(self, bag: str, chosen: str, decompress: bool) -> None:
        """Open the bag.

        Args:
            bag: folder or file.
            chosen: topics with commas between; empty for all.
            decompress: play compressed images as raw ones, on the topic without /compressed.

        Raises:
            BagError: it cannot be read, or lacks a topic that was chosen.
        """
        names = [name.strip() for name in chosen.split(",") if name.strip()]
        self._chosen = [name if name.startswith("/") else f"/{name}" for name in names] or None
        self._reader = BagReader(Path(bag).expanduser())
        recorded = {topic: found for topic, found in self._reader.topics().items() if found.count}
        if missing := sorted(set(self._chosen or ()) - recorded.keys()):
            has = ", ".join(sorted(recorded)) or "no message"
            raise BagReadError(one_line(f"{bag} has no {', '.join(missing)}: it has {has}"))
        self.topics: dict[str, PlayedTopic] = {}
        self.left_out: list[str] = []
        for topic in self._chosen or recorded:
            found = recorded[topic]
            if self._is_of_another_version(found.type):
                self.left_out.append(f"{topic} is not played: it was recorded with another version of {found.type}")
                continue
            unpacked = decompress and found.type == _COMPRESSED
            name = topic.removesuffix(_PACKED) if unpacked else topic
            self.topics[topic] = PlayedTopic(name, found.type, found.qos, unpacked)
        if self.left_out:
            self._chosen = list(self.topics)

    def _is_of_another_version(self, message_type: str) -> bool:
        """Return whether messages of ours have other fields in the bag than here: their bytes would be read wrongly."""
        if not message_type.startswith(_OURS):
            return False
        known = self._reader.schema(message_type)
        return known is not None and not same_definition(known, collect_schema(message_type))

    @property
    def damages(self) -> list[str]:
        """Return what of the bag could not be read so far, a line each."""
        return list(self._reader.damages)

    def begin(self, now: float, rate: float, start: float, loop: bool, stamped: Collection[str] | None) -> Playback:
        """Begin to play it.

        Args:
            now: s, of the caller's time, in which the playback counts.
            rate: times as fast as it was recorded.
            start: s of the bag that are left out.
            loop: begin again at its end, with what was left out.
            stamped: topics whose messages begin with a stamp, to play it in the time of these; None for the time in
                which it was recorded.

        Raises:
            BagError: it cannot be read, or there is nothing to play.
        """
        latched = [topic for topic, played in self.topics.items() if played.qos.transient_local]
        left_out = start

        def messages() -> Iterator[BagMessage]:
            nonlocal left_out
            if stamped is not None:
                return in_stamped_time(self._reader.messages(self._chosen), stamped)
            since, left_out = left_out, 0.0  # a loop begins with what was left out at first
            if since > 0.0:
                return with_late_start(self._reader, self._chosen, latched, since)
            return self._reader.messages(self._chosen)

        return Playback(messages, now, rate, start, loop, latched)

    def unpack(self, message: BagMessage) -> tuple[NDArray[np.uint8], Any]:
        """Return the image of a message that is played unpacked, (H, W, 3) RGB, and the header of that message.

        Raises:
            BagReadError: it cannot be read.
        """
        told = self._reader.decode(message)
        return decode_image(told, message.topic), told.header
