"""One controller for each arm: who has its name has the arm."""

from __future__ import annotations

import socket

from kc_vla.arm.interface import ArmError


def claim(channel: str) -> socket.socket:
    """Take the name of an arm on this machine, until the socket is closed or the process gone, however it went.

    Raises:
        ArmError: another controller has the arm.
    """
    name = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        name.bind(f"\0kc_vla/{channel}")
    except OSError as error:
        name.close()
        raise ArmError(f"another controller has the arm on '{channel}': end it first") from error
    return name
