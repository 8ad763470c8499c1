"""Fixtures: launch files in a temporary folder, running launches, packages in an ament index, live nodes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TIMEOUT_S = 60.0
ROS2 = [sys.executable, "-c", "import sys; from kc_vla_standalone.cli import main; sys.exit(main())"]


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


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment with a ROS home of its own."""
    env = dict(os.environ)
    env["ROS_HOME"] = str(tmp_path / "ros_home")
    env.pop("ROS_LOG_DIR", None)
    return env


@pytest.fixture
def ros2(environment: dict[str, str]) -> Iterator[Callable[..., Running]]:
    """Start `ros2 <words>`; whatever still runs at the end of the test is killed."""
    started: list[Running] = []

    def start(*words: str | Path, **extra_env: str) -> Running:
        running = Running([*ROS2, *(str(word) for word in words)], environment | extra_env)
        started.append(running)
        return running

    yield start
    for running in started:
        if running.process.poll() is None:
            running.send(signal.SIGKILL)
            running.wait()


@pytest.fixture
def launch_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a launch file from the text of its entities and return its path."""

    def write(entities: str, name: str = "test.launch.py", setup: str = "") -> Path:
        path = tmp_path / name
        path.write_text(
            "\n".join(
                [
                    "import sys",
                    "from launch import LaunchDescription",
                    "from launch.actions import *",
                    "from launch.conditions import *",
                    "from launch.event_handlers import *",
                    "from launch.events import matches_action",
                    "from launch.launch_description_sources import *",
                    "from launch.substitutions import *",
                    "from launch_ros.actions import *",
                    "from launch_ros.parameter_descriptions import *",
                    "from launch_ros.substitutions import *",
                    textwrap.dedent(setup),
                    "def generate_launch_description():",
                    f"    return LaunchDescription([{textwrap.dedent(entities)}])",
                ]
            )
        )
        return path

    return write


@pytest.fixture
def launch(ros2: Callable[..., Running], launch_file: Callable[..., Path]) -> Callable[..., Running]:
    """Launch the entities of a text."""

    def start(entities: str, *arguments: str, setup: str = "", **extra_env: str) -> Running:
        return ros2("launch", launch_file(entities, setup=setup), *arguments, **extra_env)

    return start


@pytest.fixture
def package(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Path]:
    """Install a package `demo` with executables (name -> text) and return its share folder."""
    prefix = tmp_path / "prefix"

    def install(**executables: str) -> Path:
        marker = prefix / "share/ament_index/resource_index/packages/demo"
        share = prefix / "share/demo"
        for folder in (marker.parent, share, prefix / "lib/demo"):
            folder.mkdir(parents=True, exist_ok=True)
        marker.touch()
        for name, text in executables.items():
            path = prefix / "lib/demo" / name
            path.write_text(f"#!{sys.executable}\n{textwrap.dedent(text)}")
            path.chmod(0o755)
        paths = [str(prefix), *os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
        environment["AMENT_PREFIX_PATH"] = os.pathsep.join(path for path in paths if path)
        return share

    return install
