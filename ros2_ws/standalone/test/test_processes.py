"""Launched processes: output, exit codes, respawn, events, ordered shutdown."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from running import Running, is_alive

STUBBORN = "trap '' INT; echo deaf to SIGINT; while :; do sleep 0.1; done"
IMMORTAL = "trap '' INT TERM; echo deaf to both; while :; do sleep 0.1; done"


def process(script: str, more: str = "") -> str:
    return f"ExecuteProcess(cmd=['sh', '-c', {script!r}], name='job', output='screen', {more}),"


def test_lines_carry_the_name_and_are_never_mixed(launch: Callable[..., Running]) -> None:
    writer = "i=0; while [ $i -lt 300 ]; do echo {0}{0}{0}{0}; echo {0}-{0} >&2; i=$((i+1)); done"
    running = launch(process(writer.format("a")) + process(writer.format("b")))
    assert running.wait() == 0
    lines = [line for line in running.output.splitlines() if line.startswith("[job-")]
    for name, letter in (("job-1", "a"), ("job-2", "b")):
        assert lines.count(f"[{name}] {letter * 4}") == 300
        assert lines.count(f"[{name}] {letter}-{letter}") == 300
    assert len(lines) == 1200


def test_start_and_end_are_told(launch: Callable[..., Running]) -> None:
    running = launch(process("exit 0"))
    assert running.wait() == 0
    pid = running.match(r"^\[INFO\] \[job-1\]: process started with pid \[(\d+)\]$")[1]
    running.match(rf"^\[INFO\] \[job-1\]: process has finished cleanly \[pid {pid}\]$")


def test_a_death_is_told_after_the_last_words(launch: Callable[..., Running]) -> None:
    running = launch(process("printf 'last words without newline'; exit 7"))
    assert running.wait() == 0
    running.match(r"^\[ERROR\] \[job-1\]: process has died \[pid \d+, exit code 7, cmd 'sh -c .*'\]\.$")
    lines = running.output.splitlines()
    assert lines.index("[job-1] last words without newline") < next(
        index for index, line in enumerate(lines) if "has died" in line
    )


def test_default_output_shows_stderr_and_logs_both(launch: Callable[..., Running], tmp_path: Path) -> None:
    running = launch("ExecuteProcess(cmd=['sh', '-c', 'echo to out; echo to err >&2'])")
    assert running.wait() == 0
    assert "[sh-1] to err" in running.output
    assert "[sh-1] to out" not in running.output
    (log,) = (tmp_path / "ros_home/log").glob("*/launch.log")
    assert "[sh-1] to out" in log.read_text()
    assert "[sh-1] to err" in log.read_text()


def test_own_log_files(launch: Callable[..., Running], tmp_path: Path) -> None:
    running = launch("ExecuteProcess(cmd=['echo', 'private'], output='own_log')")
    assert running.wait() == 0
    assert "private" not in running.output
    (log,) = (tmp_path / "ros_home/log").glob("*/echo-1-stdout.log")
    assert log.read_text() == "[echo-1] private\n"


def test_a_folder_that_cannot_be_written_costs_only_the_log_files(launch: Callable[..., Running]) -> None:
    running = launch(process("echo still here"), ROS_LOG_DIR="/proc/no_such_folder")
    assert running.wait() == 0
    assert "no log files: cannot write to '/proc/no_such_folder" in running.output
    assert "[job-1] still here" in running.output


def test_environment_folder_and_shell(launch: Callable[..., Running], tmp_path: Path) -> None:
    running = launch(
        "ExecuteProcess(cmd=['echo $A-$B', ' in ', '$(pwd)'], shell=True, output='screen',"
        f"cwd={str(tmp_path)!r}, additional_env={{'A': LaunchConfiguration('a', default='1')}}),"
        "ExecuteProcess(cmd=['/usr/bin/env'], env={'ONLY': 'this'}, output='screen')",
        B="2",
    )
    assert running.wait() == 0
    assert f"] 1-2 in {tmp_path}" in running.output
    environment = [line.partition("] ")[2] for line in running.output.splitlines() if line.startswith("[env-")]
    assert {line.partition("=")[0] for line in environment} == {"ONLY", "KC_VLA_LAUNCH_TAG"}


def test_a_child_does_not_inherit_the_preparation_of_this_environment(launch: Callable[..., Running]) -> None:
    running = launch(
        process('echo "guard=$_ROS_WHEELS_BOOTSTRAP_COMPLETE path=$LD_LIBRARY_PATH"'), LD_LIBRARY_PATH="/my/libs"
    )
    assert running.wait() == 0
    assert "guard= path=/my/libs" in running.output


def test_emulated_terminal(launch: Callable[..., Running]) -> None:
    script = "if [ -t 1 ]; then echo terminal; else echo pipe; fi"
    running = launch(process(script, "emulate_tty=True") + process(script))
    assert running.wait() == 0
    assert "[job-1] terminal" in running.output
    assert "[job-2] pipe" in running.output


def test_a_command_that_cannot_be_started(launch: Callable[..., Running]) -> None:
    running = launch("ExecuteProcess(cmd=['/no/such/program'], on_exit=[LogInfo(msg='it ended')])")
    assert running.wait() == 0
    running.match(r"\[program-1\]: process cannot be started: No such file or directory: '/no/such/program'")
    assert "it ended" in running.output


def test_events_of_a_process(launch: Callable[..., Running]) -> None:
    running = launch(
        "first, RegisterEventHandler(OnProcessStart(target_action=first, on_start=[LogInfo(msg='seen start')])),"
        "RegisterEventHandler(OnProcessExit(target_action=first, on_exit=told)),"
        "RegisterEventHandler(OnProcessIO(target_action=first, on_stderr=heard)),"
        "RegisterEventHandler(OnShutdown(on_shutdown=[LogInfo(msg='seen shutdown')])),",
        setup="""
        first = ExecuteProcess(cmd=['sh', '-c', 'echo so; echo oh >&2; exit 4'])
        def heard(event):
            return LogInfo(msg=f'heard {event.text} of {event.process_name}')
        def told(event, context):
            return [LogInfo(msg=f'seen exit {event.returncode} of {event.process_name}'),
                    ExecuteProcess(cmd=['echo', 'second'], output='screen')]
        """,
    )
    assert running.wait() == 0
    for text in ("seen start", "heard b'oh\\n' of sh-1", "seen exit 4 of sh-1", "[echo-2] second", "seen shutdown"):
        assert text in running.output


def test_unregistered_handler_is_silent(launch: Callable[..., Running]) -> None:
    running = launch(
        "RegisterEventHandler(handler), UnregisterEventHandler(handler), ExecuteProcess(cmd=['true'])",
        setup="handler = OnProcessExit(on_exit=[LogInfo(msg='heard')])",
    )
    assert running.wait() == 0
    assert "heard" not in running.output


def test_timer_runs_its_actions_and_a_shutdown_cancels_it(launch: Callable[..., Running]) -> None:
    running = launch(
        "TimerAction(period=0.2, actions=[LogInfo(msg='soon'), Shutdown(reason='enough')]),"
        "TimerAction(period=3600.0, actions=[LogInfo(msg='late')])"
    )
    assert running.wait() == 0
    assert "soon" in running.output
    assert "late" not in running.output


def test_respawn_until_the_retries_are_used_up(launch: Callable[..., Running]) -> None:
    running = launch(process("echo run; exit 1", "respawn=True, respawn_delay=0.05, respawn_max_retries=2"))
    assert running.wait() == 0
    assert running.output.count("[job-1] run") == 3


def test_respawn_after_a_kill_but_not_in_a_shutdown(launch: Callable[..., Running]) -> None:
    running = launch(process("echo pid $$; exec sleep 1000", "respawn=True"))
    first = int(running.match(r"\[job-1\] pid (\d+)")[1])
    os.kill(first, signal.SIGKILL)
    second = int(running.match(rf"\[job-1\] pid (?!{first}$)(\d+)")[1])
    running.send(signal.SIGINT)
    assert running.wait() == 0
    assert not is_alive(second)
    assert running.output.count("process started") == 2


def test_a_shutdown_ends_the_wait_for_a_respawn(launch: Callable[..., Running]) -> None:
    running = launch(process("exit 1", "respawn=True, respawn_delay=3600.0"))
    running.match("process has died")
    running.send(signal.SIGINT)
    assert running.wait() == 0
    assert running.output.count("process started") == 1


def test_a_required_process_ends_everything(launch: Callable[..., Running]) -> None:
    running = launch(process("exec sleep 1000") + process("exit 3", "on_exit=Shutdown(reason='the job is essential')"))
    assert running.wait() == 0
    assert "process[job-2] was required: shutting down launched system" in running.output
    assert "sending signal 'SIGINT' to process[job-1]" in running.output


def test_an_error_in_an_exit_callback_makes_the_launch_fail(launch: Callable[..., Running]) -> None:
    running = launch(
        process("exec sleep 1000") + process("exit 3", "on_exit=failed"),
        setup="""
        def failed(event, context):
            raise RuntimeError(f'{event.process_name} failed with {event.returncode}')
        """,
    )
    assert running.wait() == 1
    assert "Caught exception in launch (see debug for traceback): job-2 failed with 3" in running.output


def test_an_error_while_launching_ends_what_was_already_started(launch: Callable[..., Running]) -> None:
    running = launch(process("exec sleep 1000") + "LogInfo(msg=LaunchConfiguration('absent'))")
    assert running.wait() == 1
    assert "launch configuration 'absent' does not exist" in running.output


@pytest.mark.parametrize(
    ("script", "signals"),
    [
        ("echo ready; exec sleep 1000", ["SIGINT"]),
        (STUBBORN, ["SIGINT", "SIGTERM"]),
        (IMMORTAL, ["SIGINT", "SIGTERM", "SIGKILL"]),
    ],
    ids=["obedient", "deaf to SIGINT", "deaf to SIGTERM too"],
)
def test_shutdown_uses_as_much_force_as_it_needs(
    launch: Callable[..., Running], script: str, signals: list[str]
) -> None:
    running = launch(process(script), "sigterm_timeout:=0.3", "sigkill_timeout:=0.3")
    running.match("ready|deaf")
    running.send(signal.SIGINT)
    assert running.wait() == 0
    sent = [line.split("'")[1] for line in running.output.splitlines() if "sending signal" in line]
    assert sent == signals
    for weaker, stronger in itertools.pairwise(signals):
        assert (
            f"process[job-1] failed to terminate '0.3' seconds after receiving '{weaker}', escalating to '{stronger}'"
        ) in running.output


def test_further_interruptions_escalate_at_once(launch: Callable[..., Running]) -> None:
    running = launch(process(IMMORTAL, "sigterm_timeout='3600', sigkill_timeout='3600'"))
    running.match("deaf")
    running.send(signal.SIGINT)
    running.match("sending signal 'SIGINT'")
    running.send(signal.SIGINT)
    running.match("sending signal 'SIGTERM'")
    running.send(signal.SIGINT)
    assert running.wait() == 0
    assert "sending signal 'SIGKILL'" in running.output


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 1), (signal.SIGHUP, 1)])
def test_exit_code_after_a_signal(launch: Callable[..., Running], number: signal.Signals, code: int) -> None:
    running = launch(process("echo ready; exec sleep 1000"))
    running.match("ready")
    running.send(number)
    assert running.wait() == code
    assert "sending signal 'SIGINT' to process[job-1]" in running.output


def test_the_launch_ends_in_order_when_nobody_reads_its_output(
    environment: dict[str, str], launch_file: Callable[..., Path]
) -> None:
    path = launch_file(process("while :; do echo tick; sleep 0.1; done"))
    words = [sys.executable, "-c", "from kc_vla_standalone.cli import main; raise SystemExit(main())", "launch", path]
    launcher = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
    assert launcher.stdout is not None
    started = next(match for line in launcher.stdout if (match := re.search(r"started with pid \[(\d+)\]", line)))
    launcher.stdout.close()
    assert launcher.wait(60) == 1
    assert not is_alive(int(started[1]))


def test_a_line_without_end_cannot_fill_the_memory(launch: Callable[..., Running]) -> None:
    running = launch(process("head -c 200000 /dev/zero | tr '\\0' x"))
    assert running.wait() == 0
    pieces = [line.removeprefix("[job-1] ") for line in running.output.splitlines() if line.startswith("[job-1] x")]
    assert "".join(pieces) == "x" * 200000
    assert max(map(len, pieces)) == 65536
