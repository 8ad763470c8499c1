"""How far a memory was built from a bag: an interrupted build goes on there, and a finished one is not made twice."""

from __future__ import annotations

import json
import time
from pathlib import Path

from kc_vla.core.files import write_whole
from kc_vla.core.untrusted import parsed_json

_EVERY_S = 1.0
_MOST_BAGS = 10_000
ENDING = ".built.json"
"""What the name of the file beside the store ends with."""


class BuildProgress:
    """The file beside a store that says up to which moment of each bag its images were taken in."""

    def __init__(self, store: Path, is_new: bool) -> None:
        """Read the file of a store; that of a store which is new says nothing.

        A file that is damaged says nothing, too: what was taken in is then taken in once more.
        """
        self.file = store.with_name(store.name + ENDING)
        self._until: dict[str, int] = {}
        self._written_s = 0.0
        if self.file.exists() and not is_new:
            try:
                told = parsed_json(self.file.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                told = None
            if isinstance(told, dict):
                self._until = {str(name): ns for name, ns in told.items() if type(ns) is int}

    def until(self, key: str) -> int:
        """Return the log time, ns, up to which a bag was taken in; 0 for nothing of it."""
        return self._until.get(key, 0)

    def note(self, key: str, log_ns: int) -> None:
        """Note that all was committed up to a moment; the file follows once a second."""
        self._until[key] = max(log_ns, self._until.get(key, 0))
        if time.monotonic() - self._written_s > _EVERY_S:
            self.write()

    def write(self) -> None:
        """Write the file.

        Raises:
            OSError: It cannot be written.
        """
        self._written_s = time.monotonic()
        newest = dict(list(self._until.items())[-_MOST_BAGS:])
        write_whole(self.file, json.dumps(newest, indent=1) + "\n")
