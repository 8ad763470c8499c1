"""The tables of a store, version by version, and the sum that tells a damaged row."""

from __future__ import annotations

import sqlite3
import zlib

APPLICATION_ID = 0x6B63766D
"""In the file's head: it is ours."""
STEPS = (
    """
    CREATE TABLE map (map_id TEXT PRIMARY KEY, number INTEGER NOT NULL);
    CREATE TABLE node (
        map_id TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, fields TEXT NOT NULL, sum INTEGER NOT NULL,
        UNIQUE (map_id, id)
    );
    """,
    "ALTER TABLE node ADD COLUMN embedding BLOB NOT NULL DEFAULT x'';",
    "",  # an area has its edge in that column
    "",  # there are nodes of the kind `connection`
    """
    CREATE TABLE keyframe (
        map_id TEXT NOT NULL, number INTEGER NOT NULL, episode_id TEXT NOT NULL, frame INTEGER NOT NULL,
        kept TEXT NOT NULL, sum INTEGER NOT NULL, UNIQUE (map_id, number), UNIQUE (map_id, episode_id, frame)
    );
    CREATE TABLE keyframe_count (map_id TEXT PRIMARY KEY, last INTEGER NOT NULL, gone INTEGER NOT NULL);
    """,
)
"""What brings a store from each version to the next; a new one is at version 0."""
VERSION = len(STEPS)
READABLE = 2
"""A store from this version on can be read without being changed: it has all columns of the nodes."""


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring the tables of an open store from `version` to the newest, in one transaction.

    Raises:
        sqlite3.Error: it cannot be written; it is as it was.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in STEPS[version:]:
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def row_sum(map_id: str, node_id: str, kind: str, fields: str, embedding: bytes) -> int:
    """Return the check sum of a row."""
    return zlib.crc32(embedding, zlib.crc32(f"{map_id}\0{node_id}\0{kind}\0{fields}".encode()))
