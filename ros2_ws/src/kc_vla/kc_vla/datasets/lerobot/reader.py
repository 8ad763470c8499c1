"""Reads LeRobot data sets, 2.0 to 3.0: ours, and those that others made in this form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.datasets.lerobot.cameras import need_camera
from kc_vla.datasets.lerobot.episode import EpisodeInfo as EpisodeInfo
from kc_vla.datasets.lerobot.errors import DataSetError as DataSetError
from kc_vla.datasets.lerobot.layout import KEYFRAMES
from kc_vla.datasets.lerobot.source import SourceEpisode, open_source


class DataSet:
    """A data set. Opening it reads what is in `meta` and checks it; columns and images are read when asked for."""

    def __init__(self, folder: Path, unmarked: bool = False) -> None:
        """Open the data set in `folder`.

        Args:
            folder: of the data set.
            unmarked: it may be without any keyframes.

        Raises:
            DataSetError: it is missing, of another version, not as it should be, or without any keyframes.
        """
        self.folder = folder
        self._source = open_source(folder)
        self.fps = round(self._source.fps)  # 29.97 are 30
        self._rows = {row.index: row for row in self._source.episodes}
        self.episodes: tuple[EpisodeInfo, ...] = tuple(
            EpisodeInfo.from_row(row.row, str(folder)) for row in self._source.episodes
        )
        self._keyframes = {row.index: self._source.keyframes(row) for row in self._source.episodes}
        if not (unmarked or any(self._keyframes.values())):
            raise DataSetError(f"{folder} has no keyframes: {KEYFRAMES} is missing, or names none of its episodes")

    def keyframes(self, episode: int) -> tuple[int, ...]:
        """Return the frames of an episode's keyframes, ascending, the first 0; empty where none are annotated."""
        return self._keyframes[self._find(episode).index]

    def annotations(self) -> tuple[Annotation, ...]:
        """Return what is known of the keyframes; empty where the data set does not say."""
        return self._source.annotations()

    def contradictions(self) -> list[str]:
        """Return a line for each kind of contradiction between rows and tables, which reading does not refuse.

        Raises:
            DataSetError: an episode's columns cannot be read, or a frame is not in its video.
        """
        for row in self._source.episodes:
            self._source.examine(row)
        return self._source.findings.lines()

    def columns(self, episode: int) -> Mapping[str, NDArray[Any]]:
        """Return the numeric columns of an episode by their names, each (length,) or (length, D).

        A column is checked when it is asked for, and DataSetError raised where a number is missing or not finite.

        Raises:
            DataSetError: they cannot be read, or are not as long as the episode.
        """
        return self._source.columns(self._find(episode))

    def frames(self, episode: int, view: str = DEFAULT_VIEWS[0], named: str = "") -> Iterator[NDArray[np.uint8]]:
        """Return the images of an episode from its start, each (H, W, 3), RGB: exactly as many as it has frames.

        Args:
            episode: its index.
            view: the camera's, by its name.
            named: what the data set calls that camera, where it is none of the usual names.

        Raises:
            DataSetError: there is no such camera, or a frame of it cannot be read; the message names the frame.
        """
        return self._source.frames(self._find(episode), self.camera(view, named))

    def camera(self, view: str, named: str = "") -> str:
        """Return the key of a camera; arguments and DataSetError as `frames`."""
        return need_camera(self._source.cameras, view, named, str(self.folder))

    @property
    def cameras(self) -> tuple[str, ...]:
        """Return the keys of its cameras."""
        return tuple(self._source.cameras)

    def columns_path(self, episode: int) -> Path:
        """Return the file with the columns of an episode; one of version 3 holds several episodes.

        Raises:
            DataSetError: there is none.
        """
        return self._source.data_path(self._find(episode))

    def _find(self, episode: int) -> SourceEpisode:
        try:
            return self._rows[episode]
        except KeyError:
            raise DataSetError(f"{self.folder} has no episode {episode}") from None


def open_data_sets(folder: Path, unmarked: bool = False) -> tuple[DataSet, ...]:
    """Return the data set in `folder`, or all those in its subfolders, sorted by name; `unmarked` as of `DataSet`.

    Raises:
        DataSetError: there is none, or one is not as it should be.
    """
    if (folder / "meta").is_dir():
        return (DataSet(folder, unmarked),)
    # A hidden one is being made.
    found = sorted(path.parent for path in folder.glob("[!.]*/meta") if path.is_dir())
    if not found:
        raise DataSetError(f"there is no LeRobot data set in {folder}: record one with kc-vla collect")
    return tuple(DataSet(path, unmarked) for path in found)
