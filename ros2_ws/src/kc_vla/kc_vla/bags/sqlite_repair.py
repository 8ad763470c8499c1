"""A damaged SQLite file of a bag written anew: every row that is well, and a word about each that is not.

What is in a table is known by its form, since the page that names the tables may be the damaged one.

SQLite's own `.recover` does not replace this. It is a command of the program `sqlite3`, which pip does not install, and
not of the library in Python; and it does not report which messages are missing.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kc_vla.bags.errors import Damage
from kc_vla.bags.loss import UNKNOWN_TOPIC, Losses, Salvaged
from kc_vla.bags.metadata import bag_information, noted_counts, noted_topics, to_yaml
from kc_vla.bags.records import RandomAccess, unpack_message
from kc_vla.bags.schemas import Schema, installed_schema
from kc_vla.bags.sqlite_output import SqliteOutput
from kc_vla.bags.sqlite_pages import Pages, SqliteRow, is_blob, is_integer, layouts
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import RecordedEpisodeInfo, TopicInfo, offered

_TYPE = re.compile(r"\w+/\w+/\w+")
_MOST_BYTES = 1 << 20
"""Bytes of the largest row that is no message."""
_MOST_MISSING = 10**6
"""Between two rows; beyond, a number is a wrong one."""
_FLUSH_BYTES = 32 * 1024 * 1024


def salvage_sqlite(path: Path, target: Path, noted: str) -> Salvaged:
    """Write what is well in `path` to `target`, a whole file; without a message there is none.

    Args:
        path: a damaged file; its journal is not asked.
        target: where the new one is to be.
        noted: the metadata.yaml of the bag, where there is one.

    Raises:
        OSError: one cannot be read or the other not be written.
    """
    target.unlink(missing_ok=True)
    losses = Losses()
    losses.any = True  # nothing tells whether all that was in the file is found
    with path.open("rb", buffering=0) as raw:
        file = RandomAccess(raw)
        ways = [Pages(file, layout) for layout in layouts(file)]
        pages = (
            max(ways, key=lambda way: sum(1 for row in way.rows() if _is_message(row))) if len(ways) > 1 else ways[0]
        )
        rows, tables = _rows(pages), _tables(pages, noted)
        topics = _named(tables, rows, pages)
        if not topics:
            return Salvaged(losses, None)
        output = SqliteOutput(target, {}, {}, tables.episode)
        try:
            schemas = {info.type: tables.schemas.get(info.type) or _installed(info.type) for _, info in topics.values()}
            for name, info in topics.values():
                output.declare(name, info, schemas[info.type])
            _copy(pages, rows, {number: name for number, (name, _) in topics.items()}, output, losses)
            hashes = {kind: schema.type_hash for kind, schema in schemas.items()}
            custom_data = {} if tables.episode is None else tables.episode.as_metadata()
            facts = replace(output.facts(), name=path.name)
            information = bag_information([facts], dict(topics.values()), hashes, custom_data, Storage.SQLITE3)
            output.finish(to_yaml(information))
        except BaseException:
            output.abandon()
            raise
    return Salvaged(losses, noted_counts(tables.noted))


class _Tables(NamedTuple):
    """What a file holds beside its messages.

    Attributes:
        topics: name and what is known of it, by its number.
        schemas: by type.
        episode: whose bag it is.
        noted: what rosbag2 keeps of the bag, YAML.
    """

    topics: dict[int, tuple[str, TopicInfo]]
    schemas: dict[str, Schema]
    episode: RecordedEpisodeInfo | None
    noted: str


def _is_message(row: SqliteRow) -> bool:
    """Return whether a row has the columns of a message: its number (that of the row), topic, time, and data."""
    if len(row.types) != 4:
        return False
    number, topic, time, data = row.types
    return (number == 0 or is_integer(number)) and is_integer(topic) and is_integer(time) and is_blob(data)


class _Rows:
    """The rows that may be messages by their numbers, each number once."""

    def __init__(self, columns: npt.NDArray[np.int64]) -> None:
        self._columns = columns

    def __iter__(self) -> Iterator[SqliteRow]:
        for rowid, _, place, length, page in self._columns.T.tolist():
            yield SqliteRow(rowid, (), place, length, page)


def _rows(pages: Pages) -> _Rows:
    columns = [array("q") for _ in range(5)]
    page: list[SqliteRow] = []

    def take() -> None:
        numbers = {row.rowid for row in page}
        for row in _ascending(page):
            alone = not numbers & {row.rowid - 1, row.rowid + 1}
            for column, value in zip(columns, (row.rowid, alone, row.place, row.length, row.page), strict=True):
                column.append(value)
        page.clear()

    for row in filter(_is_message, pages.rows()):
        if page and page[0].page != row.page:
            take()
        page.append(row)
    take()
    found = np.array(columns, np.int64).reshape(len(columns), -1)
    found = found[:, np.lexsort((found[1], found[0]))]  # of two with one number, that which has neighbours
    first = np.diff(found[0], prepend=-(2**62)) != 0
    return _Rows(found[:, first])


def _ascending(page: list[SqliteRow]) -> Iterator[SqliteRow]:
    """Yield the rows of a page without those whose number is not between its neighbors': it is a wrong one."""
    for index, row in enumerate(page):
        before = page[index - 1].rowid if index else None
        after = page[index + 1].rowid if index + 1 < len(page) else None
        between = (before is None or before < row.rowid) and (after is None or row.rowid < after)
        if between or (before is not None and after is not None and before > after):
            yield row


