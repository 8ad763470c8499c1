"""Scene graphs on disk: one SQLite file, written ahead, with a row for each node of each map.

Once `write` has returned, its data survive any end of the process. A power failure may lose the last moments, but
nothing earlier. One process writes at a time; others may read meanwhile.
"""

from __future__ import annotations

import gc
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from kc_vla.memory.episodic.linked import LinkedKeyframe, LinkedKeyframes
from kc_vla.memory.long_term.errors import GraphError, StoreError, told
from kc_vla.memory.long_term.fields import blob_of, from_fields, kind_of, to_fields
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph, check_map_id
from kc_vla.memory.long_term.nodes import Node
from kc_vla.memory.long_term.store_keyframes import drop_keyframes, load_keyframes, put_keyframe
from kc_vla.memory.long_term.store_opening import DamageError, is_damage, lock_store, open_database, why
from kc_vla.memory.long_term.store_repair import repair_store
from kc_vla.memory.long_term.store_schema import row_sum

T = TypeVar("T")
_PUT = """
INSERT INTO node (map_id, id, kind, fields, sum, embedding) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (map_id, id)
DO UPDATE SET kind = excluded.kind, fields = excluded.fields, sum = excluded.sum, embedding = excluded.embedding
"""
_MAP = "INSERT INTO map VALUES (?, ?) ON CONFLICT (map_id) DO UPDATE SET number = excluded.number"


