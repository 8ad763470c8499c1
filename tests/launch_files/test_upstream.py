"""Each launch file under the table of ROS 2's own launch: what it takes functions for, and where its programs are."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from episode_bag import write_episode
from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, SetLaunchConfiguration
from launch.events import Shutdown
from launch.events.process import ProcessExited, ProcessStarted, ProcessStderr
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from launch.utilities import perform_substitutions
from upstream_calls import CALLS, Call

from kc_vla.launching import endings

ROOT = Path(__file__).parents[2]
CASES = {
    "annotate": ({"bag": "<bag>"},),
    "household": ({}, {"instruction": "wash an apple"}),
    "maniskill": ({},),
    "piper": (
        {"arm": "emulated", "can": "no_such_can"},
        {"can": "no_such_can", "policy": "leader", "leader": "/bus"},
        {"arm": "ros", "robot": "ur5e_ros", "policy": "joy"},
    ),
    "replay": ({"bag": "<bag>", "output": "<output>", "selector": "rules"},),
    "robot": ({"robot": "piper", "can": "no_such_can"}, {"robot": "ur5e_ros", "policy": "joy"}),
    "rogue_policy": ({},),
}
"""Launch arguments that let every function of a launch file be called."""
FILES = [*sorted((ROOT / "launch").glob("*.launch.py")), ROOT / "tests/support/rogue_policy.launch.py"]
PROCESS = {"action": None, "name": "a_node-1", "cmd": ["a_node"], "cwd": None, "env": None, "pid": 1}


class Noted:
    """A launch file as it was read, with the functions and the processes in it.

    Attributes:
        context: with the launch arguments in it.
        functions: with the place that takes each.
        processes: also those that functions of the launch file have described.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.context = LaunchContext()
        self.functions: list[tuple[Call, Callable[..., Any]]] = []
        self.processes: list[ExecuteProcess] = []
        for call in CALLS:
            module, name = call.owner
            self._note(monkeypatch, getattr(import_module(module), name), call)

    def _note(self, monkeypatch: pytest.MonkeyPatch, owner: type, call: Call) -> None:
        prepare = owner.__init__  # type: ignore[misc]

        def noting(this: Any, *given: Any, **named: Any) -> None:
            prepare(this, *given, **named)
            if callable(named.get(call.parameter)):
                self.functions.append((call, named[call.parameter]))
            if isinstance(this, ExecuteProcess) and this not in self.processes:
                self.processes.append(this)

        monkeypatch.setattr(owner, "__init__", noting)

    def read(self, file: Path, arguments: dict[str, str]) -> Noted:
        """Load the file and do what comes before processes start."""
        self.context.launch_configurations.update(arguments)
        self._visit(get_launch_description_from_python_launch_file(str(file)).entities)
        return self

    def _visit(self, entities: Iterable[LaunchDescriptionEntity]) -> None:
        for entity in entities:
            if isinstance(entity, DeclareLaunchArgument | OpaqueFunction | SetLaunchConfiguration):
                self._visit(entity.visit(self.context) or ())

    def program(self, process: ExecuteProcess) -> str:
        """The path or name of what a process runs."""
        return perform_substitutions(self.context, process.cmd[0])


def _cases() -> list[Any]:
    return [
        pytest.param(file, arguments, id=f"{file.name} {' '.join(arguments.values())}".strip())
        for file in FILES
        for arguments in CASES[file.name.removesuffix(".launch.py")]
    ]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Noted]:
    monkeypatch.setattr(endings, "_launch", endings._Launch())

    def read(file: Path, arguments: dict[str, str]) -> Noted:
        if "<bag>" in arguments.values():
            bag = write_episode(tmp_path / "bag")
            arguments = {**arguments, "bag": str(bag), "output": str(tmp_path / "runs")}
        return Noted(monkeypatch).read(file, arguments)

    return read


@pytest.mark.parametrize(("file", "arguments"), _cases())
def test_every_function_takes_what_it_is_called_with(
    read: Callable[..., Noted], file: Path, arguments: dict[str, str]
) -> None:
    noted = read(file, arguments)
    given = {
        "ProcessStarted": ProcessStarted(**PROCESS),
        "ProcessStderr": ProcessStderr(text=b"a line\nand half of", **PROCESS),
        "ProcessExited": ProcessExited(returncode=0, **PROCESS),
        "Shutdown": Shutdown(),
        "LaunchContext": noted.context,
    }
    assert noted.functions
    for call, function in noted.functions:
        if call.parameter == "function":
            continue  # has been called already, with the context
        annotated = [parameter.annotation for parameter in inspect.signature(function).parameters.values()]
        names = [annotation if isinstance(annotation, str) else annotation.__name__ for annotation in annotated]
        assert names == list(call.arguments), f"{function.__name__} for {call.owner[1]}({call.parameter}=)"
        answer = function(*(given[name] for name in call.arguments))
        entities = [] if answer is None else answer if isinstance(answer, list) else [answer]
        assert all(isinstance(entity, LaunchDescriptionEntity) for entity in entities)


@pytest.mark.parametrize(("file", "arguments"), _cases())
def test_no_program_depends_on_the_interpreter_that_the_launch_runs_in(
    read: Callable[..., Noted], file: Path, arguments: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On an installed ROS 2 that is the system's Python, which does not see the environment of the packages."""
    monkeypatch.setattr(sys, "executable", "/usr/bin/no_python_of_ours")
    noted = read(file, arguments)
    assert noted.processes
    for process in noted.processes:
        program = noted.program(process)
        assert shutil.which(program), f"{program} is not there"


def test_the_annotation_page_is_served_by_the_packages_own_program(
    read: Callable[..., Noted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/no_python_of_ours")
    noted = read(ROOT / "launch/annotate.launch.py", {"bag": "<bag>", "port": "0"})
    (server,) = noted.processes
    words = [perform_substitutions(noted.context, word) for word in server.cmd]
    helped = subprocess.run([*words, "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert helped.returncode == 0, helped.stderr
    assert helped.stdout.startswith("usage: kc-vla annotate page")
