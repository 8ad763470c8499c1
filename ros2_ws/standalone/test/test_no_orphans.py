"""Nothing that a launch has started outlives it, whatever ends the launch."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from running import Running, is_alive, wait_until

# A family: the process itself, a child in its session, a grandchild in a session of its own whose parent has
# gone, and one that has cleared its environment; the two deaf ones ignore SIGINT and SIGTERM.
FAMILY = """
echo member $$
sh -c 'trap "" INT TERM; echo member $$; while :; do sleep 0.1; done' &
(setsid sh -c 'trap "" INT TERM; echo member $$; while :; do sleep 0.1; done' &)
env -i sh -c 'echo member $$; exec sleep 1000' &
wait
"""
# The same without deafness, for tests in which only the default time-outs apply.
OBEDIENT_FAMILY = FAMILY.replace('trap "" INT TERM', 'trap "exit 0" INT')
SIZE = 4


def family(more: str = "", script: str = FAMILY) -> str:
    return f"ExecuteProcess(cmd=['sh', '-c', {script!r}], name='family', output='screen', {more}),"


def members(running: Running) -> list[int]:
    def pids() -> list[int]:
        return [int(pid) for pid in re.findall(r"\] member (\d+)", running.output)]

    wait_until(lambda: len(pids()) == SIZE, f"all members have started:\n{running.output}")
    return pids()


def assert_all_gone(pids: list[int]) -> None:
    wait_until(lambda: not any(is_alive(pid) for pid in pids), f"{pids} are gone")


def keeper_of(running: Running) -> int:
    children = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()
    (keeper,) = [pid for pid in children if b"keeper.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return int(keeper)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_after_a_signal_to_the_launcher(launch: Callable[..., Running], number: signal.Signals) -> None:
    running = launch(family(), "sigterm_timeout:=0.3", "sigkill_timeout:=0.3")
    pids = [*members(running), keeper_of(running)]
    running.send(number)
    running.wait()
    assert [pid for pid in pids if is_alive(pid)] == []


def test_after_the_launcher_was_killed(launch: Callable[..., Running]) -> None:
    running = launch(family())
    pids = [*members(running), keeper_of(running)]
    running.send(signal.SIGKILL)
    assert_all_gone(pids)


def test_after_the_launchers_whole_process_group_was_killed(launch: Callable[..., Running]) -> None:
    running = launch(family(script=OBEDIENT_FAMILY))
    pids = [*members(running), keeper_of(running)]
    os.killpg(running.process.pid, signal.SIGKILL)
    assert_all_gone(pids)


def test_after_the_keeper_was_killed_a_shutdown_is_still_complete(launch: Callable[..., Running]) -> None:
    running = launch(family(), "sigterm_timeout:=0.3", "sigkill_timeout:=0.3")
    pids = members(running)
    os.kill(keeper_of(running), signal.SIGKILL)
    running.send(signal.SIGINT)
    assert running.wait() == 0
    assert [pid for pid in pids if is_alive(pid)] == []


def test_after_the_crash_of_a_required_process(launch: Callable[..., Running]) -> None:
    running = launch(
        family() + family("on_exit=Shutdown()").replace("echo member $$\\n", "", 1),
        "sigterm_timeout:=0.3",
        "sigkill_timeout:=0.3",
    )
    wait_until(lambda: len(re.findall(r"\] member \d+", running.output)) == 2 * SIZE - 1, "both families are there")
    pids = [int(pid) for pid in re.findall(r"\] member (\d+)", running.output)]
    os.kill(int(running.match(r"\[family-2\]: process started with pid \[(\d+)\]")[1]), signal.SIGSEGV)
    assert running.wait() == 0
    assert [pid for pid in pids if is_alive(pid)] == []


def test_what_a_crashed_process_leaves_behind_goes_before_it_respawns(launch: Callable[..., Running]) -> None:
    running = launch(family("respawn=True"), "sigterm_timeout:=0.3", "sigkill_timeout:=0.3")
    first = members(running)
    os.kill(int(running.match(r"process started with pid \[(\d+)\]")[1]), signal.SIGKILL)
    wait_until(lambda: running.output.count("process started") == 2, "the process was started again")
    assert [pid for pid in first if is_alive(pid)] == []


def test_a_launch_inside_of_a_launch(launch: Callable[..., Running], launch_file: Callable[..., Path]) -> None:
    inner = launch_file(family(script=OBEDIENT_FAMILY), name="inner.launch.py")
    command = f"[sys.executable, '-c', 'from kc_vla_standalone.cli import main; main()', 'launch', {str(inner)!r}]"
    running = launch(f"ExecuteProcess(cmd={command}, name='inner', output='screen'),")
    pids = members(running)
    running.send(signal.SIGKILL)
    assert_all_gone(pids)
