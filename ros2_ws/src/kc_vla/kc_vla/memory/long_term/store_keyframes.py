"""The linked keyframes in the file of a store: a row each, the oldest of a map leaves for a new one."""

from __future__ import annotations

import json
import sqlite3
import zlib
from typing import Any

from kc_vla.memory.episodic.linked import (
    MOST_LINKED,
    KeyframeLinkError,
    LinkedKeyframe,
    LinkedKeyframes,
    in_order,
    link_fields,
    link_from,
)

COLUMNS = ("map_id", "number", "episode_id", "frame", "kept", "sum")
_PUT = f"INSERT INTO keyframe ({', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)"
_COUNT = """
INSERT INTO keyframe_count VALUES (?, ?, ?)
ON CONFLICT (map_id) DO UPDATE SET last = excluded.last, gone = excluded.gone
"""


def put_keyframe(connection: sqlite3.Connection, map_id: str, keyframe: LinkedKeyframe) -> None:
    """Write a keyframe in place of what the map has of it, inside a transaction; the oldest one leaves.

    Raises:
        sqlite3.Error: it could not be written.
    """
    counted = connection.execute("SELECT last, gone FROM keyframe_count WHERE map_id = ?", (map_id,)).fetchone()
    last, gone = counted or (0, 0)
    number = last + 1
    own = (map_id, keyframe.episode_id, keyframe.frame)
    connection.execute("DELETE FROM keyframe WHERE map_id = ? AND episode_id = ? AND frame = ?", own)
    connection.execute(_PUT, keyframe_row(map_id, number, keyframe))
    old = connection.execute(
        "SELECT number FROM keyframe WHERE map_id = ? ORDER BY number DESC LIMIT -1 OFFSET ?", (map_id, MOST_LINKED)
    ).fetchall()
    connection.executemany("DELETE FROM keyframe WHERE map_id = ? AND number = ?", [(map_id, each) for (each,) in old])
    connection.execute(_COUNT, (map_id, number, gone + len(old)))


def drop_keyframes(connection: sqlite3.Connection, map_id: str) -> None:
    """Forget all keyframes of a map, inside a transaction."""
    connection.execute("DELETE FROM keyframe WHERE map_id = ?", (map_id,))
    connection.execute("DELETE FROM keyframe_count WHERE map_id = ?", (map_id,))


def load_keyframes(connection: sqlite3.Connection, map_id: str) -> LinkedKeyframes:
    """Return the keyframes of a map.

    Raises:
        ValueError: one of them is not as it was written; the text says which.
        sqlite3.Error: they cannot be read.
    """
    tables = "SELECT count(*) FROM sqlite_master WHERE name IN ('keyframe', 'keyframe_count')"
    if connection.execute(tables).fetchone()[0] < 2:  # of an older version, that is only read
        return LinkedKeyframes()
    query = f"SELECT {', '.join(COLUMNS)} FROM keyframe WHERE map_id = ?"
    found = []
    for row in connection.execute(query, (map_id,)).fetchall():
        if (keyframe := keyframe_of(row)) is None:
            raise ValueError(f"keyframe {row[1]!r:.20} is not as it was written")
        found.append(keyframe)
    counted = connection.execute("SELECT gone FROM keyframe_count WHERE map_id = ?", (map_id,)).fetchone()
    return in_order(found, counted[0] if counted else 0)


def keyframe_row(map_id: str, number: int, keyframe: LinkedKeyframe) -> tuple[str, int, str, int, str, int]:
    """Return the row of a keyframe, in the order of `COLUMNS`."""
    kept = _kept(keyframe)
    total = _sum(map_id, number, keyframe.episode_id, keyframe.frame, kept)
    return map_id, number, keyframe.episode_id, keyframe.frame, kept, total


def keyframe_of(row: tuple[Any, ...]) -> LinkedKeyframe | None:
    """Return the keyframe of a row; None where the row is not as it was written."""
    if len(row) != len(COLUMNS):
        return None
    map_id, number, episode_id, frame, kept, total = row
    try:
        if not isinstance(map_id, str) or _sum(map_id, number, episode_id, frame, kept) != total:
            return None
        return link_from(episode_id, frame, number, json.loads(kept))
    except (KeyframeLinkError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _kept(keyframe: LinkedKeyframe) -> str:
    return json.dumps(link_fields(keyframe), separators=(",", ":"))


def _sum(map_id: str, number: int, episode_id: str, frame: int, kept: str) -> int:
    return zlib.crc32(f"{map_id}\0{number}\0{episode_id}\0{frame}\0{kept}".encode())
