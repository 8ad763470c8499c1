"""A process that keeps time, seen from the one that calls it; the emulated arm's is as good as any."""

import importlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from piper import PIPER

from kc_vla.arm.emulator.faults import FaultError
from kc_vla.arm.emulator.process import main
from kc_vla.arm.remote import Remote, RemoteError

PATIENCE_S = 20.0


@pytest.fixture
def remote(bus_path: Path) -> Iterator[Remote]:
    """An emulated arm in a process of its own."""
    remote = Remote(main)
    remote.start("the emulated arm", print, "begin", str(bus_path), PIPER)
    yield remote
    remote.close()


def tell_without_end(remote: Remote) -> None:
    while True:
        remote.tell("ask", "none")


def views(remote: Remote) -> list:
    """What it shows, waited for."""
    until = time.monotonic() + PATIENCE_S
    while not (shown := remote.look()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return shown


def test_it_shows_itself_and_answers(remote: Remote) -> None:
    assert views(remote)[-1].angles.shape == (6,)
    assert remote.call("ask", "none") is None


def test_what_a_call_raises_is_raised_here(remote: Remote) -> None:
    with pytest.raises(FaultError, match="no fault 'earthquake'"):
        remote.call("ask", "earthquake")
    with pytest.raises(OSError, match="cannot serve a bus"):
        remote.call("begin", "/nowhere/bus", PIPER)
    assert views(remote)


def test_the_signals_of_a_terminal_are_the_callers_business(remote: Remote) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(remote.pid, number)
    assert remote.call("ask", "none") is None


def test_a_call_that_takes_too_long_is_given_up_and_its_answer_is_not_taken_for_another(remote: Remote) -> None:
    os.kill(remote.pid, signal.SIGSTOP)
    with pytest.raises(RemoteError, match=r"has not answered 'ask' for 0\.2 s"):
        remote.call("ask", "earthquake", patience=0.2)
    os.kill(remote.pid, signal.SIGCONT)
    assert remote.call("ask", "none", patience=PATIENCE_S) is None


def test_a_process_that_hangs_holds_up_nobody_and_does_later_what_was_told(remote: Remote) -> None:
    os.kill(remote.pid, signal.SIGSTOP)
    remote.tell("ask", "silence")
    answer = remote.ask("ask", "earthquake")
    remote.hear()
    assert not answer.done
    with pytest.raises(RemoteError, match="hangs and takes in nothing more"):
        tell_without_end(remote)
    os.kill(remote.pid, signal.SIGCONT)
    until = time.monotonic() + PATIENCE_S
    while not answer.done and time.monotonic() < until:
        remote.hear()
    with pytest.raises(FaultError):
        answer.result()


def test_an_answer_that_is_late_is_told_with_what_was_asked(remote: Remote) -> None:
    os.kill(remote.pid, signal.SIGSTOP)
    answer = remote.ask("ask", "none")
    assert answer.overdue(60.0) is None
    time.sleep(0.01)
    assert "has not answered 'ask'" in str(answer.overdue(0.01))
    os.kill(remote.pid, signal.SIGCONT)


def test_nothing_waits_for_one_who_does_not_look(remote: Remote) -> None:
    views(remote)
    time.sleep(2.0)
    kept = remote.look()
    assert 0 < len(kept) < 100  # of two seconds at 50 Hz, and it still lives
    assert remote.call("ask", "none") is None
    assert views(remote)


def test_a_process_that_was_killed_is_missed(remote: Remote) -> None:
    os.kill(remote.pid, signal.SIGKILL)
    with pytest.raises(RemoteError, match="has ended"):
        remote.call("ask", "none")
    with pytest.raises(RemoteError, match="has ended"):
        any(iter(lambda: remote.look() is None, True))


def test_it_ends_when_the_caller_hangs_up(bus_path: Path) -> None:
    remote = Remote(main)
    remote.start("the emulated arm", print, "begin", str(bus_path), PIPER)
    assert bus_path.exists()
    remote.close()
    assert not bus_path.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(remote.pid, 0)


_SLOW = """
import sys, time
from kc_vla.arm.remote import Calls

class Slow:
    def begin(self):
        return "there"

def main():
    until = time.process_time() + {busy}
    while time.process_time() < until:
        pass
    slow = Slow()
    {last}
    Calls(sys.argv[1:]).answer_until(slow, lambda: False)
"""


def started(folder: Path, monkeypatch: pytest.MonkeyPatch, busy: float, last: str) -> Remote:
    """A process that works for so long, s of a processor, does `last`, and then answers."""
    name = f"slow_start_{os.urandom(4).hex()}"
    (folder / f"{name}.py").write_text(_SLOW.format(busy=busy, last=last))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *sys.path]))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr("kc_vla.arm.remote._HANGS_S", 1.5)
    return Remote(importlib.import_module(name).main)


@pytest.mark.parametrize("busy", [0.0, 3.0])
def test_a_process_that_gets_on_is_waited_for_however_long_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: float
) -> None:
    monkeypatch.setattr("kc_vla.arm.progress.SAY_EVERY_S", 0.5)
    said: list[str] = []
    remote = started(tmp_path, monkeypatch, busy, "pass")
    assert remote.start("the arm", said.append, "begin") == "there"
    assert bool(said) or not busy
    assert all(line.startswith("waiting for the arm: it has been starting for ") for line in said)
    remote.close()


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("time.sleep(60)", "the arm hangs: its process has done nothing for "),
        ("sys.exit(1)", "its own process has ended"),
    ],
)
def test_a_process_that_hangs_or_dies_while_it_starts_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str, words: str
) -> None:
    remote = started(tmp_path, monkeypatch, 0.0, last)
    try:
        with pytest.raises(RemoteError, match=words):
            remote.start("the arm", print, "begin")
    finally:
        os.kill(remote.pid, signal.SIGKILL)
        remote.close()
