"""The results of an evaluation that plays for hours, in a folder: a line for each job, then a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Generic, TypeVar

from kc_vla.core.begun import begun
from kc_vla.core.files import write_whole
from kc_vla.core.lines import append_line, read_lines
from kc_vla_sim.workers import run_jobs

TABLE, RESULTS, SETTINGS = "table.md", "results.json", "evaluation.json"
Kept = TypeVar("Kept")
Job = TypeVar("Job")
Played = TypeVar("Played")


class ResultFolder(Generic[Kept]):
    """A folder into which results come one by one; an interrupted evaluation goes on with what is missing.

    Attributes:
        path: of the folder.
    """

    def __init__(self, path: Path, lines: str, kept_from: Callable[[Any], Kept]) -> None:
        """Name a folder, which need not be there.

        Args:
            path: of it.
            lines: name of the file in it that has a line of JSON for each result.
            kept_from: makes a result of a row of that file.
        """
        self.path = path
        self._lines, self._kept_from = path / lines, kept_from

    def begun(
        self, settings: Mapping[str, Any], made_by: str, name: str = SETTINGS
    ) -> AbstractContextManager[Mapping[str, Any]]:
        """Begin the folder, or go on with it as it was begun; see `core.begun`.

        Args:
            settings: of all results, as JSON has them.
            made_by: the command that fills such folders.
            name: of the file that keeps the settings.

        Raises:
            BegunError: it was begun in another way, holds something else, or another process writes it.
        """
        return begun(self.path, name, settings, made_by)

    def read(self) -> Iterator[Kept]:
        """Yield the results that are there; a line that a crash cut off is left out, and its job is done again."""
        return read_lines(self._lines, self._kept_from)

    def play(
        self,
        work: Callable[[Job], Played],
        jobs: Sequence[Job],
        row: Callable[[Job, Played], Mapping[str, Any]],
        processes: int,
        title: str,
        unit: str = "episode",
    ) -> None:
        """Do jobs in parallel, and keep each result as soon as it is there.

        Args:
            work: does one, in a process of its own where there are several.
            jobs: that are missing.
            row: what is kept of a job and its result, as JSON has it.
            processes: at most.
            title: of the progress bar.
            unit: what a job is.

        Raises:
            WorkerError: a process died.
            OSError: the results cannot be written.
        """
        for job, played in run_jobs(work, jobs, max(1, min(processes, len(jobs))), title, unit):
            append_line(self._lines, row(job, played))

    def write(self, table: str, figures: Any = None) -> None:
        """Write `table.md` and, unless there are none, the figures as `results.json`."""
        write_whole(self.path / TABLE, table)
        if figures is not None:
            write_whole(self.path / RESULTS, json.dumps(figures, indent=2) + "\n")
