"""What the page asks for and takes long: curves, proposals, a first look into every bag. One thing at a time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from kc_vla.annotate.curves import Curves, cached_curves
from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.annotate.library import Library
from kc_vla.annotate.proposals import propose, recorded_proposals
from kc_vla.bags.errors import BagBusyError, BagError
from kc_vla.episodes.annotation_log import AnnotationError, Mark
from kc_vla.keyframes.scoring import SelectorBackend, SourceError
from kc_vla.keyframes.selectors import NetworkOptions, open_selector

T = TypeVar("T")
SOURCES = ("rules", "learned", "events")
"""Names of the selectors that can also propose keyframes for a recording."""
_AGAIN_S = 2.0
"""Time, s, after which a bag that was being recorded is read again, as long as a page asks for it."""


@dataclass
class BackgroundJob(Generic[T]):
    """Something that is done in the background.

    Attributes:
        share: of it that is done, 0..1.
        result: once it is there.
        problem: why there will be none; empty if all is well.
        again_at: when it is worth to be tried again, on the clock of `time.monotonic`.
    """

    share: float = 0.0
    result: T | None = None
    problem: str = ""
    again_at: float = math.inf


class Work:
    """Does it, and keeps what came out."""

    def __init__(self, library: Library, settings: NetworkOptions) -> None:
        """Prepare to do work for the page.

        Args:
            library: of bags.
            settings: of the selectors that propose, each made when it is asked for.
        """
        self._library = library
        self._settings = settings
        self._loaded: dict[str, SelectorBackend] = {}
        self._jobs: dict[tuple[str, str], BackgroundJob[Any]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="annotate")
        self._survey = ThreadPoolExecutor(1, thread_name_prefix="survey")
        for entry in library.entries:
            self._start("recorded", entry.key, self._look_into, self._survey)

    def stop(self) -> None:
        """Give up what is not done yet."""
        self._stopped.set()
        for pool in (self._pool, self._survey):
            pool.shutdown(cancel_futures=True)

    def recorded(self, key: str) -> BackgroundJob[dict[str, tuple[Mark, ...]]]:
        """Return the proposals that the recording contains, by selector.

        If the bag was still being recorded at the last call, this reads it again.
        """
        with self._lock:
            job = self._jobs["recorded", key]
            if job.again_at <= time.monotonic() and not self._stopped.is_set():
                job = self._jobs["recorded", key] = BackgroundJob(problem=job.problem)
                self._survey.submit(self._do, job, self._look_into, key)
        return job

    def curves(self, key: str) -> BackgroundJob[Curves]:
        """Return the curves of a bag, as many points as can be seen: those of all bags that were opened stay here."""
        return self._start("curves", key, self._thinned_curves, self._pool)

    def proposals(self, key: str) -> dict[str, BackgroundJob[tuple[Mark, ...]]]:
        """Return what was asked for so far, by source."""
        with self._lock:
            return {source: self._jobs[source, key] for source in SOURCES if (source, key) in self._jobs}

    def propose(self, key: str, source: str) -> None:
        """Ask for the proposals of a source.

        Raises:
            AnnotationError: there is no such source.
        """
        if source not in SOURCES:
            raise AnnotationError(f"no source '{source}': there are {', '.join(SOURCES)}")
        self._start(source, key, lambda key, job: self._propose(key, source, job), self._pool)

    def _start(
        self, name: str, key: str, work: Callable[[str, BackgroundJob[Any]], object], pool: ThreadPoolExecutor
    ) -> BackgroundJob[Any]:
        with self._lock:
            job = self._jobs.get((name, key))
            if job is None:
                job = self._jobs[name, key] = BackgroundJob()
                pool.submit(self._do, job, work, key)
            return job

    def _do(self, job: BackgroundJob[Any], work: Callable[[str, BackgroundJob[Any]], object], key: str) -> None:
        if self._stopped.is_set():
            return
        try:
            job.result, job.problem = work(key, job), ""
        except BagBusyError as error:
            job.problem, job.again_at = str(error), time.monotonic() + _AGAIN_S
        except (AnnotationError, BagError, SourceError, OSError, ValueError, RuntimeError) as error:
            job.problem = str(error)
        job.share = 1.0

    def _thinned_curves(self, key: str, job: BackgroundJob[Any]) -> Curves:
        return {name: curve.thinned() for name, curve in cached_curves(self._open(key)).items()}

    def _look_into(self, key: str, job: BackgroundJob[Any]) -> dict[str, tuple[Mark, ...]]:
        return recorded_proposals(self._open(key))

    def _open(self, key: str) -> AnnotatedEpisode:
        """Return the bag, opened once more, so that nobody who steps through it has to wait."""
        return AnnotatedEpisode(self._library.entry(key).bag)

    def _propose(self, key: str, source: str, job: BackgroundJob[Any]) -> tuple[Mark, ...]:
        if source not in self._loaded:
            self._loaded[source] = open_selector(source, shared=asdict(self._settings))
        episode = self._open(key)

        def done(frame: int) -> None:
            job.share = frame / episode.length
            if self._stopped.is_set():
                raise AnnotationError("stopped")

        return propose(episode, self._loaded[source], source, cached_curves(episode), done)
