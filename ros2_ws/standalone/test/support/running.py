"""Commands that run while a test looks at them, and waiting for what they do."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

TIMEOUT_S = 60.0


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Poll until `condition` holds; fail after a generous time-out."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, f"timed out waiting until {what}"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


class Running:
    """A command whose output is read while it runs."""

    def __init__(self, words: list[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=env,
            start_new_session=True,
        )
        self._lines: list[str] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.append(line.rstrip("\n"))

    @property
    def output(self) -> str:
        return "\n".join(self._lines)

    def match(self, pattern: str) -> re.Match[str]:
        """Wait until a line matches and return the match."""
        found: list[re.Match[str]] = []

        def look() -> bool:
            found[:] = [match for line in list(self._lines) if (match := re.search(pattern, line))]
            return bool(found)

        wait_until(lambda: look() or self.process.poll() is not None, f"'{pattern}' appears in:\n{self.output}")
        if not found:
            self._thread.join(TIMEOUT_S)
            assert look(), f"no line matches '{pattern}' in:\n{self.output}"
        return found[0]

    def send(self, signal_number: int) -> None:
        self.process.send_signal(signal_number)

    def wait(self) -> int:
        """Wait for the end and return the exit code; `output` is complete then."""
        code = self.process.wait(TIMEOUT_S)
        self._thread.join(TIMEOUT_S)
        return code
