"""Makes a torn SQLite file of a bag whole: SQLite's own way where it has one, else by a copy of what can be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from kc_vla.bags.metadata import bag_information, to_yaml
from kc_vla.bags.new_bag import definition
from kc_vla.bags.reader import BagReader
from kc_vla.bags.schemas import Schema
from kc_vla.bags.sqlite_file import companions
from kc_vla.bags.sqlite_output import SqliteOutput, close_journal
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import TopicInfo
from kc_vla.files import replacing


def mend_sqlite(path: Path, holds_messages: bool) -> None:
    """Make `path` whole, in its place.

    Args:
        path: a damaged file.
        holds_messages: whether any message of it can be read; otherwise there is nothing to copy.

    Raises:
        BagReadError: it cannot be read.
        OSError: there is no room for the copy; the file is unchanged then.
    """
    if (_finish(path) and _is_whole(path)) or not holds_messages:
        return
    with replacing(path) as part:
        _copy(path, part)
        for companion in companions(path):
            companion.unlink(missing_ok=True)  # else it would be taken for the new file's
        path.with_name(path.name + "-shm").unlink(missing_ok=True)


def _finish(path: Path) -> bool:
    """Do what the process that was killed would have done next; return whether SQLite can."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=rw", uri=True)) as bag:
            close_journal(bag)
    except sqlite3.Error:
        return False
    return True


def _is_whole(path: Path) -> bool:
    reader = BagReader(path)
    for _ in reader.messages():
        pass
    return not reader.damages


def _copy(path: Path, target: Path) -> None:
    reader = BagReader(path)
    topics: dict[str, TopicInfo] = {}
    schemas: dict[str, Schema] = {}
    target.unlink(missing_ok=True)
    output: SqliteOutput | None = None
    for message in reader.messages():
        kind = message.ref.type
        if output is None:
            output = SqliteOutput(target, {}, {}, reader.episode)
        if message.topic not in topics:
            schemas.setdefault(kind, definition(reader, kind))
            topics[message.topic] = TopicInfo(kind, reader.qos[message.topic])
            output.declare(message.topic, topics[message.topic], schemas[kind])
        output.add(message.topic, message.data, message.publish_time_ns, message.ref.log_time_ns)
    if output is not None:
        hashes = {name: schema.type_hash for name, schema in schemas.items()}
        custom_data = {} if reader.episode is None else reader.episode.as_metadata()
        facts = replace(output.facts(), name=path.name)
        information = bag_information([facts], topics, hashes, custom_data, Storage.SQLITE3)
        output.finish(to_yaml(information))
