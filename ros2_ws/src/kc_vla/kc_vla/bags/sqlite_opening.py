"""Opens a SQLite file of a bag so that nothing is written, neither into it nor beside it.

A process that was killed leaves a journal, without which the file is not what was committed. SQLite brings the two
together when it opens them, by writing; so that is done to a copy.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from kc_vla.bags.errors import Damage
from kc_vla.bags.lock import is_being_written
from kc_vla.core.files import resolved

_MAX_BLOB_BYTES = 1 << 29
_JOURNAL_HEAD_BYTES = 28


class SqliteOpener:
    """The way to open one SQLite file without changing it; any copy it made is deleted with this object."""

    def __init__(self, path: Path) -> None:
        """Prepare; nothing is opened yet.

        Args:
            path: of the file.
        """
        self._path = resolved(path)
        self._copy: TemporaryDirectory[str] | None = None

    def open(self) -> sqlite3.Connection:
        """Open the file, with what its journal holds.

        Raises:
            Damage: SQLite cannot.
            OSError: it is gone, the disk does not answer, or there is no room for a copy.
        """
        self._path.stat()
        path, how = self._path, "mode=ro&immutable=1"
        if left_open(path):
            if _is_in_use(companions(path)[0]) and is_being_written(path):
                how = "mode=ro"  # a recorder's write-ahead log is there to be read along
            else:
                path, how = self._copied(), "mode=rw"
        try:
            bag = sqlite3.connect(
                f"file:{quote(str(path.absolute()))}?{how}", uri=True, isolation_level=None, check_same_thread=False
            )
            bag.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_BLOB_BYTES)
            bag.execute("PRAGMA trusted_schema = OFF")
            bag.execute("PRAGMA cell_size_check = ON")
            bag.execute("PRAGMA writable_schema = ON")  # else a file that is cut off could not be read at all
        except sqlite3.Error as error:
            raise Damage(f"cannot be opened: {error}") from error
        return bag

    def _copied(self) -> Path:
        if self._copy is None:
            folder = TemporaryDirectory(prefix="kc_vla-")
            copy_with_journal(self._path, Path(folder.name))
            self._copy = folder
        return Path(self._copy.name) / self._path.name


def copy_with_journal(path: Path, folder: Path) -> Path:
    """Copy a file and its journal into `folder`; return the copy; raise OSError where there is no room."""
    for source in (path, *filter(_is_in_use, companions(path))):
        shutil.copyfile(source, folder / source.name)
    return folder / path.name


def left_open(path: Path) -> bool:
    """Return whether a process writes the SQLite file `path`, or was killed while writing."""
    return any(map(_is_in_use, companions(path)))


def companions(path: Path) -> list[Path]:
    """Return the files in which SQLite keeps what is not in `path` yet: of a link beside the file that it leads to."""
    path = resolved(path)
    return [path.with_name(path.name + ending) for ending in ("-wal", "-journal")]


def _is_in_use(journal: Path) -> bool:
    """Return whether the journal is there and has content.

    Some are left, with an empty head, when their transaction has ended.
    """
    if not journal.is_file():
        return False
    with journal.open("rb") as file:
        return any(file.read(_JOURNAL_HEAD_BYTES))
