import os
import subprocess
import sys

import pytest

from kc_vla.arm.scheduling import PriorityError, take_priority

IN_A_PROCESS = """
import os, sys, threading
from kc_vla.arm.scheduling import PriorityError, take_priority
done = threading.Event()
threading.Thread(target=done.wait).start()
policies = lambda: {os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")}
try:
    take_priority(50)
    assert policies() == {os.SCHED_FIFO}
    assert os.sched_getparam(0).sched_priority == 50
    take_priority(0)
    assert policies() == {os.SCHED_OTHER}
except PriorityError:
    sys.exit(77)
finally:
    done.set()
"""


def test_every_thread_runs_first_until_the_priority_is_given_back() -> None:
    code = subprocess.run([sys.executable, "-c", IN_A_PROCESS], check=False, timeout=60).returncode
    if code == 77:
        pytest.skip("this user may not take a real-time priority")
    assert code == 0


def test_a_refusal_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)  # a test that runs as root is never refused
    with pytest.raises(PriorityError, match=r"priority 50.*kc-vla setup realtime --do"):
        take_priority(50)
