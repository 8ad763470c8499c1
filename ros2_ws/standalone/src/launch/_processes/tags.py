"""The tag of a launch in the environment of its processes, and finding processes by it.

Imports little and nothing of this package: the keeper runs this module without site-packages.
"""

import os
import signal
import time
from collections.abc import Collection

VARIABLE = "KC_VLA_LAUNCH_TAG"
_POLL_S = 0.05


def new_launch_tag() -> str:
    """Return a tag that no other launch has."""
    return os.urandom(8).hex()


def process_tag(launch_tag: str, number: int) -> str:
    """Return the tag of one process of a launch; the launch's own tag is its beginning."""
    return f"{launch_tag}:{number};"


def find_pids(tag: str, sessions: Collection[int]) -> list[int]:
    """Return the live processes that carry `tag`, or one that begins with it, or belong to one of `sessions`."""
    needle = f"\0{VARIABLE}={tag}".encode()
    found = []
    for pid in _all_pids():
        state, session = _state_and_session(pid)
        if state in "ZX":
            continue
        if session in sessions or needle in b"\0" + _environment_of(pid):
            found.append(pid)
    return found


def signal_pids(tag: str, sessions: Collection[int], signal_number: int) -> int:
    """Send a signal to every process that `find_pids` finds; return how many there were."""
    pids = find_pids(tag, sessions)
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except (ProcessLookupError, PermissionError):
            continue
    return len(pids)


def end_pids(tag: str, sessions: Collection[int], sigterm_timeout_s: float, sigkill_timeout_s: float) -> None:
    """Shut down what `find_pids` finds: SIGINT, then SIGTERM, then SIGKILL until nothing is left."""
    for signal_number, patience_s in (
        (signal.SIGINT, sigterm_timeout_s),
        (signal.SIGTERM, sigkill_timeout_s),
    ):
        if signal_pids(tag, sessions, signal_number) == 0:
            return
        deadline_s = time.monotonic() + patience_s
        while find_pids(tag, sessions) and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
    # Again and again: a process that was being forked carries the tag only since its exec.
    while signal_pids(tag, sessions, signal.SIGKILL):
        time.sleep(_POLL_S)


def _all_pids() -> list[int]:
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own]


def _environment_of(pid: int) -> bytes:
    """Return the environment at exec; empty for a process that has gone or belongs to another user."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _state_and_session(pid: int) -> tuple[str, int]:
    """Return the state letter and the session of a process; 'X' (dead) for one that has gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return "X", -1
    return fields[0].decode(), int(fields[3])