class Store:
    """A store that is open.

    Attributes:
        path: of its file.
        mended: what was damaged in it and is left out, in a line; empty if nothing was.
        is_new: there was none before.
    """

    def __init__(self, path: Path, read_only: bool = False) -> None:
        """Open a store; a new one is made, unless it is only read. A damaged one is repaired, unless it is only read.

        Raises:
            StoreError: another process writes it, a newer version wrote it, it is something else, or it is damaged.
            OSError: its folder cannot be used.
        """
        if read_only and not path.is_file():
            raise StoreError(f"there is no store {path}: name the file that the long-term memory keeps")
        self.path = path = path.resolve()  # its lock and log are beside the file itself, by whatever link it is named
        self.mended = ""
        self.is_new = not path.exists()
        self._read_only = read_only
        self._lock: int | None = None
        if read_only:
            try:
                self._connection = open_database(self.path, self._read_only)
            except DamageError as error:
                raise _told_to_a_reader(error) from error
            return
        if path.is_dir():
            raise StoreError(f"{path} is a folder: name the file that the long-term memory keeps")
        if not path.parent.is_dir() and not path.absolute().parent.parent.is_dir():
            raise StoreError(
                f"{path} is in a folder that does not exist, and neither does the one above it: create both"
            )
        path.parent.mkdir(exist_ok=True)
        self._lock = lock_store(path)
        try:
            try:
                self._connection = open_database(self.path, self._read_only)
            except DamageError as error:
                self._mend(str(error))
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Leave the store to others; doing so twice does no harm."""
        self._connection.close()
        self._release()

    def maps(self) -> list[str]:
        """Return the maps that it has, by name."""
        return [name for (name,) in self._asked("SELECT map_id FROM map ORDER BY map_id")]

    def load(self, map_id: str) -> SceneGraph:
        """Return the graph of a map; an empty one if it is new.

        Raises:
            StoreError: it cannot be read, or what only is read is damaged.
        """
        check_map_id(map_id)
        return self._mended(lambda: self._load(map_id))

    def write(self, map_id: str, change: GraphChange) -> None:
        """Commit a change to a map.

        Raises:
            StoreError: it could not be written; nothing of it is kept then, and all that was before is.
        """
        check_map_id(map_id)
        rows = [_row(map_id, node) for node in change.put]
        gone = [(map_id, node_id) for node_id in change.removed]
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO map VALUES (?, 1) ON CONFLICT DO NOTHING", (map_id,))
            if gone:
                connection.executemany("DELETE FROM node WHERE map_id = ? AND id = ?", gone)
            connection.executemany(_PUT, rows)
            if change.number is not None:
                connection.execute(_MAP, (map_id, change.number))
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up()
            raise StoreError(why(self.path, error)) from error

    def link(self, map_id: str, keyframe: LinkedKeyframe) -> None:
        """Write a keyframe of a map, in place of what the map has of it; the oldest one leaves.

        Raises:
            StoreError: it could not be written; nothing of it is kept then, and all that was before is.
        """
        check_map_id(map_id)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("INSERT INTO map VALUES (?, 1) ON CONFLICT DO NOTHING", (map_id,))
            put_keyframe(self._connection, map_id, keyframe)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up()
            raise StoreError(why(self.path, error)) from error

    def linked(self, map_id: str) -> LinkedKeyframes:
        """Return the linked keyframes of a map; see `load` for what it raises."""
        check_map_id(map_id)
        return self._mended(lambda: self._linked(map_id))

    def drop(self, map_id: str) -> None:
        """Forget a map with all that is in it; StoreError if that could not be written."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("DELETE FROM node WHERE map_id = ?", (map_id,))
            drop_keyframes(self._connection, map_id)
            self._connection.execute("DELETE FROM map WHERE map_id = ?", (map_id,))
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up()
            raise StoreError(why(self.path, error)) from error

    def _give_up(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # it is closed: nothing was begun
            if not self._connection.in_transaction:
                return
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.OperationalError:
                self._connection.close()  # which rolls back, too
                self._connection = open_database(self.path, self._read_only)

    def _load(self, map_id: str) -> SceneGraph:
        rows = self._asked("SELECT id, kind, fields, sum, embedding FROM node WHERE map_id = ?", (map_id,))
        numbers = self._asked("SELECT number FROM map WHERE map_id = ?", (map_id,))
        try:
            with _no_collection():
                return SceneGraph(map_id, _nodes(map_id, rows), numbers[0][0] if numbers else 1)
        except (GraphError, ValueError, TypeError, AttributeError) as error:
            raise DamageError(f"{self.path} is damaged: {error}") from error

    def _linked(self, map_id: str) -> LinkedKeyframes:
        try:
            return load_keyframes(self._connection, map_id)
        except sqlite3.Error as error:
            raise (DamageError if is_damage(error) else StoreError)(why(self.path, error)) from error
        except ValueError as error:
            raise DamageError(f"{self.path} is damaged: {error}") from error

    def _mended(self, read: Callable[[], T]) -> T:
        """Return what is read, of a damaged store once it is repaired."""
        try:
            return read()
        except DamageError as error:
            if self._read_only:
                raise _told_to_a_reader(error) from error
            self._connection.close()
            self._mend(str(error))
            return read()

    def _asked(self, query: str, values: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise (DamageError if is_damage(error) else StoreError)(why(self.path, error)) from error

    def _mend(self, damage: str) -> None:
        self.mended = repair_store(self.path, damage)
        self._connection = open_database(self.path, self._read_only)

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _row(map_id: str, node: Node) -> tuple[str, str, str, str, int, bytes]:
    kind, text = kind_of(node), json.dumps(to_fields(node), separators=(",", ":"))
    blob = blob_of(node)
    return map_id, node.id, kind, text, row_sum(map_id, node.id, kind, text, blob), blob


def _nodes(map_id: str, rows: list[tuple[Any, ...]]) -> list[Node]:
    for node_id, kind, text, wanted, embedding in rows:
        if row_sum(map_id, node_id, kind, text, embedding) != wanted:
            raise ValueError(f"node {told(node_id)} is not as it was written")
    given = json.loads(f"[{','.join(row[2] for row in rows)}]")  # all at once, in half the time
    return [from_fields(row[1], fields, row[4]) for row, fields in zip(rows, given, strict=True)]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep Python from looking for garbage inside.

    It would look through all objects again with each ten thousand new ones.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _told_to_a_reader(error: DamageError) -> DamageError:
    """Return the error with the advice for a process that only reads a store: its writer repairs it."""
    return DamageError(
        f"{error}; kc-vla memory repair leaves out what is damaged, and keeps the file as it was beside it"
    )
