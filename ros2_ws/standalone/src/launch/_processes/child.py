"""One running process of a launch."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import tags
from .environment import child_environment
from .line_reader import LineReader

_POLL_S = 0.02


@dataclass(frozen=True)
class ProcessSpec:
    """What to start: the command, its folder and environment (None inherits), and how."""

    cmd: tuple[str, ...]
    cwd: str | None
    env: dict[str, str]
    shell: bool
    emulate_tty: bool
    tag: str


class ChildProcess:
    """A process in a session of its own, whose output comes line by line, and its standard error also as it is read."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        spec: ProcessSpec,
        on_stdout_line: Callable[[str], None],
        on_stderr_line: Callable[[str], None],
        on_stderr: Callable[[bytes], None],
    ) -> None:
        """Start the process; OSError if it cannot be started."""
        self._loop = loop
        self._tag = spec.tag
        make_pipe = pty.openpty if spec.emulate_tty else os.pipe
        out_read, out_write = make_pipe()
        err_read, err_write = make_pipe()
        try:
            self._popen = subprocess.Popen(
                " ".join(spec.cmd) if spec.shell else list(spec.cmd),
                shell=spec.shell,
                cwd=spec.cwd,
                env=child_environment(spec.env, spec.tag),
                stdin=subprocess.DEVNULL,
                stdout=out_write,
                stderr=err_write,
                start_new_session=True,
            )
        except OSError:
            os.close(out_read)
            os.close(err_read)
            raise
        finally:
            os.close(out_write)
            os.close(err_write)
        self.pid = self._popen.pid
        self._readers = (
            LineReader(loop, out_read, on_stdout_line),
            LineReader(loop, err_read, on_stderr_line, on_stderr),
        )
        self._exited: asyncio.Future[int] = loop.create_future()
        self._pidfd = os.pidfd_open(self.pid)
        loop.add_reader(self._pidfd, self._on_exit)

    def _on_exit(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        # All that the process wrote before it ended is in the pipes now: print it before its end is told.
        for reader in self._readers:
            reader.drain()
        self._exited.set_result(self._popen.wait())

    async def wait(self) -> int:
        """Return the exit code; negative for a signal."""
        return await asyncio.shield(self._exited)

    async def ends_within(self, timeout_s: float) -> bool:
        """Wait for the end at most `timeout_s`; return whether the process has ended."""
        done, _ = await asyncio.wait([self._exited], timeout=timeout_s)
        return bool(done)

    def send_signal(self, signal_number: int) -> bool:
        """Send a signal to the process and its children; return whether the process was still there."""
        if self._exited.done():
            return False
        try:
            os.killpg(self.pid, signal_number)
        except ProcessLookupError:
            return False
        return True

    async def end_leftovers(self, steps: Sequence[tuple[signal.Signals, float]]) -> None:
        """End what the process left behind, then close its output.

        Each step is a signal and the seconds to wait for its effect; SIGKILL follows the last.
        """
        for signal_number, patience_s in steps:
            if not tags.signal_pids(self._tag, {self.pid}, signal_number):
                break
            deadline_s = self._loop.time() + patience_s
            while tags.find_pids(self._tag, {self.pid}) and self._loop.time() < deadline_s:
                await asyncio.sleep(_POLL_S)
        while tags.signal_pids(self._tag, {self.pid}, signal.SIGKILL):
            await asyncio.sleep(_POLL_S)
        for reader in self._readers:
            reader.finish()
