"""Work is done ahead of questions, a little at a time, and tried again later where it fails."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from kc_vla.core.errors import StackError
from kc_vla.inference.background_work import BackgroundWork
from kc_vla.inference.worker import JobOutcome


class Jobs:
    """A worker that does one job when it is reported to."""

    busy_s = 0.0

    def __init__(self) -> None:
        self.waiting: deque[tuple[Callable[[], Any], Callable[[JobOutcome[Any]], None]]] = deque()

    def begin(self, run: Callable[[], Any], then: Callable[[JobOutcome[Any]], None]) -> None:
        self.submit(run, then)

    def submit(self, run: Callable[[], Any], then: Callable[[JobOutcome[Any]], None]) -> None:
        self.waiting.append((run, then))

    def close(self) -> None:
        self.waiting.clear()

    def do(self) -> None:
        run, then = self.waiting.popleft()
        try:
            outcome = JobOutcome(run())
        except StackError as error:
            outcome = JobOutcome(error=error)
        then(outcome)


def test_it_goes_on_until_all_is_done_and_others_get_their_turn() -> None:
    left, reported, jobs = [3], list[str](), Jobs()

    def prepare() -> bool:
        left[0] -= 1
        return left[0] == 0

    preparation = BackgroundWork(prepare, jobs, reported.append)
    preparation.go_on()
    preparation.go_on()  # it is at it already
    for remaining in (2, 1, 0):
        assert len(jobs.waiting) == 1
        jobs.submit(lambda: None, lambda outcome: None)  # a question
        jobs.do()
        assert left == [remaining]
        jobs.do()
    assert not jobs.waiting
    assert reported == ["", "", ""]


def test_work_that_fails_is_reported_and_tried_again_later() -> None:
    works, reported, jobs, now = [False], list[str](), Jobs(), [100.0]

    def prepare() -> bool:
        if not works[0]:
            raise StackError("the server is down")
        return True

    preparation = BackgroundWork(prepare, jobs, reported.append, lambda: now[0])
    preparation.go_on()
    jobs.do()
    assert reported == ["the server is down"]
    preparation.go_on()
    assert not jobs.waiting  # too soon
    works[0], now[0] = True, 110.0
    preparation.go_on()
    jobs.do()
    assert reported[1:] == [""]
