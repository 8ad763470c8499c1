"""`metadata.yaml` of a rosbag2 bag (version 9, ROS 2 Jazzy)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import Qos, RecordedTopic, TopicInfo, offered
from kc_vla.core.files import write_whole, yaml_text
from kc_vla.core.untrusted import parsed_yaml, read_text

VERSION = 9
_MOST_NOTED = 1 << 20
"""Bytes of a metadata.yaml."""


@dataclass(frozen=True)
class FileFacts:
    """What one file of a bag holds.

    Attributes:
        name: its name within the bag folder.
        start_ns, end_ns: log time of the first and last message, ns; both 0 without messages.
        counts: number of messages of each topic.
    """

    name: str
    start_ns: int
    end_ns: int
    counts: Mapping[str, int]

    @property
    def messages(self) -> int:
        """Return the number of messages of all topics."""
        return sum(self.counts.values())


class Tally:
    """Counts messages by topic, and knows the first and the last time."""

    def __init__(self, name: str) -> None:
        """Begin to count at 0.

        Args:
            name: of the file.
        """
        self._name = name
        self._counts: dict[str, int] = {}
        self._start_ns: int | None = None
        self._end_ns = 0

    def declare(self, topic: str) -> None:
        """Begin to count a topic at 0."""
        self._counts[topic] = 0

    def add(self, topic: str, time_ns: int) -> None:
        """Count a message."""
        self._counts[topic] += 1
        self._start_ns = time_ns if self._start_ns is None else min(self._start_ns, time_ns)
        self._end_ns = max(self._end_ns, time_ns)

    def count(self, topic: str) -> int:
        """Return the number of messages of a topic so far."""
        return self._counts[topic]

    def facts(self) -> FileFacts:
        """Return all of it, as the metadata want it."""
        return FileFacts(self._name, self._start_ns or 0, self._end_ns, dict(self._counts))


def bag_information(
    files: Sequence[FileFacts],
    topics: Mapping[str, TopicInfo],
    type_hashes: Mapping[str, str],
    custom_data: Mapping[str, str],
    storage: Storage = Storage.MCAP,
) -> dict[str, Any]:
    """Return the content of `rosbag2_bagfile_information` for a bag of `files`.

    Args:
        files: facts of each file, in order of recording.
        topics: the recorded topics by name.
        type_hashes: "RIHS01_..." by message type.
        custom_data: free text fields.
        storage: of the files.
    """
    filled = [f for f in files if f.messages]
    start = min((f.start_ns for f in filled), default=0)
    end = max((f.end_ns for f in filled), default=0)
    return {
        "version": VERSION,
        "storage_identifier": str(storage),
        "duration": {"nanoseconds": end - start},
        "starting_time": {"nanoseconds_since_epoch": start},
        "message_count": sum(f.messages for f in files),
        "topics_with_message_count": [
            {
                "topic_metadata": {
                    "name": name,
                    "type": info.type,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": [info.qos.profile()],
                    "type_description_hash": type_hashes.get(info.type, ""),
                },
                "message_count": sum(f.counts.get(name, 0) for f in files),
            }
            for name, info in topics.items()
        ],
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": [f.name for f in files],
        "files": [
            {
                "path": f.name,
                "starting_time": {"nanoseconds_since_epoch": f.start_ns},
                "duration": {"nanoseconds": f.end_ns - f.start_ns},
                "message_count": f.messages,
            }
            for f in files
        ],
        "custom_data": dict(custom_data),
        "ros_distro": "jazzy",
    }


def noted_metadata(folder: Path) -> str:
    """Return the metadata.yaml in `folder`; empty where there is none that can be read."""
    try:
        return read_text(folder / "metadata.yaml", _MOST_NOTED)
    except (OSError, ValueError):
        return ""


def noted_topics(text: str) -> dict[str, RecordedTopic]:
    """Return the topics that such information, as YAML, names; empty where it is none."""
    try:
        return {
            str(topic["topic_metadata"]["name"]): RecordedTopic(
                str(topic["topic_metadata"]["type"]),
                offered(to_yaml(topic["topic_metadata"].get("offered_qos_profiles", ""))),
                int(topic["message_count"]),
            )
            for topic in _information(text)["topics_with_message_count"]
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def noted_counts(text: str) -> dict[str, int] | None:
    """Return how many messages of each topic it counts; None where it is none, or names several files."""
    topics = noted_topics(text)
    files = _information(text).get("relative_file_paths")
    single = isinstance(files, list) and len(files) == 1
    return {name: topic.count for name, topic in topics.items()} if topics and single else None


def recounted(text: str, files: Sequence[FileFacts]) -> dict[str, Any] | None:
    """Return the information of a bag whose files hold something else now; None where it is none, or of other files."""
    known, information = noted_topics(text), _information(text)
    if not known or information.get("relative_file_paths") != [file.name for file in files]:
        return None
    topics = {name: TopicInfo(topic.type, topic.qos) for name, topic in known.items()}
    now = bag_information(files, topics, {}, {})
    for row in information["topics_with_message_count"]:
        row["message_count"] = sum(file.counts.get(row["topic_metadata"]["name"], 0) for file in files)
    counted = ("duration", "starting_time", "message_count", "files")
    return {**information, **{name: now[name] for name in counted if name in information}}


def _information(text: str) -> dict[str, Any]:
    try:
        content = parsed_yaml(text)
    except ValueError:
        return {}
    inner = content.get("rosbag2_bagfile_information", content) if isinstance(content, dict) else {}
    return inner if isinstance(inner, dict) else {}


def to_yaml(content: object) -> str:
    """Return `content` as block-style YAML without aliases, as rosbag2 writes it."""
    return yaml_text(content)


@lru_cache(maxsize=64)  # most topics of a bag say the same, and YAML takes milliseconds
def offered_profiles(qos: Qos) -> str:
    """Return what a file says of a topic's quality of service; `topics.offered` reads it."""
    return to_yaml([qos.profile()])


def write_metadata(folder: Path, information: Mapping[str, Any]) -> None:
    """Write `folder`/metadata.yaml whole or not at all.

    Raises:
        OSError: the folder cannot be written.
    """
    write_whole(folder / "metadata.yaml", to_yaml({"rosbag2_bagfile_information": dict(information)}))
