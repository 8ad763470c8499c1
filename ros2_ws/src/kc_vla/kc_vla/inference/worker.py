"""A thread of its own for what computes or waits: jobs go in, what came of them goes back to the thread that asked.

Nobody is left without an answer: each job gets one, and just one. It is the job's result, or a refusal of the job's
own, or a `NoResultError`: the job was superseded, its episode is over, or its deadline passed. No ROS.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from kc_vla.core.errors import StackError

T = TypeVar("T")
_LEAVE_S = 0.5
"""How long `Worker.close` waits for a job that is being done."""
_HAND_OVER_S = 0.002
"""How long an asker waits at most until an idle thread has taken its job.

Without that, what the asker does next would keep the interpreter, and the thread from its work for a millisecond.
"""


class NoResultError(StackError):
    """A job of the worker has no result; the text says why."""


class SupersededError(NoResultError):
    """Newer jobs took its place before it was begun."""


class OutdatedError(NoResultError):
    """It was asked in an episode that is over."""


class LateError(NoResultError):
    """Its deadline passed; what still comes of it is thrown away."""


@dataclass(frozen=True)
class JobOutcome(Generic[T]):
    """What came of a job: a value, or the error in its place."""

    value: T | None = None
    error: BaseException | None = None

    def result(self) -> T:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]  # of a job that returns None it is None


Then = Callable[[JobOutcome[T]], None]


class Runner(Protocol):
    """Does the jobs of one asker, in the order in which they were asked."""

    @property
    def busy_s(self) -> float:
        """Return how long the job that is being done has been, s; 0 if none is."""
        ...

    def begin(self, run: Callable[[], T], then: Then[T]) -> None:
        """Begin an episode, with a job that comes before all others of it. What belongs to the one before is void."""
        ...

    def submit(self, run: Callable[[], T], then: Then[T]) -> None:
        """Have `run` done; `then` gets its outcome, on the asker's thread."""
        ...

    def close(self) -> None:
        """Do nothing any more, and hand out no outcome."""
        ...


class AtOnce:
    """Does each job at once, on the asker's thread: for those that neither compute nor wait."""

    busy_s = 0.0

    def begin(self, run: Callable[[], T], then: Then[T]) -> None:
        """Do the first job of an episode before returning."""
        self.submit(run, then)

    def submit(self, run: Callable[[], T], then: Then[T]) -> None:
        """Do the job before returning, and hand its outcome to `then`."""
        then(_done(run))

    def close(self) -> None:
        """Do nothing: no job is ever waiting."""


@dataclass(eq=False)
class _Job:
    epoch: int
    run: Callable[[], Any]
    then: Then[Any]
    asked_at: float
    begun: bool = False
    answered: bool = False


