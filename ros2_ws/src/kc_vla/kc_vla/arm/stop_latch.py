"""The record of an emergency stop, which outlives the process that received it: only a person's release ends it."""

from __future__ import annotations

import fcntl
import os
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from kc_vla.core.files import locks

PRESSED = "an emergency stop was pressed"
"""What is on record of one."""
_MOST_BYTES = 1 << 14
"""A record beyond this size takes in no more presses: that there is one is what counts."""
_TRIES = 3
"""A release may remove the record while a press is written to it: the press is then written again."""


class LatchError(OSError):
    """The stop cannot be written down, or its record cannot be removed; the text says what to do."""


def usual_folder(channel: str) -> Path:
    """Return the folder for the stop record of the arm on that channel, for every process of this user.

    Raises:
        LatchError: there is no such place.
    """
    home = os.environ.get("ROS_HOME") or os.path.expanduser("~/.ros")
    if home.startswith("~"):
        raise LatchError("HOME is not set: set it, or ROS_HOME, to a folder that can be written")
    return Path(home, "kc_vla", f"arm-{quote(channel, safe='')}")


class StopLatch:
    """A stop on record: while the file is there, the arm stands still. Several processes may write to it."""

    def __init__(self, folder: Path | None) -> None:
        """Open the record of stops.

        Args:
            folder: for the record; None keeps none, so that a restart forgets.
        """
        self._record = folder / "emergency_stop" if folder is not None else None

    @property
    def is_set(self) -> bool:
        """Return whether a stop is on record."""
        return self._record is not None and self._record.exists()

    @property
    def reason(self) -> str:
        """Return what the latest line of the record says, with its UTC time; empty without one."""
        try:
            lines = self._record.read_text(errors="replace").splitlines() if self._record is not None else []
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def set(self, reason: str = PRESSED) -> None:
        """Put a stop on record: on the disk when this returns.

        Raises:
            LatchError: it cannot be written; the arm stands still all the same, but a restart would forget it.
        """
        if self._record is None:
            return
        line = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC: {reason}\n"
        try:
            self._record.parent.mkdir(parents=True, exist_ok=True)
            for _ in range(_TRIES):
                with self._record.open("a", encoding="utf-8") as file:
                    if file.tell() < _MOST_BYTES:
                        file.write(line)
                        file.flush()
                        os.fsync(file.fileno())
                if self._record.exists():
                    return
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
            raise LatchError(
                f"the stop is still set, because its record cannot be removed ({error}): remove {self._record}"
            ) from error


class RunMark:
    """A file that is there while a controller runs: one that is left behind says that the controller was killed."""

    def __init__(self, folder: Path | None) -> None:
        """Prepare the mark; `take` sets it.

        Args:
            folder: for the file; None keeps none.
        """
        self._path = folder / "running" if folder is not None else None
        self._held: int | None = None

    def take(self) -> bool | None:
        """Mark that this controller runs.

        Returns:
            whether the controller before did not end in order; None while another one runs, whose mark it is.

        Raises:
            LatchError: the mark cannot be written.
        """
        if self._path is None:
            return False
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            if not locks(file, fcntl.LOCK_EX) or not os.fstat(file).st_nlink:  # another one's, or just removed
                os.close(file)
                return None
            left = os.fstat(file).st_size > 0
            os.pwrite(file, f"The controller with the process id {os.getpid()} runs.\n".ljust(80).encode(), 0)
            os.fsync(file)
        except OSError as error:
            raise LatchError(
                f"a restarted controller would not know that this one was killed: {error}. Check {self._path}"
            ) from error
        self._held = file
        return left

    def release(self) -> None:
        """Remove the mark: this controller ends in order."""
        if self._held is None or self._path is None:
            return
        self._path.unlink(missing_ok=True)
        os.close(self._held)
        self._held = None
