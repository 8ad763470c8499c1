"""The two ways in which rosbag2 stores a bag."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from kc_vla.core.files import by_number


class Storage(StrEnum):
    """By rosbag2's names."""

    MCAP = "mcap"
    SQLITE3 = "sqlite3"

    @property
    def suffix(self) -> str:
        """Return how the names of its files end."""
        return {Storage.MCAP: ".mcap", Storage.SQLITE3: ".db3"}[self]


PACKED = ".zstd"
"""What rosbag2 adds to the names of files that it compresses as a whole (its compression mode FILE)."""


def storage_of(path: Path) -> Storage:
    """Return how the file `path` is stored; what has no known ending is taken for MCAP."""
    return Storage.SQLITE3 if path.suffix == Storage.SQLITE3.suffix else Storage.MCAP


def files_of(folder: Path, storage: Storage) -> list[Path]:
    """Return the files of a bag folder in the order of recording: name_0, name_1, ... name_10."""
    return sorted(folder.glob(f"*{storage.suffix}"), key=by_number)
