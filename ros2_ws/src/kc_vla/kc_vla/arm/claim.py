"""One controller for each arm: who has its name has the arm."""

from __future__ import annotations

import socket
from pathlib import Path

from kc_vla.arm.interface import ArmError

_NAME = "kc_vla/"


def is_claimed(channel: str, root: Path = Path("/")) -> bool:
    """Return whether a controller has the arm, as the kernel's table of sockets says; nothing is taken for that.

    Args:
        channel: of the arm.
        root: what /proc is below.
    """
    try:
        lines = (root / "proc/net/unix").read_text(errors="replace").splitlines()
    except OSError:
        return False
    return any(line.endswith(f" @{_NAME}{channel}") for line in lines)


def claim(channel: str) -> socket.socket:
    """Take the name of an arm on this machine, until the socket is closed or the process gone, however it went.

    Raises:
        ArmError: another controller has the arm.
    """
    name = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        name.bind(f"\0{_NAME}{channel}")
    except OSError as error:
        name.close()
        raise ArmError(f"another controller has the arm on '{channel}': end it first") from error
    return name
