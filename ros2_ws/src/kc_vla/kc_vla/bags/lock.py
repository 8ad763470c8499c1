"""Who writes a bag: a lock on its folder, which ends with the process that holds it, however that ends."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from pathlib import Path
from types import TracebackType

from kc_vla.bags.errors import BagBusyError
from kc_vla.core.files import locks

_WAIT_S = 0.5
"""Time, s, that a process which only asks may hold the lock."""
_STEP_S = 0.02


class BagLock:
    """The right to write the files of a bag, from its making until `release`."""

    def __init__(self, bag: Path) -> None:
        """Take the lock of `bag`, a folder, or a file in one.

        Raises:
            BagBusyError: another process has it.
            OSError: the folder cannot be opened.
        """
        self._folder: int | None = _open(bag)
        deadline = time.monotonic() + _WAIT_S
        while not locks(self._folder):
            if time.monotonic() > deadline:
                self.release()
                raise BagBusyError(
                    f"{bag} is being recorded or repaired by another process: it is left alone; wait for its end"
                )
            time.sleep(_STEP_S)

    def release(self) -> None:
        """Leave the bag to others; doing so twice does no harm."""
        if self._folder is not None:
            os.close(self._folder)
            self._folder = None

    def __enter__(self) -> BagLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def is_being_written(bag: Path) -> bool:
    """Return whether a process records or repairs `bag`, a folder, or a file in one.

    Raises:
        OSError: its folder cannot be opened.
    """
    folder = _open(bag)
    try:
        return not locks(folder, fcntl.LOCK_SH)
    finally:
        os.close(folder)


def require_finished(bag: Path) -> None:
    """Go on only if nobody writes `bag`; one that is not there is left to its reader.

    Raises:
        BagBusyError: a process does.
        OSError: its folder cannot be opened.
    """
    if bag.exists() and is_being_written(bag):
        raise BagBusyError(f"{bag} is being recorded: wait until its episode has ended")


def is_open_for_writing(path: Path) -> bool:
    """Return whether any program has a file open for writing; third-party recorders take no lock of ours.

    The kernel is asked for a lease, which it gives on a file that nobody writes. False where it cannot be asked: on a
    file of another user, or a file system that has no leases.
    """
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno in (errno.EAGAIN, errno.EBUSY)
    finally:
        os.close(file)
    return False


def _open(bag: Path) -> int:
    return os.open(bag if bag.is_dir() else bag.parent, os.O_RDONLY | os.O_DIRECTORY)
