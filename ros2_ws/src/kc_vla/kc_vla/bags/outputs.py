"""One file of a bag being written, in whichever storage."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kc_vla.bags.mcap_output import McapOutput
from kc_vla.bags.schemas import Schema
from kc_vla.bags.sqlite_output import SqliteOutput
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import RecordedEpisodeInfo, TopicInfo

BagOutput = McapOutput | SqliteOutput


def create_output(
    storage: Storage,
    path: Path,
    topics: Mapping[str, TopicInfo],
    schemas: Mapping[str, Schema],
    episode: RecordedEpisodeInfo | None,
    chunk_bytes: int,
) -> BagOutput:
    """Create the file `path`; `chunk_bytes` is for MCAP.

    Raises:
        OSError: it exists, or cannot be created or written.
    """
    if storage == Storage.SQLITE3:
        return SqliteOutput(path, topics, schemas, episode)
    return McapOutput(path, topics, schemas, episode, chunk_bytes)
