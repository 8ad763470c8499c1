"""Functions of a launch file are called as ROS 2's own launch calls them, and what fails there fails here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from running import Running
from upstream_calls import CALLS, Call

ENTITIES = {
    "OnProcessIO": "RegisterEventHandler(OnProcessIO(on_stderr=hook)), job",
    "OnProcessStart": "RegisterEventHandler(OnProcessStart(on_start=hook)), job",
    "OnProcessExit": "RegisterEventHandler(OnProcessExit(on_exit=hook)), job",
    "OnShutdown": "RegisterEventHandler(OnShutdown(on_shutdown=hook)), job",
    "ExecuteProcess": "ExecuteProcess(cmd=['true'], on_exit=hook)",
    "Node": "Node(executable='/bin/true', on_exit=hook)",
    "OpaqueFunction": "OpaqueFunction(function=hook)",
}
JOB = "job = ExecuteProcess(cmd=['sh', '-c', 'echo oh >&2'])"
every_call = pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.owner[1]} {call.parameter}")


def hook(launch: Callable[..., Running], call: Call, function: str) -> Running:
    return launch(ENTITIES[call.owner[1]], setup=f"{JOB}\n{function}")


@every_call
def test_a_function_gets_what_the_table_says(launch: Callable[..., Running], call: Call) -> None:
    running = hook(launch, call, "def hook(*given, **named): print('given', [type(g).__name__ for g in given], named)")
    assert running.wait() == 0
    assert f"given {list(call.arguments)} {{}}" in running.output


@every_call
@pytest.mark.parametrize("more", [-1, 1], ids=["too few", "too many"])
def test_a_function_with_another_number_of_parameters_ends_the_launch(
    launch: Callable[..., Running], call: Call, more: int
) -> None:
    parameters = ", ".join(f"given_{number}" for number in range(len(call.arguments) + more))
    running = hook(launch, call, f"def hook({parameters}): pass")
    assert running.wait() == 1
    running.match(
        r"^\[ERROR\] \[launch\]: Caught exception in launch \(see debug .*\): hook\(\) .* positional argument"
    )
    assert "Traceback" not in running.output


def test_an_opaque_function_gets_its_arguments_after_the_context(launch: Callable[..., Running]) -> None:
    running = launch(
        "OpaqueFunction(function=hook, args=[1, 'two'], kwargs={'three': 3})",
        setup="def hook(context, one, two, *, three): print('given', one, two, three)",
    )
    assert running.wait() == 0
    assert "given 1 two 3" in running.output


@pytest.mark.parametrize("returned", ["LogInfo(msg='one')", "[None]"])
def test_an_opaque_function_returns_its_entities_in_a_list(launch: Callable[..., Running], returned: str) -> None:
    running = launch("OpaqueFunction(function=hook)", setup=f"def hook(context): return {returned}")
    assert running.wait() == 1
    assert "Caught exception in launch" in running.output.splitlines()[-1]


def test_output_comes_in_pieces_as_it_was_written_and_not_line_by_line(
    launch: Callable[..., Running], tmp_path: Path
) -> None:
    """The process waits after each piece until that piece was heard: no piece is read together with the next."""
    pieces = [b"half", b" a line\nand ", b"two\nlines\n", "é".encode()[:1], "é".encode()[1:] + b"\n"]
    writer = tmp_path / "writer.py"
    writer.write_text(
        "import os, pathlib, time\n"
        f"for number, piece in enumerate({pieces}):\n"
        "    os.write(2, piece)\n"
        f"    while not pathlib.Path({str(tmp_path)!r}, str(number)).exists():\n"
        "        time.sleep(0.02)\n"
    )
    running = launch(
        "RegisterEventHandler(OnProcessIO(on_stderr=heard)), job",
        setup=f"""
        import itertools, pathlib
        job = ExecuteProcess(cmd=[sys.executable, {str(writer)!r}], name='job')
        numbers = itertools.count()
        def heard(event):
            print('heard', event.text, 'of', event.process_name, flush=True)
            pathlib.Path({str(tmp_path)!r}, str(next(numbers))).touch()
        """,
    )
    assert running.wait() == 0
    lines = running.output.splitlines()
    assert [line for line in lines if line.startswith("heard")] == [f"heard {piece} of job-1" for piece in pieces]
    shown = [line for line in lines if line.startswith("[job-1]")]
    assert shown == ["[job-1] half a line", "[job-1] and two", "[job-1] lines", "[job-1] é"]


def test_an_error_of_a_function_is_the_last_thing_that_is_said(launch: Callable[..., Running]) -> None:
    running = launch(
        "ExecuteProcess(cmd=['true'], on_exit=hook)", setup="def hook(e, c): raise RuntimeError('so it is')"
    )
    assert running.wait() == 1
    assert running.output.splitlines()[-1] == (
        "[ERROR] [launch]: Caught exception in launch (see debug for traceback): so it is"
    )
