"""Jobs in parallel processes of one thread each, which is the fastest way to many."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from tqdm import tqdm

from kc_vla_sim.errors import SimulationError

Job = TypeVar("Job")
Result = TypeVar("Result")
_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
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
    with _one_thread_in_children():
        pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _prepare, (os.getpid(),))
        try:
            running = {pool.submit(work, job): job for job in jobs}
            for done in tqdm(as_completed(running), total=len(jobs), desc=title, unit=unit):
                yield running.pop(done), done.result()
        except BrokenProcessPool as error:
            raise WorkerError("a process died, for lack of memory? try fewer --processes") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()


def _prepare(parent: int) -> None:
    """Begin a child: an interrupt of the terminal is for the parent, which ends the children, also by its death."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)  # what it plays is written whole or not at all
    if os.getppid() != parent:  # it died while this one began
        os._exit(1)


@contextmanager
def _one_thread_in_children() -> Iterator[None]:
    """Processes that start meanwhile use one thread each."""
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
