"""Starts nodes and helpers as real processes, and ends them with everything that they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil
from domain_coordinator import domain_id

from .measuring import MeasurementError

ROOT = Path(__file__).parents[2]
_PATIENCE_S = 30.0
_BEGINS_S = 120.0
"""Until nodes are found and warmed up, also on a busy machine."""


class Processes:
    """A group of processes that ends with a `with` block: SIGINT in reverse order, SIGKILL for what stays."""

    def __init__(self, log: Path) -> None:
        """Args: `log`, the file that the output of all of them goes to."""
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("wb")
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command in a group of its own, but in the session of all, as a launch does.

        The system may share the processor among sessions first, and priorities count only within each.
        """
        process = subprocess.Popen(command, cwd=ROOT, stdout=self._log, stderr=subprocess.STDOUT, process_group=0)
        self._running.append(process)
        return process

    def node(self, executable: str, package: str = "kc_vla", **parameters: Any) -> subprocess.Popen[bytes]:
        """Start a node as an executable of its package."""
        words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={_yaml(value)}")]
        return self.start("ros2", "run", package, executable, "--ros-args", *words)

    def helper(self, module: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a module of this folder with command line options."""
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return self.start(sys.executable, "-m", f"{__package__}.{module}", *words)

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Interrupt a process and wait for its end; kill it, and what it left behind, if it does not end."""
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(True)] if _alive(process) else []
        if family:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
        for left in psutil.wait_procs(family, timeout=2.0)[1]:
            left.kill()
        self._running.remove(process)

    def check(self) -> None:
        """Raise `MeasurementError` if one of them has ended by itself."""
        for process in self._running:
            if not _alive(process):
                words = " ".join(map(str, process.args))
                raise MeasurementError(f"'{words}' ended with {process.returncode}: see {self._log.name}")

    def sleep(self, seconds: float) -> None:
        """Let time pass while all of them run."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.5))
            self.check()

    def wait_for_episode(self, has_begun: Callable[[], bool]) -> None:
        """Let time pass, while all of them run, until an episode `has_begun()`; `MeasurementError` if none does."""
        until = time.monotonic() + _BEGINS_S
        while not has_begun():
            if time.monotonic() > until:
                raise MeasurementError(f"no episode began within {_BEGINS_S:g} s: do the nodes run?")
            self.sleep(0.1)

    def __enter__(self) -> Processes:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all of them."""
        for process in reversed(self._running.copy()):
            self.stop(process)
        self._log.close()


@contextmanager
def own_domain() -> Iterator[None]:
    """Talk in the ROS domain of the shell, or in a free one if the shell names none."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    if "ROS_DOMAIN_ID" in os.environ:
        yield
        return
    with domain_id() as domain:
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        yield


def node_processes(launch: subprocess.Popen[bytes]) -> Mapping[str, psutil.Process]:
    """Return the running nodes of a launch by name."""
    found = {}
    for process in psutil.Process(launch.pid).children(recursive=True):
        try:
            words = process.cmdline()
        except psutil.NoSuchProcess:
            continue
        names = [word.removeprefix("__node:=") for word in words if word.startswith("__node:=")]
        if names:
            found[names[0]] = process
    return found


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and of what it started, s."""
    whole = psutil.Process(pid)
    times = [each.cpu_times() for each in (whole, *whole.children(recursive=True))]
    return sum(t.user + t.system for t in times)


def _alive(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is None


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
