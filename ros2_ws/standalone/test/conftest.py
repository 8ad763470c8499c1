"""Fixtures: launch files in a temporary folder, running launches, packages in an ament index, live nodes."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))

from running import Running

# Where ROS 2 is installed the stand-in is not, and there is nothing to test.
collect_ignore_glob = [] if importlib.util.find_spec("kc_vla_standalone") else ["*"]

ROS2 = [sys.executable, "-c", "import sys; from kc_vla_standalone.cli import main; sys.exit(main())"]


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
