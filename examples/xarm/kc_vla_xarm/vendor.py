"""The vendor's SDK, kept from what a control process must not have: output on stdout, and other machines' sockets."""

from __future__ import annotations

import io
import logging
import socket
import sys
import time
from contextlib import redirect_stdout
from typing import Any

from kc_vla.arm.interface import ArmError, UnfitArmError

_REPEATS_S = 5.0
"""So long an error that is logged with each command is logged once."""


class _Seldom(logging.Filter):
    """Lets the same message through once in a while."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether it is logged."""
        now, text = time.monotonic(), record.msg[:40] if isinstance(record.msg, str) else str(record.msg)
        if now - self._last.get(text, -_REPEATS_S) < _REPEATS_S:
            return False
        if len(self._last) > 100:
            self._last.clear()
        self._last[text] = now
        return True


def load() -> Any:
    """Import the SDK and return its class `XArmAPI`.

    Raises:
        UnfitArmError: It is not installed, or cannot be imported.
    """
    try:
        with redirect_stdout(io.StringIO()):  # its import prints, and its loggers keep the stdout of then
            from xarm.core.utils import log
            from xarm.core.wrapper import uxbus_cmd, uxbus_cmd_tcp
            from xarm.wrapper import XArmAPI
            from xarm.x3 import base, gripper
    except (ImportError, OSError) as error:  # OSError: it makes a folder for logs in the home folder
        raise UnfitArmError(
            f"the vendor's SDK cannot be imported ({error}): pip install xarm-python-sdk==1.18.4, "
            "into the environment of the stack"
        ) from error
    for module in (base, gripper, uxbus_cmd, uxbus_cmd_tcp):
        module.print = _unheard
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.ERROR)
    handler.setFormatter(logging.Formatter("xarm-python-sdk: %(message)s"))
    handler.addFilter(_Seldom())
    for logger in (log.logger, log.origin_logger):
        logger.handlers[:] = [handler]
        logger.propagate = False
    return XArmAPI


def connected(api: Any, address: str, port_offset: int) -> Any:
    """Return a connection of the SDK.

    Raises:
        ArmError: Nothing answers there.
    """
    from xarm.core.config.x_config import XCONF

    XCONF.SocketConf.TCP_CONTROL_PORT = 502 + port_offset
    others = socket.getdefaulttimeout()  # connecting sets that of every socket of the process to a second
    try:
        # forbid_uds: a socket /tmp/xarmcontroller_uds_502 would otherwise be taken for the control box at any address
        arm = api(
            address,
            is_radian=True,
            do_not_open=True,
            forbid_uds=True,
            enable_report=False,
            check_joint_limit=False,
            check_is_pause=False,
            baud_checkset=False,
        )
        arm.connect()
    except Exception as error:  # the SDK raises nothing more special
        raise ArmError(f"no control box answers at {address}: {error}: is it on, and in this network?") from error
    finally:
        socket.setdefaulttimeout(others)
    return arm


def error_in_words(code: int) -> str:
    """Return what the vendor says of an error code of the controller, in English."""
    from xarm.core.config.x_code import ControllerErrorCodeMap

    row = ControllerErrorCodeMap.get(code) or ControllerErrorCodeMap.get("other") or {}
    english = row.get("en", {})
    title, do = english.get("title", "unknown"), english.get("desc", "")
    return f"{title.rstrip('.')}{f'. {do.rstrip(chr(46))}' if do else ''}"


def _unheard(*words: object, **how: object) -> None:
    """Take the place of `print` within the SDK."""
