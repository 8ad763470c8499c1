"""A message of a bag, and where it lies in its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

NO_CHUNK = -1


class MessageRef(NamedTuple):
    """Where a message is, without its bytes. A tuple, because a long bag has millions.

    Attributes:
        topic: its topic.
        type: its message type, e.g. "sensor_msgs/msg/Image".
        log_time_ns: when it was received, ns since the epoch.
        file: the file of the bag.
        chunk: MCAP: byte of the file at which the record of its chunk begins; `NO_CHUNK` where it lies in none.
        position: MCAP: byte at which its record begins, within the decompressed chunk or the file. SQLite: its row.
    """

    topic: str
    type: str
    log_time_ns: int
    file: Path
    chunk: int
    position: int


@dataclass(frozen=True, slots=True)
class BagMessage:
    """One message of a bag.

    Attributes:
        ref: where it is and when it was received.
        data: the serialized message (CDR with its 4-byte header).
        publish_time_ns: when it was published, ns since the epoch; the log time where the bag does not keep it.
    """

    ref: MessageRef
    data: bytes
    publish_time_ns: int

    @property
    def topic(self) -> str:
        """Return its topic."""
        return self.ref.topic
