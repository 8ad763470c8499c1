"""The emulated control box, in a process of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

ADDRESS = "127.0.0.1"
_PROGRAM = Path(__file__).with_name("emulated_controller.py")
_PORTS = (502, 30002, 30003)


class ControlBox:
    """See `emulated_controller.py`.

    Attributes:
        offset: of its ports from the vendor's.
    """

    def __init__(self) -> None:
        self.offset = _free_offset()
        words = [sys.executable, str(_PROGRAM), ADDRESS, str(self.offset)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._answer() == "ready"

    def ask(self, *words: object) -> Any:
        """Have it do something; return what it says."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20.0)

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def _free_offset() -> int:
    """An offset at which all ports are free; programs of ours that look at the same time begin elsewhere."""
    for offset in range(1000 + os.getpid() % 1000 * 30, 35000):
        try:
            for port in _PORTS:
                with socket.create_server((ADDRESS, port + offset)):
                    pass
        except OSError:
            continue
        return offset
    raise OSError("no free ports")
