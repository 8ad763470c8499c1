"""Processes that play episodes end with the one that started them, whatever ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import psutil

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
