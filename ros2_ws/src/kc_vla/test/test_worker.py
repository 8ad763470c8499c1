"""What the askers of a worker hear, and when."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.inference.worker import AtOnce, JobOutcome, LateError, OutdatedError, SupersededError, Worker

PATIENCE_S = 60.0
DEADLINE_S = 4.0


class WrongInputError(ValueError):
    """What a backend says of bad input."""


class Asker:
    """Asks a worker and notes what it is told, in which thread."""

    def __init__(self, room: int = 1) -> None:
        self.now = 0.0
        self.told: list[tuple[Any, Any]] = []
        self.threads: set[int] = set()
        self.wakes = 0
        self.worker = Worker("the policy", self._wake, room, DEADLINE_S, (WrongInputError,), lambda: self.now)

    def _wake(self) -> None:
        self.wakes += 1

    def then(self, name: Any) -> Callable[[JobOutcome[Any]], None]:
        def told(outcome: JobOutcome[Any]) -> None:
            self.threads.add(threading.get_ident())
            self.told.append((name, outcome.value if outcome.error is None else type(outcome.error)))

        return told

    def ask(self, name: Any, run: Callable[[], Any]) -> None:
        self.worker.submit(run, self.then(name))

    def begin(self, name: Any, run: Callable[[], Any] = lambda: None) -> None:
        self.worker.begin(run, self.then(name))

    def until(self, done: Callable[[], object]) -> None:
        wait_for(lambda: self.worker.deliver() or done())

    def hears(self, *told: tuple[Any, Any]) -> None:
        """Wait until as much was told as is expected, and check it."""
        self.until(lambda: len(self.told) >= len(told))
        assert self.told == list(told)


@contextmanager
def asking(room: int = 1) -> Iterator[Asker]:
    asker = Asker(room)
    yield asker
    asker.worker.close()


def wait_for(done: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


class Slow:
    """A job that takes until it is let go."""

    def __init__(self, result: Any) -> None:
        self.result, self.begun, self.let_go = result, threading.Event(), threading.Event()

    def __call__(self) -> Any:
        self.begun.set()
        assert self.let_go.wait(PATIENCE_S)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def test_jobs_are_done_in_order_in_another_thread_and_told_in_the_askers() -> None:
    done: list[tuple[int, int]] = []
    with asking(room=20) as asker:
        for number in range(20):
            asker.ask(number, lambda number=number: done.append((number, threading.get_ident())))
        asker.hears(*((number, None) for number in range(20)))
    assert [number for number, _ in done] == list(range(20))
    (worked_in,) = {thread for _, thread in done}
    assert asker.threads == {threading.get_ident()}
    assert worked_in not in asker.threads
    assert asker.wakes


def test_of_those_that_wait_the_newest_counts_and_the_others_are_told_so() -> None:
    with asking() as asker:
        slow = Slow("first")
        asker.ask(1, slow)
        assert slow.begun.wait(PATIENCE_S)
        for number in (2, 3, 4):
            asker.ask(number, lambda number=number: number)
        asker.hears((2, SupersededError), (3, SupersededError))
        slow.let_go.set()
        asker.hears((2, SupersededError), (3, SupersededError), (1, "first"), (4, 4))


def test_who_asks_for_an_episode_that_is_over_hears_so_at_once_and_never_its_result() -> None:
    with asking(room=5) as asker:
        slow, order = Slow("of the old episode"), list[str]()
        asker.ask("old", slow)
        assert slow.begun.wait(PATIENCE_S)
        asker.ask("waited", lambda: order.append("waited"))
        asker.begin("reset", lambda: order.append("reset"))
        asker.ask("new", lambda: order.append("new"))
        asker.hears(("old", OutdatedError), ("waited", OutdatedError))
        slow.let_go.set()
        asker.hears(("old", OutdatedError), ("waited", OutdatedError), ("reset", None), ("new", None))
    assert order == ["reset", "new"]


def test_a_result_that_lies_ready_when_its_episode_ends_is_thrown_away() -> None:
    with asking() as asker:
        asker.ask("old", lambda: "too late")
        wait_for(lambda: asker.wakes)
        asker.begin("reset")
        asker.hears(("old", OutdatedError), ("reset", None))


def test_whoever_waits_too_long_hears_so_and_the_next_is_answered_again() -> None:
    texts: list[str] = []
    with asking() as asker:
        slow = Slow("at last")
        asker.worker.submit(slow, lambda outcome: texts.append(str(outcome.error)))
        assert slow.begun.wait(PATIENCE_S)
        asker.ask("behind it", lambda: pytest.fail("nobody waits for this any more"))
        asker.now = DEADLINE_S - 0.1
        asker.worker.deliver()
        assert texts == []
        asker.now = DEADLINE_S
        asker.hears(("behind it", LateError))
        assert texts == ["the policy has not answered for 4 s"]
        assert asker.worker.busy_s == DEADLINE_S
        slow.let_go.set()
        asker.ask("next", lambda: 7)
        asker.hears(("behind it", LateError), ("next", 7))
        assert len(texts) == 1
        assert asker.worker.busy_s == 0.0


def test_a_job_that_begins_an_episode_is_done_however_late() -> None:
    with asking() as asker:
        slow, reset = Slow(None), threading.Event()
        asker.ask("hangs", slow)
        assert slow.begun.wait(PATIENCE_S)
        asker.begin("reset", reset.set)
        asker.now = 2 * DEADLINE_S
        asker.hears(("hangs", OutdatedError), ("reset", LateError))
        slow.let_go.set()
        assert reset.wait(PATIENCE_S)


def test_bad_input_is_told_to_the_one_who_asked() -> None:
    def refuse() -> None:
        raise WrongInputError("a picture of 3 pixels")

    with asking() as asker:
        asker.ask("bad", refuse)
        asker.hears(("bad", WrongInputError))
        asker.ask("good", lambda: 1)
        asker.hears(("bad", WrongInputError), ("good", 1))


@pytest.mark.parametrize("is_over", [False, True])
def test_a_fault_reaches_the_askers_thread_as_it_is(is_over: bool) -> None:
    fault = ZeroDivisionError("in a backend")
    with asking() as asker:
        slow = Slow(fault)
        asker.ask("faulty", slow)
        assert slow.begun.wait(PATIENCE_S)
        if is_over:
            asker.begin("reset")
        slow.let_go.set()
        with pytest.raises(ZeroDivisionError, match="in a backend") as raised:
            asker.until(lambda: False)
        assert raised.value is fault
        asker.ask("next", lambda: 1)
        asker.until(lambda: ("next", 1) in asker.told)


def test_bad_input_in_an_episode_that_is_over_interests_nobody() -> None:
    with asking() as asker:
        slow = Slow(WrongInputError())
        asker.ask("old", slow)
        assert slow.begun.wait(PATIENCE_S)
        asker.begin("reset")
        slow.let_go.set()
        asker.hears(("old", OutdatedError), ("reset", None))


def test_a_closed_worker_says_nothing_any_more() -> None:
    asker = Asker(room=2)
    slow = Slow("whatever")
    asker.ask("hangs", slow)
    assert slow.begun.wait(PATIENCE_S)
    asker.ask("waits", lambda: pytest.fail("closed"))
    asker.worker.close()
    slow.let_go.set()
    wait_for(lambda: not any(thread.name == "the policy" and thread.is_alive() for thread in threading.enumerate()))
    asker.worker.deliver()
    assert (asker.told, asker.wakes) == ([], 0)


def test_a_process_ends_whatever_its_worker_waits_for() -> None:
    program = (
        "import threading\n"
        "from kc_vla.inference.worker import Worker\n"
        "worker, begun = Worker('the policy', lambda: None), threading.Event()\n"
        "worker.submit(lambda: (begun.set(), threading.Event().wait()), print)\n"
        "begun.wait()\n"
        "worker.close()\n"
        "print('closed')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")


def test_what_is_done_at_once_is_told_at_once() -> None:
    told: list[JobOutcome[int]] = []
    work = AtOnce()
    work.begin(lambda: 1, told.append)
    work.submit(lambda: 1 // 0, told.append)
    assert told[0].result() == 1
    with pytest.raises(ZeroDivisionError):
        told[1].result()
    assert work.busy_s == 0.0


class Model:
    """What an asker is to hear, step by step; the same as `Asker`, without a thread."""

    def __init__(self, room: int) -> None:
        self.room, self.now, self.epoch = room, 0.0, 0
        self.running: int | None = None
        self.first: int | None = None
        self.line: list[int] = []
        self.asked: dict[int, tuple[int, float]] = {}  # epoch and time
        self.answered: set[int] = set()
        self.ready: list[tuple[int, Any]] = []
        self.told: list[tuple[int, Any]] = []

    def answer(self, job: int | None, what: Any) -> None:
        if job is not None and job not in self.answered:
            self.answered.add(job)
            self.ready.append((job, what))

    def ask(self, job: int) -> None:
        self.asked[job] = self.epoch, self.now
        if len(self.line) == self.room:
            self.answer(self.line.pop(0), SupersededError)
        self.line.append(job)
        self.go_on()

    def begin(self, job: int) -> None:
        over = [self.running, self.first, *self.line]
        self.epoch += 1
        self.asked[job] = self.epoch, self.now
        self.line, self.first = [], job
        for one in over:
            self.answer(one, OutdatedError)
        self.go_on()

    def finish(self) -> None:
        assert self.running is not None
        self.answer(self.running, self.running)
        self.running = None
        self.go_on()

    def go_on(self) -> None:
        if self.running is None and self.first is not None:
            self.running, self.first = self.first, None
        elif self.running is None and self.line:
            self.running = self.line.pop(0)

    def deliver(self) -> None:
        for job in [self.running, self.first, *self.line]:
            if job is not None and self.asked[job][1] <= self.now - DEADLINE_S:
                self.answer(job, LateError)
        self.line = [job for job in self.line if job not in self.answered]
        self.told += [(job, what if self.asked[job][0] == self.epoch else OutdatedError) for job, what in self.ready]
        self.ready = []


@given(st.integers(1, 3), st.lists(st.sampled_from(["ask", "ask", "begin", "finish", "deliver"]), max_size=30))
def test_each_job_is_answered_once_and_as_it_should_be(room: int, steps: list[str]) -> None:
    with asking(room) as asker:
        model, jobs = Model(room), list[Slow]()

        def in_step() -> bool:
            """Whether the thread is where the model is."""
            if model.running is not None:
                return jobs[model.running].begun.is_set()
            return asker.worker.busy_s == 0.0

        def take(step: str) -> None:
            if step in ("ask", "begin"):
                jobs.append(Slow(len(jobs)))
                getattr(asker, step)(len(jobs) - 1, jobs[-1])
                getattr(model, step)(len(jobs) - 1)
            elif step == "finish" and model.running is not None:
                jobs[model.running].let_go.set()
                model.finish()
            elif step == "deliver":
                asker.worker.deliver()
                model.deliver()
            asker.now = model.now = model.now + 1.0
            wait_for(in_step)

        for step in steps:
            take(step)
        while model.running is not None:
            take("finish")
        take("deliver")
        assert asker.told == model.told
        assert sorted(job for job, _ in asker.told) == list(range(len(jobs)))
