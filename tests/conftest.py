"""Starts whole stacks for the tests that cross packages, and shares one good run among those that only look."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from finished_run import FinishedRun
from stack import Stack

GOOD_SEED = 3
_TAIL = 80
"""Lines of a stack's output that are shown where its test fails."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the stacks of a failed test said last."""
    report = yield
    if report.failed:
        for stack in Stack.living:
            report.sections.append((f"last lines of the stack in {stack.output}", stack.tail(_TAIL)))
    return report


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Stack]]:
    """Return a function that starts the stack; it is ended with the test."""
    with ExitStack() as running:

        def start(
            *,
            output: Path | None = None,
            environment: Mapping[str, str] | None = None,
            wrapper: Sequence[str] = (),
            **arguments: object,
        ) -> Stack:
            own = {"ROS_HOME": str(tmp_path / "ros_home"), **(environment or {})}
            stack = Stack(output or tmp_path / "runs", arguments, environment=own, wrapper=wrapper)
            return running.enter_context(stack)

        yield start


@pytest.fixture(scope="session")
def good_run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """The main job, run once: lock-step, oracle keyframes, the expert, a whole report."""
    folder = tmp_path_factory.mktemp("good_run")
    with Stack(
        folder / "runs", {"seed": GOOD_SEED, "simulator": "maniskill"}, environment={"ROS_HOME": str(folder)}
    ) as stack:
        return FinishedRun.of(stack)


@pytest.fixture(scope="session")
def toy_run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """The same with the toy robot, for tests to which the pictures do not matter."""
    folder = tmp_path_factory.mktemp("toy_run")
    with Stack(folder / "runs", {"seed": GOOD_SEED}, environment={"ROS_HOME": str(folder)}) as stack:
        return FinishedRun.of(stack)
