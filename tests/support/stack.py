"""The whole stack as a user starts it, `ros2 launch ...`, with a test that reads along and does harm to it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import ClassVar

PATIENCE_S = 200.0
"""How long a test waits for what has to come. No test measures time: this only ends a test that hangs.

It is less than pytest's own patience, which ends a test without what the stack said.
"""

MAIN_JOB = {
    "simulator": "toy",
    "policy": "expert",
    "selector": "oracle",
    "task": "counting",
    "variant": "paper",
    "image_size": 64,
    "viewer": "false",
}
"""Launch arguments of a run that is soon over and whose keyframes are known: most tests are about other things."""

PIPER = ("kc_vla", "piper.launch.py")
REPLAY = ("kc_vla", "replay.launch.py")
HOUSEHOLD = ("kc_vla", "household.launch.py")

_GENTLE_S = 5.0
"""How long what is left may take to end in order. What is killed leaves the locks that the middleware's processes
share, and the next stack in the domain would wait for them."""

_MARK = "KC_VLA_TEST_STACK"
_STARTED = re.compile(r"\[(?P<node>\w+)-\d+\]: process started with pid \[(?P<pid>\d+)\]")
_EPISODE = re.compile(r"\bepisode (?P<id>[\w-]+): ")
_RESULT = re.compile(r"  (?P<outcome>succeeded|failed: .*) \(\d of \d stages")


class Stack:
    """A running launch whose output is read line by line."""

    living: ClassVar[list[Stack]] = []
    """Those that have not been ended."""

    def __init__(
        self,
        output: Path,
        arguments: Mapping[str, object],
        *,
        launch_file: Sequence[str] = ("kc_vla", "maniskill.launch.py"),
        environment: Mapping[str, str] | None = None,
        wrapper: Sequence[str] = (),
    ) -> None:
        """Start the launch file with the given arguments.

        Args:
            output: the launch argument `output`.
            arguments: the other launch arguments, in the simulator beside and instead of `MAIN_JOB`.
            launch_file: package and file, or the path of a file.
            environment: what differs from this process's environment.
            wrapper: a command that runs the command that follows it.
        """
        ros2 = shutil.which("ros2")
        assert ros2, "there is no ros2: source env.sh first"
        self.output = output
        self._mark = uuid.uuid4().hex
        main_job = {} if launch_file in (PIPER, REPLAY, HOUSEHOLD) else MAIN_JOB
        given = {**main_job, "output": output, **arguments}
        self._process = subprocess.Popen(
            [*wrapper, ros2, "launch", *launch_file, *(f"{name}:={value}" for name, value in given.items())],
            env={**os.environ, **(environment or {}), _MARK: self._mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._lines: list[str] = []
        self.living.append(self)
        self._news = threading.Condition()
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Stack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End whatever is still there."""
        self.living.remove(self)
        if self.is_running:
            self.press_ctrl_c()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GENTLE_S)
        for pid in [self._process.pid, *self._processes()]:
            _signal(pid, signal.SIGKILL)
        self._process.wait()

    # -- what it says -------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """Everything that was printed so far."""
        with self._news:
            return "\n".join(self._lines)

    def tail(self, lines: int = 60) -> str:
        """Return the last lines so far."""
        return "\n".join(self._lines[-lines:])

    @property
    def position(self) -> int:
        """Number of lines so far; what `since` of the other methods takes."""
        with self._news:
            return len(self._lines)

    def find(self, pattern: str | re.Pattern[str], since: int = 0) -> re.Match[str] | None:
        """Return the first match of `pattern` in the lines from number `since` on, if there is one."""
        with self._news:
            return next((found for line in self._lines[since:] if (found := re.search(pattern, line))), None)

    def wait_for(self, pattern: str | re.Pattern[str], since: int = 0) -> re.Match[str]:
        """Wait until a line, from number `since` on, matches."""
        deadline = time.monotonic() + PATIENCE_S
        with self._news:
            while True:
                for line in self._lines[since:]:
                    if found := re.search(pattern, line):
                        return found
                since = max(since, len(self._lines))
                assert not self._ended, f"it ended without a line like '{pattern}':\n{self.tail()}"
                assert time.monotonic() < deadline, f"no line like '{pattern}' in {PATIENCE_S:g} s:\n{self.tail()}"
                self._news.wait(1.0)

    @property
    def is_running(self) -> bool:
        """Whether the launch has not ended."""
        return self._process.poll() is None

    # -- episodes -----------------------------------------------------------------------------------------------

    def first_episode(self) -> Episode:
        """Return the first episode, once it has begun."""
        return Episode(self, self.wait_for(_EPISODE)["id"], 0)

    def all_episodes(self) -> list[Episode]:
        """Return the episodes that have begun so far."""
        with self._news:
            return [Episode(self, m["id"], n) for n, line in enumerate(self._lines) if (m := _EPISODE.search(line))]

    def running_episode(self) -> Episode:
        """Return the episode that runs, or wait for the next to begin."""
        with self._news:
            begun = [n for n, line in enumerate(self._lines) if _EPISODE.search(line)]
            ended = [n for n, line in enumerate(self._lines) if _RESULT.search(line)]
            since = len(self._lines)
        if begun and len(begun) > len(ended):
            since = begun[-1]
        found = self.wait_for(_EPISODE, since)
        return Episode(self, found["id"], since)

    # -- harm ---------------------------------------------------------------------------------------------------

    def pid(self, node: str) -> int:
        """Return the process of a node, the newest if it was started again."""
        with self._news:
            found = [m for line in self._lines if (m := _STARTED.search(line)) and m["node"] == node]
        assert found, f"{node} was not started:\n{self.tail()}"
        return int(found[-1]["pid"])

    def kill(self, node: str) -> None:
        """Kill a node without warning."""
        os.kill(self.pid(node), signal.SIGKILL)

    def pause(self, node: str) -> None:
        """Stop a node where it is."""
        os.kill(self.pid(node), signal.SIGSTOP)

    def resume(self, node: str) -> None:
        """Let a paused node go on."""
        os.kill(self.pid(node), signal.SIGCONT)

    def kill_launcher(self) -> None:
        """Kill `ros2 launch` itself without warning."""
        self._process.kill()

    def press_ctrl_c(self) -> None:
        """Interrupt the launch as a terminal does: its whole foreground process group."""
        os.killpg(self._process.pid, signal.SIGINT)

    def finish(self) -> int:
        """Wait for the end and return the exit code; fails if a process of the launch is left."""
        try:
            code = self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it has not ended for {PATIENCE_S:g} s:\n{self.tail()}") from None
        deadline = time.monotonic() + PATIENCE_S
        while left := self._processes():
            assert time.monotonic() < deadline, f"left behind: {sorted(left.values())}\n{self.tail()}"
            time.sleep(0.1)
        self._reader.join(PATIENCE_S)
        return code

    # -- inside -------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _processes(self) -> dict[int, str]:
        """Return pid and command of every live process that was started by this launch, however indirectly."""
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                alive = folder.joinpath("stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
                if alive and f"{_MARK}={self._mark}" in folder.joinpath("environ").read_text(errors="replace"):
                    found[int(folder.name)] = folder.joinpath("cmdline").read_text(errors="replace").replace("\0", " ")
            except OSError:  # it has ended in the meantime, or belongs to somebody else
                continue
        return found


class Episode:
    """One episode of a running stack."""

    def __init__(self, stack: Stack, episode_id: str, begun: int) -> None:
        self._stack = stack
        self.id = episode_id
        self.begun = begun

    @property
    def folder(self) -> Path:
        """Where its bag and its report are."""
        return self._stack.output / self.id

    @property
    def bag(self) -> Path:
        """Its bag."""
        return self.folder / "bag"

    @property
    def is_over(self) -> bool:
        """Whether its result was told."""
        return self._stack.find(_RESULT, self.begun) is not None

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait until a line of this episode matches."""
        return self._stack.wait_for(pattern, self.begun)

    def has_said(self, pattern: str) -> bool:
        """Whether a line of this episode matches."""
        return self._stack.find(pattern, self.begun) is not None

    def wait_for_result(self) -> str:
        """Wait for its end and return "succeeded", or "failed: " and the reason."""
        return self.wait_for(_RESULT.pattern)["outcome"]

    def wait_for_bag(self) -> Path:
        """Wait until its bag is closed and return it."""
        self.wait_for(rf"recorded \d+ messages in .*{re.escape(self.id)}")
        return self.bag


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
