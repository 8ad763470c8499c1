"""Writes a LeRobot data set episode by episode, and goes on with one that was begun.

Episodes are recorded beside the data set in any order, by several processes at once, and are taken over in the order
of their indices. So nothing that was recorded is lost, and the data set is the same however many processes recorded it.
"""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TextIO

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.files import PART_OF, locks, write_whole
from kc_vla.datasets.lerobot.annotations import Annotation, keyframes_text, read_annotations, read_keyframes
from kc_vla.datasets.lerobot.columns import read_columns, write_columns
from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.datasets.lerobot.episode_writer import COLUMNS_FILE, FACTS_FILE
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import ANNOTATIONS, COLLECTION, KEYFRAMES, MODALITY, read_json
from kc_vla.datasets.lerobot.meta import Form, modality

_FACTS = "meta/collected/episode_{:06d}.json"
"""An episode is in the data set if and only if its facts are here; the other files of `meta` follow from them."""
_INCOMING = ".incoming"


class DataSetWriter(ABC):
    """A data set that is being recorded; a context manager. Each version of LeRobot's format has a class of its own.

    Where it cannot be written, every method raises OSError, and what is complete stays.
    """

    def __init__(self, folder: Path, form: Form, settings: Mapping[str, Any]) -> None:
        """Begin a data set, or go on with it.

        Args:
            folder: of the data set, for it alone.
            form: of the data set.
            settings: what all of it is recorded with, plain values.

        Raises:
            DataSetError: something else is there, or it was begun with other settings, or is being recorded now.
        """
        self.folder = folder
        self.episodes: list[EpisodeInfo] = []
        self.form = form
        self._keyframes: dict[int, tuple[int, ...]] = {}
        self._annotations: list[Annotation] = []
        begun = folder / COLLECTION
        if not begun.exists():
            if any(not (path.is_dir() or PART_OF.match(path.name)) for path in folder.rglob("*")):
                raise DataSetError(f"{folder} holds something that was not recorded here: choose another place")
            begun.parent.mkdir(parents=True, exist_ok=True)
            write_whole(begun, json.dumps(dict(settings), indent=2) + "\n")
        self._lock = begun.open()
        try:
            self._take_up(settings)
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._lock.close()

    def missing(self, count: int) -> list[int]:
        """Return those of the first `count` episodes that are still to be recorded, ascending."""
        return [index for index in range(len(self.episodes), count) if not self.incoming(index).exists()]

    def incoming(self, index: int) -> Path:
        """Return where an `EpisodeWriter` is to record an episode."""
        return self.folder / _INCOMING / f"episode_{index:06d}"

    def take_over(self) -> None:
        """Take over the recorded episodes that come next."""
        before = len(self.episodes)
        while (incoming := self.incoming(len(self.episodes))).exists():
            self._take_over(incoming, len(self.episodes))
        if len(self.episodes) > before:
            self._grown()

    def finish(self) -> None:
        """Write what is known only at the end, once all that is recorded is taken over."""
        self._end()
        incoming = self.folder / _INCOMING
        if incoming.exists() and not any(incoming.iterdir()):
            incoming.rmdir()

    @property
    def instructions(self) -> list[str]:
        """Those of the episodes, in the order of their first; a task's index is its place here."""
        return list(dict.fromkeys(episode.instruction for episode in self.episodes))

    @property
    def frames(self) -> int:
        """How many all episodes have."""
        return sum(episode.length for episode in self.episodes)

    @abstractmethod
    def _data_path(self, index: int) -> Path:
        """Return where the columns of an episode are to be."""

    @abstractmethod
    def _video_path(self, index: int, view: str) -> Path:
        """Return where a video of an episode is to be."""

    @abstractmethod
    def _complete(self, facts: dict[str, Any], columns: Mapping[str, NDArray[Any]]) -> None:
        """Add to the facts of an episode what its place in the data set makes of them, its files being there."""

    @abstractmethod
    def _grown(self) -> None:
        """Bring the files of several episodes up to date."""

    @abstractmethod
    def _end(self) -> None:
        """Write what is known only at the end; may be done again after it broke off."""

    def _take_up(self, settings: Mapping[str, Any]) -> None:
        """Lock the data set, check that it is the one that is meant, and find out what is there."""
        _take(self._lock, self.folder)
        begun = read_json(self.folder / COLLECTION)
        for name in {**settings, **begun}:
            if begun.get(name) != settings.get(name):
                was = f"{name} '{begun[name]}'" if name in begun else f"no {name}"
                raise DataSetError(
                    f"{self.folder} was begun with {was}, not '{settings.get(name, '')}': "
                    "go on as it was begun, or choose another place"
                )
        while (facts := self.folder / _FACTS.format(len(self.episodes))).exists():
            self._know(read_json(facts))
        self._keep_corrections()
        for path in (self.folder / _INCOMING).glob("*"):
            if path.suffix == ".part" or path.name < self.incoming(len(self.episodes)).name:
                shutil.rmtree(path)  # it was never finished, or has been taken over
        self.take_over()
        self._grown()

    def _know(self, facts: Mapping[str, Any]) -> None:
        """Take in the facts of the next episode."""
        episode = EpisodeInfo.from_row(facts["episode"], self._told(len(self.episodes)))
        annotations = [Annotation(**row) for row in facts["annotations"]]
        self.episodes.append(episode)
        self._keyframes[episode.index] = tuple(annotation.frame for annotation in annotations)
        self._annotations += annotations

    def _keep_corrections(self) -> None:
        """Let what people have said about the episodes stand."""
        if (path := self.folder / KEYFRAMES).exists():
            said = read_json(path)
            lengths = {e.index: e.length for e in self.episodes if str(e.index) in said}
            self._keyframes |= read_keyframes(path, lengths)
        if (path := self.folder / ANNOTATIONS).exists():
            rows = read_annotations(path)
            told = {row.episode for row in rows}
            self._annotations = [*rows, *(row for row in self._annotations if row.episode not in told)]

    def _take_over(self, incoming: Path, index: int) -> None:
        """Move the files of an episode to their places, the facts last; may be done again after it broke off."""
        facts = read_json(incoming / FACTS_FILE)
        length = facts["episode"]["length"]
        columns = dict(read_columns(incoming / COLUMNS_FILE, self._told(index), length))
        columns["index"] = np.arange(length) + self.frames
        instructions = list(dict.fromkeys([*self.instructions, *facts["episode"]["tasks"]]))
        columns["task_index"] = np.full(length, instructions.index(facts["episode"]["tasks"][0]))
        for view in self.form.views:
            place = self._video_path(index, view)
            place.parent.mkdir(parents=True, exist_ok=True)
            if (video := incoming / f"{view}.mp4").exists():
                video.replace(place)
        place = self._data_path(index)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_columns(incoming / f"whole_{COLUMNS_FILE}", columns, self.form.recorded)
        (incoming / f"whole_{COLUMNS_FILE}").replace(place)
        self._complete(facts, columns)
        known = self.folder / _FACTS.format(index)
        known.parent.mkdir(exist_ok=True)
        write_whole(known, json.dumps(facts))
        self._know(facts)
        shutil.rmtree(incoming)

    def _write_what_is_ours(self) -> None:
        """Write those files of `meta` that LeRobot's format does not have: parts by name, keyframes, annotations."""
        for name, text in (
            (MODALITY, json.dumps(modality(self.form), indent=2) + "\n"),
            (KEYFRAMES, keyframes_text(self._keyframes)),
            (ANNOTATIONS, "".join(row.line() for row in self._annotations)),
        ):
            write_whole(self.folder / name, text)

    def _told(self, index: int) -> str:
        return f"{self.folder}, episode {index}"


def begun_with(folder: Path) -> dict[str, Any] | None:
    """Return the settings with which a data set was begun; None where none was.

    Raises:
        DataSetError: another process is at it, or they cannot be read.
    """
    path = folder / COLLECTION
    if not path.exists():
        return None
    with path.open() as lock:
        _take(lock, folder)
        return dict(read_json(path))


def forget_how_it_was_made(folder: Path) -> None:
    """Remove the files that only an unfinished recording needs."""
    (folder / COLLECTION).unlink(missing_ok=True)
    shutil.rmtree((folder / _FACTS).parent, ignore_errors=True)


def _take(lock: TextIO, folder: Path) -> None:
    """Have a data set for this process alone, as long as the file is open; raise DataSetError if another has it."""
    if not locks(lock):
        raise DataSetError(f"{folder} is being recorded by another process: wait for it")
