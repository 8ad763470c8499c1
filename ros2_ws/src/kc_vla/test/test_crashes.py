"""A process of ours that a signal ends is told of in one line, and its command does not end with 0."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.crashes import crash_in_words

REPORT = """Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "/env/lib/python3.11/site-packages/mplib/planner.py", line 97 in __init__
  File "/home/me/pour.py", line 12 in path
  File "/home/me/pour.py", line 40 in plan
"""


def test_it_says_signal_place_and_cause() -> None:
    told = crash_in_words(signal.SIGSEGV, REPORT)
    assert told.startswith(
        "died by SIGSEGV (Segmentation fault) in __init__ (mplib/planner.py, line 97), "
        "called from path (/home/me/pour.py, line 12): mplib "
    )
    assert "is built for numpy 1 and does not run with numpy 2" in told
    assert told.endswith("runs in a process of its own: kc_vla_sim.isolated_process, docs/your_own_task.md")
    assert crash_in_words(signal.SIGKILL).endswith("for lack of memory? try fewer --processes or smaller pictures")
    assert "a library crashed" in crash_in_words(signal.SIGABRT)
    assert crash_in_words(signal.SIGTERM).endswith("somebody, or the system, ended it")


@given(st.integers(1, 64), st.text(max_size=300) | st.just(REPORT) | st.just(REPORT[:130]))
def test_whatever_is_left_of_a_process_it_is_one_line(number: int, report: str) -> None:
    told = crash_in_words(number, report)
    assert told.startswith("died by ")
    assert len(told.splitlines()) == 1


@pytest.fixture
def crashes(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell in which a simulator of the user's ends its process by a signal."""
    (tmp_path / "kc_vla_sim_cli.py").write_text(
        "import os, signal, sys, time\n"
        "def falls(): os.kill(os.getpid(), getattr(signal, sys.argv[-1]))\n"
        "def main(words):\n"
        "    try:\n"
        "        print('plays', os.getpid(), flush=True)\n"
        "        if sys.argv[-1] == 'waits': time.sleep(60)\n"
        "    except KeyboardInterrupt: print('interrupted', flush=True); return 130\n"
        "    if sys.argv[-1].startswith('SIG'): falls()\n"
        "    return 3\n"
    )
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}


def command(crashes: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kc_vla.cli", *words], env=crashes, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("name", ["SIGABRT", "SIGFPE", "SIGUSR1", "SIGKILL"])
def test_a_command_whose_process_dies_says_so_and_fails(name: str, crashes: dict[str, str]) -> None:
    done = command(crashes, "sim", "play", name)
    assert done.returncode == 128 + getattr(signal, name)
    assert done.stdout.startswith("plays")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"kc-vla sim: its process died by {name}")
    if name in ("SIGABRT", "SIGFPE"):
        assert "in falls (" in line
        assert "kc_vla_sim_cli.py, line 2)" in line


def test_a_status_is_handed_on(crashes: dict[str, str]) -> None:
    assert command(crashes, "collect", "x").returncode == 3


def test_an_interrupt_of_the_command_alone_reaches_its_process(crashes: dict[str, str]) -> None:
    words = [sys.executable, "-m", "kc_vla.cli", "collect", "waits"]
    with subprocess.Popen(words, env=crashes, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stdout.read() == "interrupted\n"


def test_a_command_that_is_stopped_for_a_while_goes_on(crashes: dict[str, str]) -> None:
    words = [sys.executable, "-m", "kc_vla.cli", "collect", "waits"]
    with subprocess.Popen(words, env=crashes, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        process.send_signal(signal.SIGCONT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.0)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stdout.read() == "interrupted\n"
        assert process.stderr.read() == ""


def test_its_process_does_not_outlive_it(crashes: dict[str, str]) -> None:
    words = [sys.executable, "-m", "kc_vla.cli", "sim", "waits"]
    with subprocess.Popen(words, env=crashes, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = psutil.Process(int(process.stdout.readline().split()[1]))
        process.kill()
        process.wait()
    deadline = time.monotonic() + 20
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