def _tables(pages: Pages, noted: str) -> _Tables:
    topics: dict[int, tuple[str, TopicInfo]] = {}
    schemas: dict[str, Schema] = {}
    fields: dict[str, str] = {}
    texts = [noted]
    for row in pages.rows():
        if _is_message(row) or row.length > _MOST_BYTES:
            continue
        try:
            values = pages.values(row)
        except Damage:
            continue
        match values:
            case [_, str(kind), str(encoding), str(text), str(type_hash)] if _TYPE.fullmatch(kind):
                schemas.setdefault(kind, Schema(kind, text, type_hash, encoding))
            case [_, str(name), str(kind), str(), *rest] if _TYPE.fullmatch(kind):
                profiles = rest[0] if rest and isinstance(rest[0], str) else ""
                topics.setdefault(row.rowid, (name, TopicInfo(kind, offered(profiles))))
            case [_, int(), str(text)]:
                texts.append(text)
            case [str(name), str(value)]:
                fields.setdefault(name, value)
    newest = next((text for text in reversed(texts) if noted_topics(text)), "")
    return _Tables(topics, schemas, RecordedEpisodeInfo.from_metadata(fields), newest)


def _named(tables: _Tables, rows: _Rows, pages: Pages) -> dict[int, tuple[str, TopicInfo]]:
    """Return the topics by their numbers; those that are lost or misspelt as they are noted elsewhere, if that is sure.

    That is: the others are numbered as they are noted, or it is the only one.
    """
    noted = noted_topics(tables.noted)
    topics = {number: (name, info) for number, (name, info) in tables.topics.items() if not noted or name in noted}
    missing = {name: TopicInfo(noted[name].type, noted[name].qos) for name in noted.keys() - _names(topics)}
    numbers = {name: number for number, name in enumerate(noted, start=1)}
    if len(topics) > 1 and all(numbers.get(name) == number for number, (name, _) in topics.items()):
        topics |= {numbers[name]: (name, info) for name, info in missing.items()}
    elif len(missing) == 1:
        unknown = {topic for _, topic, _, _ in _messages(pages, rows)} - topics.keys()
        if len(unknown) == 1:
            topics[unknown.pop()] = missing.popitem()
    return dict(sorted(topics.items()))


def _names(topics: dict[int, tuple[str, TopicInfo]]) -> set[str]:
    return {name for name, _ in topics.values()}


def _messages(pages: Pages, rows: _Rows) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield number, topic, time and data of the rows that are whole."""
    for row in rows:
        with suppress(Damage):
            match pages.values(row):
                case [_, int(topic), int(time_ns), bytes(data)] if time_ns >= 0:
                    yield row.rowid, topic, time_ns, data


def _copy(pages: Pages, rows: _Rows, names: dict[int, str], output: SqliteOutput, losses: Losses) -> None:
    """Write the messages; their numbers show how many are missing between them."""
    expected, unflushed = 1, 0
    for number, topic, time_ns, data in _messages(pages, rows):
        if number > expected:
            losses.lose_some(count=min(number - expected, _MOST_MISSING))
        expected = number + 1
        name = names.get(topic)
        if name is None:
            losses.lose(UNKNOWN_TOPIC, time_ns)
            continue
        try:
            unpack_message(data, "")
        except Damage:
            losses.lose(name, time_ns)
            continue
        output.add(name, data, time_ns, time_ns)
        losses.keep(name, time_ns)
        unflushed += len(data)
        if unflushed > _FLUSH_BYTES:
            output.flush()
            unflushed = 0


def _installed(message_type: str) -> Schema:
    return installed_schema(message_type) or Schema(message_type, "", "", "")
