"""A process that is told to end by a terminal, a launcher, an impatient person."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

COUNTING = """
import sys, time
from kc_vla.core.interruptions import interruptible_children, interruptions
interruptions.count()
print("begins", flush=True)
sys.stdin.readline()
interruptions.tell(lambda count: print(count, flush=True))
print("counts", flush=True)
time.sleep(600)
"""
BY_ANOTHER = "import os, sys; os.kill(int(sys.argv[1]), int(sys.argv[2]))"


class Counting:
    """A process that says how often it was asked to end; this one is its parent, as a launcher is."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", COUNTING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.said() == "begins"

    def begin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.said() == "counts"

    def said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def interrupt(self, number: int = signal.SIGINT) -> str:
        self.process.send_signal(number)
        return self.said()

    def interrupt_by_another(self) -> str:
        subprocess.run([sys.executable, "-c", BY_ANOTHER, str(self.process.pid), str(int(signal.SIGINT))], check=True)
        return self.said()


@pytest.fixture
def counting() -> Iterator[Counting]:
    counting = Counting()
    yield counting
    counting.process.kill()
    counting.process.wait()


def test_what_terminal_and_launcher_send_of_one_press_is_one(counting: Counting) -> None:
    counting.begin()
    assert counting.interrupt_by_another() == "1"
    assert counting.interrupt() == "1"


def test_an_impatient_person_is_counted_whoever_passes_it_on(counting: Counting) -> None:
    counting.begin()
    assert [counting.interrupt_by_another() for _ in range(3)] == ["1", "2", "3"]


def test_a_launcher_that_loses_patience_is_counted(counting: Counting) -> None:
    counting.begin()
    assert counting.interrupt() == "1"
    assert counting.interrupt(signal.SIGTERM) == "2"


def test_before_anything_was_begun_it_ends_at_once(counting: Counting) -> None:
    counting.process.send_signal(signal.SIGINT)
    assert counting.process.wait(60) == 0


def test_children_of_a_process_that_counts_can_be_interrupted() -> None:
    program = """
import signal, subprocess, sys
from kc_vla.core.interruptions import interruptible_children, interruptions
interruptions.count()
with interruptible_children():
    child = subprocess.Popen(["sleep", "600"])
child.send_signal(signal.SIGTERM)
print(child.wait(60))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == str(-signal.SIGTERM)
