"""`metadata.yaml` of a rosbag2 bag (version 9, ROS 2 Jazzy)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import TopicInfo

VERSION = 9


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
        """Number of messages of all topics."""
        return sum(self.counts.values())


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


def to_yaml(content: object) -> str:
    """Return `content` as block-style YAML without aliases, as rosbag2 writes it."""
    return yaml.dump(content, Dumper=_PlainDumper, sort_keys=False, default_flow_style=False, allow_unicode=True)


def write_metadata(folder: Path, information: Mapping[str, Any]) -> None:
    """Write `folder`/metadata.yaml whole or not at all.

    Raises:
        OSError: the folder cannot be written.
    """
    text = to_yaml({"rosbag2_bagfile_information": dict(information)})
    partial = folder / "metadata.yaml.part"
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(folder / "metadata.yaml")
    except OSError:
        partial.unlink(missing_ok=True)
        raise


class _PlainDumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True
