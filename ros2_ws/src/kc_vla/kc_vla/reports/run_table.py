"""The table of a run: the outcome of each of its episodes, in words, and written down beside them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kc_vla.keyframes.metrics import TOLERANCE_FRAMES


class OutputFolderError(OSError):
    """Nothing can be written into the folder of a run; the text says why and what to do."""


def require_writable(folder: Path) -> None:
    """Make the folder if it is not there.

    Raises:
        OutputFolderError: no file can be made in it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = f"cannot write into '{folder}': {error.strerror}; choose another output folder"
        raise OutputFolderError(why) from error


class RunTable:
    """The episodes of one run, each a mapping for JSON with at least `episode` (its id), `task` and `success`.

    Attributes:
        path: the file, named after the first episode; None while there is none.
    """

    def __init__(self, folder: Path, planned: int = 1) -> None:
        """Begin without episodes.

        Args:
            folder: of the episodes.
            planned: how many there will be: one alone needs no file.
        """
        self._folder, self._planned = folder, planned
        self._episodes: list[Mapping[str, Any]] = []
        self._stopped = ""
        self.path: Path | None = None

    @property
    def all_succeeded(self) -> bool:
        """Return whether no episode failed."""
        return _succeeded(self._episodes) == len(self._episodes)

    def add(self, episode: Mapping[str, Any]) -> None:
        """Take in an episode, and write down all so far; one alone needs no file.

        Raises:
            OSError: the file cannot be written; the episode is in the table all the same.
        """
        self._episodes.append(episode)
        self._write()

    def stop(self, why: str) -> None:
        """Note why no more episodes come.

        Raises:
            OSError: the file cannot be written.
        """
        self._stopped = why
        if self._episodes:
            self._write()

    def _write(self) -> None:
        if max(len(self._episodes), self._planned) < 2:
            return
        self.path = self._folder / f"run-{self._episodes[0]['episode']}.json"
        table = {
            "planned": max(len(self._episodes), self._planned),
            **({"stopped": self._stopped} if self._stopped else {}),
            "episodes": len(self._episodes),
            "succeeded": _succeeded(self._episodes),
            "keyframes_equal_oracle": sum(bool(line.get("keyframes_equal")) for line in self._episodes),
            "keyframes_right": _total(self._episodes, "keyframes_right"),
            "keyframes_wanted": _total(self._episodes, "keyframes_wanted"),
            "table": self._episodes,
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")

    def lines(self) -> list[str]:
        """Return how many succeeded of each task where there are several, and in all, and where the file is."""
        if not self._episodes:
            return []
        told = []
        tasks = dict.fromkeys(line["task"] for line in self._episodes)
        for task in tasks if len(tasks) > 1 else ():
            own = [line for line in self._episodes if line["task"] == task]
            told.append(f"{task}: {_in_words(own)}")
        told.append(_in_words(self._episodes))
        if self.path is not None and self.path.exists():
            told.append(f"table: {self.path}")
        return told


def _in_words(episodes: list[Mapping[str, Any]]) -> str:
    """Return the successes and, where there was a ground truth to compare with, the keyframes, in words."""
    told = f"{_succeeded(episodes)} of {len(episodes)} episodes succeeded"
    if not (wanted := _total(episodes, "keyframes_wanted")):
        return told
    right = _total(episodes, "keyframes_right")
    return f"{told}, {right} of {wanted} keyframes within {TOLERANCE_FRAMES} frames of the oracle's"


def _total(episodes: list[Mapping[str, Any]], name: str) -> int:
    return sum(int(line.get(name) or 0) for line in episodes)


def _succeeded(episodes: list[Mapping[str, Any]]) -> int:
    """Return how many of them did."""
    return sum(line["success"] for line in episodes)
