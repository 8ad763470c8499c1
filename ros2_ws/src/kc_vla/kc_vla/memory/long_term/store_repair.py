"""A damaged store written anew: every row that is well; the file as it was stays beside it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kc_vla.core.files import replacing, resolved
from kc_vla.memory.long_term.errors import GraphError, StoreError
from kc_vla.memory.long_term.fields import from_fields
from kc_vla.memory.long_term.graph import number_after
from kc_vla.memory.long_term.store_keyframes import COLUMNS, keyframe_of
from kc_vla.memory.long_term.store_pages import rows_in_pages
from kc_vla.memory.long_term.store_schema import migrate, row_sum

_LOGS = ("-wal", "-shm")
_NODE = ("map_id", "id", "kind", "fields", "sum", "embedding")
_LAST_ROW, _SMALL_STEPS = 1 << 40, 1000


def repair_store(path: Path, damage: str) -> str:
    """Put a whole store in place of a damaged one; return in a line what was done.

    Args:
        path: of the store, which this process alone has open, and closed at present.
        damage: what was found.

    Raises:
        StoreError: there is no room for it; the damaged one is as it was.
    """
    path = resolved(path)  # SQLite has the logs beside the file itself
    kept = next(
        other
        for number in range(1, 10_000)
        if not os.path.lexists(other := path.with_name(f"{path.name}.damaged-{number}"))
    )
    try:
        for ending in ("", *_LOGS):
            if path.with_name(path.name + ending).exists():
                shutil.copyfile(path.with_name(path.name + ending), kept.with_name(kept.name + ending))
        with replacing(path) as part:
            part.unlink(missing_ok=True)
            saved, lost = _copied(kept, part)
            for ending in _LOGS:  # they belong to the file that goes
                path.with_name(path.name + ending).unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        for ending in ("", *_LOGS):
            kept.with_name(kept.name + ending).unlink(missing_ok=True)
        raise StoreError(f"{damage}, and could not be repaired: {error}; free some space on its disk") from error
    left_out = f"{lost} nodes are left out" if lost else "what cannot be read is left out"
    return f"{damage}; {saved} nodes are kept, {left_out}; the file as it was is {kept}"


def _copied(source: Path, target: Path) -> tuple[int, int]:
    """Copy what is well; return how many nodes are, and how many are known not to be."""
    output = sqlite3.connect(target, isolation_level=None)
    try:
        migrate(output, 0)
        output.execute("BEGIN")
        saved, lost, numbers, linked = 0, 0, dict[str, int](), dict[tuple[Any, ...], tuple[Any, ...]]()
        for row in _rows(source, "node", _NODE):
            if _is_whole(row):
                saved += _put(output, row, numbers)
            else:
                lost += 1
        for row in rows_in_pages(source):  # what SQLite finds no way to any more
            row = (*row, b"") if len(row) == len(_NODE) - 1 else row  # of before there were embeddings
            if len(row) == len(_NODE) and _is_whole(row):
                saved += _put(output, row, numbers)
            elif keyframe_of(row) is not None:
                linked[row[:2]] = row
        linked |= {row[:2]: row for row in _rows(source, "keyframe", COLUMNS) if keyframe_of(row) is not None}
        _put_keyframes(output, source, list(linked.values()))
        for map_id, number in _rows(source, "map", ("map_id", "number")):
            if isinstance(map_id, str) and isinstance(number, int):
                numbers[map_id] = max(numbers.get(map_id, 1), number)
        output.executemany("INSERT INTO map VALUES (?, ?)", numbers.items())
        output.execute("COMMIT")
    finally:
        output.close()
    return saved, lost


def _put(output: sqlite3.Connection, row: tuple[Any, ...], numbers: dict[str, int]) -> int:
    """Take in a node unless it is there; how many were. Its id ends in a number that is never given again."""
    numbers[row[0]] = max(numbers.get(row[0], 1), number_after(row[1]))
    return output.execute(f"INSERT OR IGNORE INTO node ({', '.join(_NODE)}) VALUES (?, ?, ?, ?, ?, ?)", row).rowcount


def _put_keyframes(output: sqlite3.Connection, source: Path, rows: list[tuple[Any, ...]]) -> None:
    """Take in the linked keyframes that are well, and what can be read of how many have left."""
    placed = ", ".join("?" * len(COLUMNS))
    query = f"INSERT OR IGNORE INTO keyframe ({', '.join(COLUMNS)}) VALUES ({placed})"
    rows.sort(key=lambda row: int(row[1]), reverse=True)
    output.executemany(query, rows)
    counts = {
        map_id: (last, 0) for map_id, last in output.execute("SELECT map_id, max(number) FROM keyframe GROUP BY 1")
    }
    for map_id, last, gone in _rows(source, "keyframe_count", ("map_id", "last", "gone")):
        if isinstance(map_id, str) and isinstance(last, int) and isinstance(gone, int):
            counts[map_id] = max(last, counts.get(map_id, (0, 0))[0]), gone
    output.executemany("INSERT INTO keyframe_count VALUES (?, ?, ?)", [(name, *each) for name, each in counts.items()])


def _is_whole(row: tuple[Any, ...]) -> bool:
    """Return whether a row is as it was written."""
    map_id, node_id, kind, text, wanted, embedding = row
    try:
        if not isinstance(map_id, str) or row_sum(map_id, node_id, kind, text, embedding) != wanted:
            return False
        from_fields(kind, json.loads(text), embedding)
    except (GraphError, ValueError, TypeError, AttributeError):
        return False
    return True


def _rows(source: Path, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table that can be read: all at once, or where that fails, one by one."""
    connection = sqlite3.connect(source, isolation_level=None)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        found = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        named = ", ".join(column if column in found else "x''" for column in columns)
        last = 0
        try:
            for rowid, *row in connection.execute(f"SELECT rowid, {named} FROM {table} ORDER BY rowid"):
                last = rowid
                yield tuple(row)
        except sqlite3.DatabaseError:
            yield from _one_by_one(connection, table, named, last)
    except sqlite3.DatabaseError:
        return  # not even the names of its columns are left
    finally:
        connection.close()


def _one_by_one(connection: sqlite3.Connection, table: str, named: str, after: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows behind one. Where none can be read, a later one is tried, at last in larger and larger steps."""
    query = f"SELECT rowid, {named} FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT 1"
    misses = 0
    while after < _LAST_ROW:
        try:
            row = connection.execute(query, (after,)).fetchone()
        except sqlite3.DatabaseError:
            misses += 1
            after += 1 << max(misses - _SMALL_STEPS, 0)
            continue
        if row is None:
            return
        misses, after = 0, row[0]
        yield row[1:]
