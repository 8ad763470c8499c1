"""Jobs in parallel processes of one thread each, which is the fastest way to many."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from tqdm import tqdm

from kc_vla.core.crashes import crash_in_words, note_crashes
from kc_vla_sim.errors import SimulationError

Job = TypeVar("Job")
Result = TypeVar("Result")
_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
_LAST_WORDS_S = 2.0
"""Until a process that has died is known to have."""
_ONE_THREAD = {"LP_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # of software Vulkan, of torch and numpy


class WorkerError(SimulationError):
    """A process that did jobs died."""


def run_jobs(
    work: Callable[[Job], Result], jobs: Sequence[Job], processes: int, title: str, unit: str = "episode"
) -> Iterator[tuple[Job, Result]]:
    """Do `work` for each of `jobs`, show a progress bar with `title`, and yield as they are done, in any order.

    One process is this one. Several are stopped at once when this one is interrupted or gives up.

    Raises:
        WorkerError: a process died.
    """
    if processes == 1:
        for job in tqdm(jobs, desc=title, unit=unit):
            yield job, work(job)
        return
    with _one_thread_in_children(), TemporaryDirectory(prefix="kc_vla_workers_") as reports:
        context = _Context()
        pool = ProcessPoolExecutor(max(1, min(processes, len(jobs))), context, _prepare, (os.getpid(), reports))
        try:
            running = {pool.submit(work, job): job for job in jobs}
            # The pool begins to watch a process for its death with the next thing that it is given: without this one
            # the death of the last is seen when another has done its job.
            pool.submit(os.getpid)
            for done in tqdm(as_completed(running), total=len(jobs), desc=title, unit=unit):
                yield running.pop(done), done.result()
        except BrokenProcessPool as error:
            raise WorkerError(f"a process {_death(context.started, Path(reports))}") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in context.started:
                child.terminate()


class _Context(SpawnContext):
    """Keeps the processes that it starts: `multiprocessing.active_children` forgets one that has died."""

    def __init__(self) -> None:
        self.started: list[SpawnProcess] = []

    def Process(self, *given: Any, **named: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        """Return a new process."""
        self.started.append(SpawnProcess(*given, **named))
        return self.started[-1]


def _death(children: Sequence[SpawnProcess], reports: Path) -> str:
    """Return how the first of `children` ended that did not end in order: the pool terminates the others."""
    for child in children:
        child.join(_LAST_WORDS_S)
    ended = [child for child in children if child.exitcode]
    first = min(ended, key=lambda child: child.exitcode == -signal.SIGTERM, default=None)
    if first is None or first.exitcode is None:
        return "died: the system says no more"
    if first.exitcode > 0:
        return f"ended itself with exit status {first.exitcode}"
    report = reports / str(first.pid)
    return crash_in_words(-first.exitcode, report.read_text(errors="replace") if report.exists() else "")


def _prepare(parent: int, reports: str) -> None:
    """Begin a child: an interrupt of the terminal is for the parent, which ends the children, also by its death."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)  # what it plays is written whole or not at all
    if os.getppid() != parent:  # it died while this one began
        os._exit(1)
    note_crashes((Path(reports) / str(os.getpid())).open("w"))


@contextmanager
def _one_thread_in_children() -> Iterator[None]:
    """Let processes that start meanwhile use one thread each."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
