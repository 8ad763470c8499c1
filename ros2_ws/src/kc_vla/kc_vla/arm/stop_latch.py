"""Remembers an emergency stop beyond the process that was told of it: only a person's release ends it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from kc_vla.core.files import write_whole


class LatchError(OSError):
    """The stop cannot be written down, or its record cannot be removed; the text says what to do."""


def usual_folder(channel: str) -> Path:
    """Where a stop of the arm on that channel is on record: of the arm, whoever starts what from where.

    Raises:
        LatchError: there is no such place.
    """
    home = os.environ.get("ROS_HOME") or os.path.expanduser("~/.ros")
    if home.startswith("~"):
        raise LatchError("HOME is not set: set it, or ROS_HOME, to a folder that can be written")
    return Path(home, "kc_vla", f"arm-{quote(channel, safe='')}")


class StopLatch:
    """A stop on record: the file is there, the arm stands still."""

    def __init__(self, folder: Path | None) -> None:
        """Args: `folder` for the record; None keeps none, so that a restart forgets."""
        self._record = folder / "emergency_stop" if folder is not None else None

    @property
    def is_set(self) -> bool:
        """True if a stop is on record."""
        return self._record is not None and self._record.exists()

    def set(self) -> None:
        """Put the stop on record.

        Raises:
            LatchError: it cannot be written; the arm stands still all the same, but a restart would forget it.
        """
        if self._record is None:
            return
        try:
            self._record.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._record, "An emergency stop; released by the service arm/release_e_stop.\n")
        except OSError as error:
            raise LatchError(f"a restarted controller would forget this stop: {error}. Check {self._record}") from error

    def clear(self) -> None:
        """Remove the record.

        Raises:
            LatchError: it cannot be removed.
        """
        if self._record is None:
            return
        try:
            self._record.unlink(missing_ok=True)
        except OSError as error:
            raise LatchError(f"the stop stays on record: {error}. Remove {self._record}") from error
