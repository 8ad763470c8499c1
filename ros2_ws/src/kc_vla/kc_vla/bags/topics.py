"""What a bag notes about each topic, in the words of rosbag2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from kc_vla.core import untrusted

EPISODE_RECORD = "kc_vla"
"""Name of the metadata record of an MCAP file, or of the table of a SQLite file, that says whose bag it is."""

# rosbag2's way of writing "no limit": the largest number of nanoseconds in 64 bits.
_UNLIMITED = {"sec": 9223372036, "nsec": 854775807}
_BEST_EFFORT, _TRANSIENT_LOCAL = ("best_effort", 2), ("transient_local", 1)
"""In words, and as older versions of rosbag2 write them."""
_MOST_DEPTH = 1000


@dataclass(frozen=True)
class Qos:
    """The quality of service that a topic was offered with, as far as a player has to know it.

    Attributes:
        reliable: every message arrives; otherwise best effort.
        transient_local: a late subscriber gets the last `depth` messages; otherwise volatile.
        depth: messages kept (history: keep last).
    """

    reliable: bool = True
    transient_local: bool = False
    depth: int = 10

    def profile(self) -> dict[str, Any]:
        """Return the entry that rosbag2 writes (metadata version 9)."""
        return {
            "history": "keep_last",
            "depth": self.depth,
            "reliability": "reliable" if self.reliable else "best_effort",
            "durability": "transient_local" if self.transient_local else "volatile",
            "deadline": dict(_UNLIMITED),
            "lifespan": dict(_UNLIMITED),
            "liveliness": "automatic",
            "liveliness_lease_duration": dict(_UNLIMITED),
            "avoid_ros_namespace_conventions": False,
        }


def parsed_yaml(text: str) -> Any:
    """Return what the YAML of a bag says; None where it is none, or longer than any that is needed."""
    try:
        return untrusted.parsed_yaml(text, aliases=True)
    except ValueError:
        return None


@lru_cache(maxsize=64)  # most topics of a bag say the same, and YAML takes milliseconds
def offered(profiles: str) -> Qos:
    """Return the first quality of service in a channel's `offered_qos_profiles`.

    It is reliable and volatile where that says nothing.
    """
    found = parsed_yaml(profiles)
    first = found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
    depth = first.get("depth")
    return Qos(
        reliable=first.get("reliability") not in _BEST_EFFORT,
        transient_local=first.get("durability") in _TRANSIENT_LOCAL,
        depth=depth if type(depth) is int and 0 < depth <= _MOST_DEPTH else Qos.depth,
    )


@dataclass(frozen=True)
class TopicInfo:
    """Type and quality of service of one topic.

    Attributes:
        type: full name of the message type, e.g. "sensor_msgs/msg/Image".
        qos: what its publisher offers.
    """

    type: str
    qos: Qos = Qos()


@dataclass(frozen=True)
class RecordedTopic:
    """What a bag holds of one topic.

    Attributes:
        type: full name of the message type.
        qos: what it was offered with.
        count: how many messages there are.
    """

    type: str
    qos: Qos
    count: int


@dataclass(frozen=True)
class Contents:
    """What is in a bag, or in one file of it.

    Attributes:
        topics: by name; also those without a message.
        start_ns, end_ns: log time of the first and the last message, ns since the epoch; both 0 without messages.
    """

    topics: dict[str, RecordedTopic]
    start_ns: int
    end_ns: int

    @property
    def messages(self) -> int:
        """Return the number of messages of all topics."""
        return sum(topic.count for topic in self.topics.values())

    def __add__(self, other: Contents) -> Contents:
        """Return both together."""
        topics = dict(self.topics)
        for name, topic in other.topics.items():
            known = topics.get(name)
            topics[name] = replace(known, count=known.count + topic.count) if known else topic
        filled = [part for part in (self, other) if part.messages]
        start_ns = min((part.start_ns for part in filled), default=0)
        return Contents(topics, start_ns, max((part.end_ns for part in filled), default=0))


@dataclass(frozen=True)
class RecordedEpisodeInfo:
    """Whose bag this is; written into the bag itself.

    Attributes:
        episode_id: unique within a run, e.g. "counting-000003-1".
        task: name in the task table.
        seed: seed of the simulator, 0 on a real robot.
        instruction: instruction of the policy.
        stack_version: version of this software.
        begun_ns: wall time at which the episode was announced, ns since the epoch. It tells a recorder that starts
            again within an episode from a later run that uses the same episode id.
        views: of the robot, the one whose images count the frames first; empty where it is not known.
    """

    episode_id: str
    task: str
    seed: int
    instruction: str
    stack_version: str
    begun_ns: int
    views: tuple[str, ...] = ()

    def as_metadata(self) -> dict[str, str]:
        """Return the fields as the strings of an MCAP metadata record."""
        return {
            "episode_id": self.episode_id,
            "task": self.task,
            "seed": str(self.seed),
            "instruction": self.instruction,
            "stack_version": self.stack_version,
            "begun_ns": str(self.begun_ns),
            **({"views": " ".join(self.views)} if self.views else {}),
        }

    @classmethod
    def from_metadata(cls, fields: dict[str, str]) -> RecordedEpisodeInfo | None:
        """Return the episode noted in `fields`, or None where one is missing or no number."""
        try:
            return cls(
                fields["episode_id"],
                fields["task"],
                int(fields["seed"]),
                fields["instruction"],
                fields["stack_version"],
                int(fields["begun_ns"]),
                tuple(fields.get("views", "").split()),
            )
        except (KeyError, ValueError):
            return None
