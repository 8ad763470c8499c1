"""Looks at the operating system: real-time permission, disk, ports, the clock."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from kc_vla.arm.scheduling import PriorityError, lock_memory, take_priority
from kc_vla.core.ports import PORTS
from kc_vla.machine.finding import Finding, Level
from kc_vla.machine.usb import attribute

PRIORITY = 50
"""Default real-time priority of the control loop."""
_NO_ROOM, _LITTLE_ROOM = 1_000_000_000, 10_000_000_000
_LISTENS = "0A"
_UNSYNCHRONISED, _ERROR = 0x0040, 5
"""STA_UNSYNC and TIME_ERROR of sys/timex.h."""


def look_at_real_time(
    root: Path = Path("/"),
    take: Callable[[int], None] = take_priority,
    lock: Callable[[], None] = lock_memory,
    limit: Callable[[int], tuple[int, int]] = resource.getrlimit,
) -> list[Finding]:
    """Return whether the control loop may run before all others, with its memory in RAM.

    It is tried, and the memory of this process stays locked: call it in a process of its own (`look_apart`).

    Args:
        root: what /sys is below.
        take, lock: try it.
        limit: of this process, soft and hard.
    """
    priority, memory = limit(resource.RLIMIT_RTPRIO)[1], limit(resource.RLIMIT_MEMLOCK)[1]
    kernel = "real-time kernel" if attribute(root / "sys/kernel/realtime") == "1" else "ordinary kernel"
    refused = []
    try:
        take(PRIORITY)
        take(0)  # at once: whatever else this process does is no work that comes first
    except PriorityError:
        refused.append("priority")
    try:
        lock()
    except PriorityError:
        refused.append("locked memory")
    facts = {"rtprio": priority, "memlock": memory, "kernel": kernel, "refused": refused}
    if refused:
        told = f"no {' and no '.join(refused)} for the control loop: late beside other work; {kernel}"
        do = "kc-vla setup realtime --do, then log in again (a container: --ulimit rtprio=50 --ulimit memlock=-1)"
        return [Finding("real time", Level.WARN, told, do, facts)]
    return [Finding("real time", Level.OK, f"priority {PRIORITY} and locked memory allowed; {kernel}", facts=facts)]


def look_at_disk(folders: Mapping[str, Path], room: Callable[[Path], os.statvfs_result] = os.statvfs) -> list[Finding]:
    """Return a line for each disk on which the folders are.

    Args:
        folders: folders by their purpose.
        room: returns the space on the disk of a path.
    """
    disks: dict[int, tuple[list[str], Path]] = {}
    findings = []
    for what, folder in folders.items():
        there = next((path for path in (folder, *folder.parents) if path.is_dir()), Path("/"))
        if not os.access(there, os.W_OK | os.X_OK):
            do = "work in a folder of your own, or set XDG_CACHE_HOME for the cache"
            findings.append(Finding("disk", Level.WARN, f"{what}: {there} may not be written", do))
        disks.setdefault(there.stat().st_dev, ([], there))[0].append(what)
    return [_of_disk(names, path, room(path)) for names, path in disks.values()] + findings


def _of_disk(names: list[str], path: Path, of_all: os.statvfs_result) -> Finding:
    free = of_all.f_bavail * of_all.f_frsize
    told = f"{free / 1e9:.1f} GB free ({', '.join(names)})"
    facts = {"path": str(path), "free": free, "for": names}
    if free >= _LITTLE_ROOM:
        return Finding("disk", Level.OK, told, facts=facts)
    do = "free some space: what is recorded and trained takes gigabytes, and an episode ends where the disk is full"
    return Finding("disk", Level.FAIL if free < _NO_ROOM else Level.WARN, told, do, facts)


def look_at_ports(root: Path = Path("/"), ports: Mapping[int, str] = PORTS) -> list[Finding]:
    """Return whether others listen where the stack's own servers would; nothing is bound for that."""
    taken = set(listening(root)) & ports.keys()
    names = [f"{port} ({ports[port]})" for port in sorted(taken)]
    facts = {"ports": {str(port): port not in taken for port in ports}}
    if not taken:
        return [Finding("ports", Level.OK, f"{', '.join(map(str, ports))} are free", facts=facts)]
    do = "end what runs there (`ss -ltnp` names it), if it is not this stack's own, or take another port"
    return [Finding("ports", Level.WARN, f"in use: {', '.join(names)}", do, facts)]


def listening(root: Path = Path("/")) -> list[int]:
    """Return the TCP ports at which something listens, as /proc/net has them."""
    return sorted({port for name in ("tcp", "tcp6") for port in _listening_in(root / "proc/net" / name)})


def _listening_in(table: Path) -> Iterator[int]:
    try:
        lines = table.read_text(errors="replace").splitlines()
    except OSError:  # a machine without IPv6
        return
    for line in lines:
        words = line.split()
        if len(words) > 3 and words[3] == _LISTENS:
            digits = words[1].rpartition(":")[2]
            if len(digits) == 4 and all(digit in "0123456789ABCDEF" for digit in digits):
                yield int(digits, 16)


class _Clock(ctypes.Structure):
    """The struct `timex` of sys/timex.h, for 64 bits, with room for what comes after."""

    _fields_ = [
        ("modes", ctypes.c_uint),
        *((name, ctypes.c_long) for name in ("offset", "frequency", "most_error_us", "error_us")),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_long * 32),
    ]


def ask_clock() -> tuple[int, int, int]:
    """Return state and status bits of the kernel's clock, and its largest error, us.

    It asks adjtimex(2) and sets nothing.

    Raises:
        OSError: the system does not let it be asked, as in some containers.
    """
    clock = _Clock()
    state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(clock))
    if state < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return state, clock.status, clock.most_error_us


def look_at_clock(ask: Callable[[], tuple[int, int, int]] = ask_clock) -> list[Finding]:
    """Return whether something keeps the clock right.

    With one machine it does not matter, with two the stamps must agree.
    """
    try:
        state, status, error_us = ask()
    except OSError as error:
        return [Finding("clock", Level.WARN, f"cannot be asked: {error.strerror}", "see `timedatectl`")]
    good = state != _ERROR and not status & _UNSYNCHRONISED
    facts = {"synchronised": good, "most_error_us": error_us}
    if good:
        return [Finding("clock", Level.OK, f"synchronised, at most {error_us / 1000:.3g} ms off", facts=facts)]
    do = "one machine does without; for several: apt-get install chrony, or 'sudo timedatectl set-ntp true'"
    return [Finding("clock", Level.WARN, "not synchronised with others", do, facts)]
