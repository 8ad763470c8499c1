"""Processes that play episodes end with the one that started them, whatever ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import psutil
import pytest

SCRIPT = """
import time
from kc_vla_sim.workers import run_jobs
if __name__ == "__main__":
    print("begins", flush=True)
    list(run_jobs(time.sleep, [60, 60], 2, "sleep"))
"""


def test_they_end_with_a_parent_that_is_killed(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begins\n"
        deadline, children = time.monotonic() + 60, []
        while time.monotonic() < deadline and len(children) < 2:
            time.sleep(0.2)
            of_it = psutil.Process(parent.pid).children()
            children = [child for child in of_it if "spawn_main" in " ".join(child.cmdline())]
        assert len(children) == 2
        time.sleep(3.0)  # they import for a while before they listen
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    gone, alive = psutil.wait_procs(children, timeout=20)
    assert len(gone) == 2
    assert alive == []


DIES = """
import os, signal, time
from kc_vla_sim.workers import WorkerError, run_jobs
def falls(job):
    if job:
        os.kill(os.getpid(), getattr(signal, job))
    time.sleep(60)
    print("nobody ended this one", flush=True)
if __name__ == "__main__":
    try:
        list(run_jobs(falls, ["", {name!r}], 2, "falls"))
    except WorkerError as error:
        print(error)
"""


@pytest.mark.parametrize("name", ["SIGABRT", "SIGKILL"])
def test_one_that_dies_is_told_of_with_its_signal_its_place_and_the_cause(tmp_path, name: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(DIES.format(name=name))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"a process died by {name} ("), done.stderr
    assert ("in falls (" in line) is (name == "SIGABRT")
    assert ("for lack of memory?" in line) is (name == "SIGKILL")


SLOW = """
import time
from multiprocessing.popen_spawn_posix import Popen
started = Popen._launch
def slowly(self, process):
    started(self, process)
    time.sleep(2.0)  # a machine that has more to do: the new process runs ahead of the one that started it
Popen._launch = slowly
"""


def test_a_death_while_the_last_one_is_being_started_is_seen_at_once_and_is_not_taken_for_anothers(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(DIES.format(name="SIGKILL").replace("    try:", SLOW.replace("\n", "\n    ") + "\n    try:", 1))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    (line,) = done.stdout.splitlines()
    assert line.startswith("a process died by SIGKILL ("), done.stderr
