"""Opens the SQLite file of a store, or says in a line why that cannot be."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from kc_vla.core.files import locks
from kc_vla.memory.long_term.errors import StoreError
from kc_vla.memory.long_term.store_schema import APPLICATION_ID, READABLE, VERSION, migrate

_WAIT_S = 5.0
"""Until a reader that copies the log has ended."""


class DamageError(StoreError):
    """Something in the file is not as it was written."""


def open_database(path: Path, read_only: bool) -> sqlite3.Connection:
    """Open a store. Unless it is only read, create it if it is missing, and bring it to the newest version.

    Raises:
        DamageError: The file is damaged.
        StoreError: The file has a newer version, is no store, or cannot be opened.
    """
    connection = _connected(path, read_only)
    try:
        version = _version(path, connection)
        if version < READABLE and read_only:
            raise StoreError(f"{path} is of version {version}: let the long-term memory open it once")
        if not read_only:
            # After a crash the log says what was committed; only a loss of power can cost its end.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        if version < VERSION and not read_only:
            migrate(connection, version)
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise DamageError(f"{path} is damaged: {' '.join(found.split())[:200]}")
    except sqlite3.Error as error:
        connection.close()
        raise (DamageError if is_damage(error) else StoreError)(why(path, error)) from error
    except StoreError:
        connection.close()
        raise
    return connection


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether an error says that the file is not as it was written.

    Python's own error, of text that is none, has no code.
    """
    if (code := getattr(error, "sqlite_errorcode", None)) is not None:
        return bool(code & 0xFF == sqlite3.SQLITE_CORRUPT)
    return "decode" in str(error)


def why(path: Path, error: sqlite3.Error) -> str:
    """Return what went wrong with a store, in a line."""
    if is_damage(error):
        return f"{path} is damaged: {error}"
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_NOTADB:  # somebody's, perhaps: it is left alone
        return f"{path} is no store, or its beginning is destroyed: move it away, or choose another file"
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return f"{path} could not be written or read ({error}): what was committed is kept; free some space on its disk"
    return f"{path} could not be written or read: {error}"


def _connected(path: Path, read_only: bool) -> sqlite3.Connection:
    if not read_only:
        how = "mode=rwc"
    else:
        log = path.with_name(path.name + "-wal")
        how = "mode=ro" if log.exists() or os.access(path.parent, os.W_OK) else "mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?{how}",
            _WAIT_S,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
        )
        connection.execute("PRAGMA trusted_schema = OFF")
    except sqlite3.Error as error:
        raise StoreError(why(path, error)) from error
    return connection


def _version(path: Path, connection: sqlite3.Connection) -> int:
    """Return the version of a store; 0 for a new one."""
    (ours,), (version,) = (
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
    )
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if ours != APPLICATION_ID and (tables or version):
        raise StoreError(f"{path} is a database of something else: choose another file")
    if version > VERSION:
        raise StoreError(
            f"{path} is of version {version}, a newer one than {VERSION}, which this kc_vla reads: update kc_vla, or "
            "choose another file"
        )
    return int(version)


def lock_store(path: Path) -> int:
    """Take the right to write a store, until the descriptor that is returned is closed; StoreError if it is taken."""
    lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    if not locks(lock):
        os.close(lock)
        raise StoreError(f"{path} is being written by another process: end it, or give this one another store")
    return lock
