"""Looks at the machine, each in a process of its own: a driver that hangs or crashes costs its own line alone."""

from __future__ import annotations

import json
import os
import selectors
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from kc_vla.machine.finding import Finding, Level, from_json

Look = Callable[[], Sequence[Finding]]
_MOST_BYTES = 1 << 20
_LEAVE_S = 0.5


@dataclass
class _Looking:
    name: str
    process: int
    pipe: int
    heard: bytearray = field(default_factory=bytearray)
    ended: bool = False


def look_apart(looks: Mapping[str, Look], seconds: float) -> list[Finding]:
    """Do all looks at once and return what they found, in their order.

    Args:
        looks: checks by name, which the report has where one fails; their own processes run them, so that whatever they
            change in the process (priorities, locks, libraries) is gone afterwards.
        seconds: for all together. A check that takes longer is ended, with what it started, and reported as a warning.
    """
    looking = [_begin(name, look) for name, look in looks.items()]
    try:
        _listen(looking, time.monotonic() + seconds)
    finally:
        statuses = [_end(one) for one in looking]
    return [found for one, status in zip(looking, statuses, strict=True) for found in _told(one, status, seconds)]


def _begin(name: str, look: Look) -> _Looking:
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return _Looking(name, process, reading)
    status = 1
    try:
        os.setsid()  # so that its own processes end with it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        quiet = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):  # libraries warn on them, of what is told in the findings
            os.dup2(quiet, descriptor)
        with os.fdopen(writing, "w") as answer:
            answer.write(json.dumps([finding.as_json() for finding in _found(name, look)]))
        status = 0
    finally:
        os._exit(status)  # neither the parent's buffers nor its exit handlers are this process's


def _found(name: str, look: Look) -> Sequence[Finding]:
    try:
        return look()
    except Exception as error:  # noqa: BLE001  # whatever it is, the other lines are told
        said = " ".join(str(error).split()) or "-"
        return [Finding(name, Level.WARN, f"could not be looked at: {type(error).__name__}: {said[:300]}")]


def _listen(looking: Sequence[_Looking], deadline: float) -> None:
    with selectors.DefaultSelector() as selector:
        for one in looking:
            selector.register(one.pipe, selectors.EVENT_READ, one)
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                data = os.read(key.fd, 1 << 16)
                key.data.heard += data
                if not data or len(key.data.heard) > _MOST_BYTES:
                    key.data.ended = True
                    selector.unregister(key.fd)


def _end(one: _Looking) -> int | None:
    """Give the status of its process; None if it did not end in time."""
    os.close(one.pipe)
    if not one.ended:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(one.process, signal.SIGKILL)
    # A process that a driver holds in the kernel does not even end when killed: it is left to the system.
    until = time.monotonic() + _LEAVE_S
    while True:
        process, status = os.waitpid(one.process, os.WNOHANG)
        if process or time.monotonic() > until:
            break
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(status) if process and one.ended else None


def _told(one: _Looking, status: int | None, seconds: float) -> list[Finding]:
    if not one.ended:
        return [Finding(one.name, Level.WARN, f"no answer for {seconds:g} s: a driver or a disk hangs")]
    try:
        return [from_json(row) for row in json.loads(one.heard)]
    except ValueError:
        how = f"signal {-status}" if status is not None and status < 0 else f"status {status}"
        return [
            Finding(one.name, Level.FAIL, f"looking at it ended a process with {how}: a driver or library is broken")
        ]
