"""Reads LeRobot v2.1 data sets that have keyframes: ours, and those that others made in this form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.lerobot.annotations import read_keyframes
from kc_vla.bags.lerobot.columns import read_columns
from kc_vla.bags.lerobot.episode import EpisodeInfo as EpisodeInfo
from kc_vla.bags.lerobot.errors import DataSetError as DataSetError
from kc_vla.bags.lerobot.frames import read_frames
from kc_vla.bags.lerobot.layout import (
    EPISODES,
    INFO,
    KEYFRAMES,
    VIEW_NAMES_ELSEWHERE,
    read_json,
    read_json_lines,
    video_key,
)


class DataSet:
    """A data set. Opening it reads what is in `meta` and checks it; columns and pictures are read when asked for."""

    def __init__(self, folder: Path) -> None:
        """Open the data set in `folder`.

        Raises:
            DataSetError: it is missing, of another version, or not as it should be.
        """
        self.folder = folder
        info = read_json(folder / INFO)
        try:
            version, self.fps = str(info["codebase_version"]), int(info["fps"])
            self._data_path, self._video_path = str(info["data_path"]), str(info["video_path"])
            self._chunk, self._features = int(info["chunks_size"]), dict(info["features"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataSetError(f"{folder / INFO} is not that of a LeRobot v2.1 data set: {error!r}") from error
        if not version.startswith("v2."):
            raise DataSetError(f"{folder} has LeRobot's version {version}: convert it to v2.1")
        if self.fps < 1 or self._chunk < 1:
            raise DataSetError(f"{folder / INFO}: fps and chunks_size must be at least 1")
        rows = read_json_lines(folder / EPISODES)
        episodes = [
            EpisodeInfo.from_row(row, f"{folder / EPISODES}, row {number}") for number, row in enumerate(rows, start=1)
        ]
        self.episodes: tuple[EpisodeInfo, ...] = tuple(sorted(episodes, key=lambda episode: episode.index))
        self._by_index = {episode.index: episode for episode in self.episodes}
        if not self.episodes:
            raise DataSetError(f"{folder} has no episodes (yet)")
        if len(self._by_index) < len(self.episodes):
            raise DataSetError(f"{folder / EPISODES} names an episode twice")
        self._keyframes = read_keyframes(folder / KEYFRAMES, {e.index: e.length for e in self.episodes})

    def keyframes(self, episode: int) -> tuple[int, ...]:
        """The frames of an episode's keyframes, ascending, the first 0."""
        return self._keyframes[self._find(episode).index]

    def columns(self, episode: int) -> Mapping[str, NDArray[Any]]:
        """The numeric columns of an episode by their names, each (length,) or (length, D).

        Raises:
            DataSetError: they cannot be read, or are not as long as the episode, or not finite.
        """
        path = self.columns_path(episode)
        return read_columns(path, self._told(episode), self._find(episode).length)

    def frames(self, episode: int, view: str = "third_person") -> Iterator[NDArray[np.uint8]]:
        """The pictures of an episode from its start, each (H, W, 3), RGB: exactly as many as it has frames.

        Args:
            episode: its index.
            view: name of a camera, "third_person" or "wrist".

        Raises:
            DataSetError: there is no such camera, or a frame of it cannot be read; the message names the frame.
        """
        path = self.video_path(episode, self._video_key(view))
        return read_frames(path, f"{self._told(episode)}, {view}", self._find(episode).length)

    def columns_path(self, episode: int) -> Path:
        """Where the columns of an episode are; raise DataSetError where there is no such episode."""
        return self._path(self._data_path, episode)

    def video_path(self, episode: int, key: str) -> Path:
        """Where the video of an episode is, by the key of its feature; raise DataSetError as `columns_path`."""
        return self._path(self._video_path, episode, key)

    def _find(self, episode: int) -> EpisodeInfo:
        try:
            return self._by_index[episode]
        except KeyError:
            raise DataSetError(f"{self.folder} has no episode {episode}") from None

    def _told(self, episode: int) -> str:
        return f"{self.folder}, episode {episode}"

    def _video_key(self, view: str) -> str:
        """Key of a camera, by our name for it or by the authors'."""
        for name in (view, VIEW_NAMES_ELSEWHERE.get(view, view)):
            if video_key(name) in self._features:
                return video_key(name)
        there = [key for key in self._features if key.startswith(video_key(""))]
        raise DataSetError(f"{self.folder} has no camera '{view}': it has {', '.join(there) or 'none'}")

    def _path(self, template: str, episode: int, key: str = "") -> Path:
        """Where a file of an episode is."""
        chunk = self._find(episode).index // self._chunk
        try:
            filled = template.format(episode_chunk=chunk, episode_index=episode, video_key=key)
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise DataSetError(f"{self.folder / INFO}: bad path '{template}': {error!r}") from error
        return self.folder / filled


def open_data_sets(folder: Path) -> tuple[DataSet, ...]:
    """The data set in `folder`, or all those in its subfolders, sorted by name.

    Raises:
        DataSetError: there is none, or one is not as it should be.
    """
    if (folder / "meta").is_dir():
        return (DataSet(folder),)
    # A hidden one is being made.
    found = sorted(path.parent for path in folder.glob("[!.]*/meta") if path.is_dir())
    if not found:
        raise DataSetError(f"there is no LeRobot data set in {folder}: record one with kc-vla collect")
    return tuple(DataSet(path) for path in found)
