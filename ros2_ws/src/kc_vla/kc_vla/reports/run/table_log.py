"""The log of a run: its table as its episodes end, and its page when it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kc_vla.bags.errors import BagError
from kc_vla.reports.run_table import RunTable


class RunTableLog:
    """A table of a run whose errors are logged and end nothing."""

    def __init__(self, folder: Path, planned: int, say: Callable[[str], None]) -> None:
        """Prepare to print a table at the end.

        Args:
            folder: of the episodes.
            planned: how many there will be.
            say: gets the lines.
        """
        self._table, self._say, self._told = RunTable(folder, planned), say, False

    @property
    def all_succeeded(self) -> bool:
        """Return whether no episode failed."""
        return self._table.all_succeeded

    def add(self, episode: Mapping[str, Any]) -> None:
        """Take in an episode."""
        self._try(lambda: self._table.add(episode))

    def stop(self, why: str) -> None:
        """Say, and note, why no more episodes come."""
        self._say(f"stopped: {why}")
        self._try(lambda: self._table.stop(why))

    def tell(self) -> None:
        """Say once what came of the run, and write its page where there is a table."""
        if self._told:
            return
        self._told = True
        for line in (*self._table.lines(), *page_line(self._table)):
            self._say(line)

    def _try(self, put: Callable[[], None]) -> None:
        try:
            put()
        except OSError as error:
            self._say(f"the table could not be written: {error}")


def page_line(table: RunTable) -> list[str]:
    """Write the page of the run of a table; return a line for a person. No table on the disk: no page, no line."""
    if table.path is None or not table.path.exists():
        return []
    from kc_vla.reports.run.run_page import write_run_page  # only at the end, and not by who runs one episode

    try:
        return [f"page:  {write_run_page(table.path)}"]
    except BagError as error:
        return [f"no page: {error}"]
