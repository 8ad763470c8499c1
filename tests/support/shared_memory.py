"""What killed processes leave in shared memory: tests kill many, and no later process should wait for their locks."""

import time
from contextlib import suppress
from pathlib import Path

from kc_vla.machine.middleware import left_behind

_FOLDER, _LOCKS = Path("/dev/shm"), Path("/proc/locks")
_AGE_S = 60.0
"""What is younger may be of a process that begins and holds no lock yet."""


def clear(ports: range) -> None:
    """Remove the segments of processes that are no more, and the ports of a domain in which nobody is."""
    for segment in left_behind(_FOLDER, _LOCKS):
        with suppress(OSError):  # gone since, or another user's
            if time.time() - segment.stat().st_mtime > _AGE_S:
                segment.unlink()
                segment.with_name(f"{segment.name}_el").unlink()
    for port in ports:
        for file in _FOLDER.glob(f"*fastrtps_port{port}*"):
            with suppress(OSError):
                file.unlink()
