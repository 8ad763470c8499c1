"""The annotation page's server as a process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

_PATIENCE_S = 60.0
_OPEN = re.compile(r"open (http://localhost:\d+)")


class PageServer:
    """`kc-vla annotate page` as a process."""

    def __init__(self, path: Path, cache: Path, *, port: int = 0) -> None:
        """Start it for the bags under `path`, with `cache` as the user's cache folder."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kc_vla.cli", "annotate", "page", str(path), "--port", str(port)],
            env={**os.environ, "XDG_CACHE_HOME": str(cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.address = self._served()
        except AssertionError:
            self.kill()
            raise

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *exception: object) -> None:
        """End it, whatever it does."""
        self.kill()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rpartition(":")[2])

    def kill(self) -> None:
        """Without a warning."""
        self._process.kill()
        self._process.wait()

    def interrupt(self) -> int:
        """As Ctrl-C does; returns its exit code."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(_PATIENCE_S)

    def _served(self) -> str:
        until = time.monotonic() + _PATIENCE_S
        while not (found := _OPEN.search(self.text)):
            assert self._process.poll() is None, f"it has ended: {self.text}"
            assert time.monotonic() < until, f"it does not serve: {self.text}"
            time.sleep(0.02)
        return found[1]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.text += line
