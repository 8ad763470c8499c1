"""The tag of a launch in the environment of its processes, and finding processes by it.

Imports little and nothing of this package: the keeper runs this module without site-packages.
"""

import os
import signal
import time

VARIABLE = "KC_VLA_LAUNCH_TAG"
_POLL_S = 0.05


def new_launch_tag() -> str:
    """Return a tag that no other launch has."""
    return os.urandom(8).hex()


def process_tag(launch_tag: str, number: int) -> str:
    """Return the tag of the `number`-th process of a launch; the launch's own tag is its beginning."""
    return f"{launch_tag}:{number};"


def tagged_pids(tag: str) -> list[int]:
    """Return the live processes that carry `tag`: one process's tag, or a launch's for all of its processes."""
    needle = f"\0{VARIABLE}={tag}".encode()
    return [pid for pid in _all_pids() if needle in b"\0" + _environment_of(pid) and not _is_zombie(pid)]


def signal_tagged(tag: str, signal_number: int) -> int:
    """Send a signal to every process that carries `tag`; return how many there were."""
    pids = tagged_pids(tag)
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except ProcessLookupError:
            continue
    return len(pids)


def end_tagged(tag: str, sigterm_timeout_s: float, sigkill_timeout_s: float) -> None:
    """Shut down everything that carries `tag`: SIGINT, then SIGTERM, then SIGKILL until nothing is left."""
    for signal_number, patience_s in (
        (signal.SIGINT, sigterm_timeout_s),
        (signal.SIGTERM, sigkill_timeout_s),
    ):
        if signal_tagged(tag, signal_number) == 0:
            return
        deadline = time.monotonic() + patience_s
        while tagged_pids(tag) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
    # Again and again: a process that was being forked has carried the tag only since its exec.
    while signal_tagged(tag, signal.SIGKILL):
        time.sleep(_POLL_S)


def _all_pids() -> list[int]:
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own]


def _environment_of(pid: int) -> bytes:
    """Return the environment at exec; empty for a process that has gone or belongs to somebody else."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True