class Worker:
    """Does each job in a thread, one after the other; the asker's thread learns what came of them in `deliver`.

    At most `room` jobs wait. One more, and the oldest of those that wait is answered with `SupersededError`: with a
    room of 1 the newest question counts, with a larger one nothing is lost unless the asker is too fast for too long.
    A job that does not end holds up those after it, and neither the asker nor the end of the process.
    """

    def __init__(
        self,
        name: str,
        wake: Callable[[], None],
        room: int = 1,
        deadline_s: float = math.inf,
        refusals: tuple[type[Exception], ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the thread.

        Args:
            name: of who works, in the texts of errors, e.g. "the policy".
            wake: called, in any thread, when there is something to deliver; it must not call the worker itself.
            room: how many jobs may wait, 1 or more.
            deadline_s: after so many seconds a job is answered with `LateError`; only that of `begin` is still done.
            refusals: errors that answer the one who asked. Every other one is a fault, which `deliver` raises.
            clock: of the deadline, s.
        """
        if room < 1:
            raise ValueError(f"room for {room} waiting jobs is too little: it must be 1 or more")
        self._name, self._wake, self._room, self._deadline_s, self._clock = name, wake, room, deadline_s, clock
        self._refusals: tuple[type[BaseException], ...] = (NoResultError, *refusals)
        lock = threading.Lock()  # guards all of the following
        self._news, self._taken = threading.Condition(lock), threading.Condition(lock)
        self._epoch = 0
        self._first: _Job | None = None
        self._line: deque[_Job] = deque()
        self._running: _Job | None = None
        self._began_at = 0.0
        self._outcomes: deque[tuple[_Job, JobOutcome[Any]]] = deque()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)  # one that hangs is left behind
        self._thread.start()

    @property
    def busy_s(self) -> float:
        """Return for how long the thread has been at its job, s; 0 if it has none."""
        with self._news:
            return 0.0 if self._running is None else self._clock() - self._began_at

    def begin(self, run: Callable[[], T], then: Then[T]) -> None:
        """Begin an episode with this job; jobs that still wait or run get an `OutdatedError`."""
        with self._news:
            waiting = [job for job in (self._running, self._first, *self._line) if job is not None]
            self._epoch += 1
            self._line.clear()
            self._first = self._job(run, then)
            for job in waiting:
                self._answer(job, self._outdated())
            self._hand_over(self._first)

    def submit(self, run: Callable[[], T], then: Then[T]) -> None:
        """Queue a job for the thread; when the queue is full, the oldest job in it gets a `SupersededError`."""
        with self._news:
            if len(self._line) == self._room:
                told = f"{self._name} has not begun with this request: newer ones took its place"
                self._answer(self._line.popleft(), SupersededError(told))
            self._line.append(self._job(run, then))
            self._hand_over(self._line[-1])

    def deliver(self) -> None:
        """Hand each asker the outcome of its job; call it on the asker's thread, when woken and now and then.

        Raises:
            Exception: a job failed with what is no refusal. The same error, from whichever episode it is.
        """
        self._expire()
        while True:
            with self._news:
                if not self._outcomes:
                    return
                job, outcome = self._outcomes.popleft()
                if self._is_fault(outcome) and outcome.error is not None:
                    raise outcome.error
                if job.epoch != self._epoch:
                    outcome = JobOutcome(error=self._outdated())
            job.then(outcome)

    def close(self) -> None:
        """Drop all jobs without an answer, and wait for the one that is being done for half a second at most."""
        with self._news:
            self._closed = True
            self._first = None
            self._line.clear()
            self._outcomes.clear()
            self._news.notify()
        self._thread.join(_LEAVE_S)

    def _hand_over(self, job: _Job) -> None:
        self._news.notify()
        if self._running is None:
            self._taken.wait_for(lambda: job.begun, _HAND_OVER_S)

    def _job(self, run: Callable[[], T], then: Then[T]) -> _Job:
        return _Job(self._epoch, run, then, self._clock())

    def _is_fault(self, outcome: JobOutcome[Any]) -> bool:
        return outcome.error is not None and not isinstance(outcome.error, self._refusals)

    def _outdated(self) -> OutdatedError:
        return OutdatedError(f"the episode ended before {self._name} answered")

    def _answer(self, job: _Job, error: NoResultError) -> None:
        if not job.answered:
            job.answered = True
            self._outcomes.append((job, JobOutcome(error=error)))
            self._wake()

    def _expire(self) -> None:
        """Answer those whose deadline has passed; what was not begun is not done any more."""
        with self._news:
            last = self._clock() - self._deadline_s
            for job in (self._running, self._first, *self._line):
                if job is not None and job.asked_at <= last:
                    self._answer(job, LateError(f"{self._name} has not answered for {self._deadline_s:g} s"))
            self._line = deque(job for job in self._line if not job.answered)

    def _work(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._closed or self._first is not None or len(self._line) > 0)
                if self._closed:
                    return
                job, self._first = self._first or self._line.popleft(), None
                self._running, self._began_at, job.begun = job, self._clock(), True
                self._taken.notify()
            outcome = _done(job.run)
            with self._news:
                self._running = None
                if self._closed:
                    return
                if not job.answered or self._is_fault(outcome):
                    job.answered = True
                    self._outcomes.append((job, outcome))
                    self._wake()


def _done(run: Callable[[], T]) -> JobOutcome[T]:
    try:
        return JobOutcome(run())
    except BaseException as error:  # noqa: BLE001  # whatever it is, the asker learns of it
        return JobOutcome(error=error)
