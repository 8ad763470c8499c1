"""Reads any LeRobot data set, 2.0 to 3.0, with or without keyframes, of whatever robot and task."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kc_vla.datasets.lerobot.annotations import Annotation, read_annotations, read_keyframes
from kc_vla.datasets.lerobot.columns import read_columns
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.frames import read_frames
from kc_vla.datasets.lerobot.layout import (
    ANNOTATIONS,
    EPISODES,
    INFO,
    KEYFRAME,
    KEYFRAMES,
    inner_file,
    read_json,
    read_json_lines,
)
from kc_vla.datasets.lerobot.v3_layout import DATA_PATH, VIDEO_PATH


@dataclass(frozen=True)
class SourceEpisode:
    """One episode.

    Attributes:
        index: in the data set.
        length: frames.
        instruction: in words; empty where there is none.
        row: all that the data set's table of episodes says of it.
    """

    index: int
    length: int
    instruction: str
    row: Mapping[str, Any]


class Source(ABC):
    """A data set.

    Attributes:
        folder: where it is.
        fps: frames per second.
        features: what `info.json` says of each column and camera.
        cameras: keys of its pictures, videos first.
        episodes: by index.
    """

    def __init__(self, folder: Path, info: Mapping[str, Any]) -> None:
        self.folder = folder
        try:
            self.fps, self.features = float(info["fps"]), dict(info["features"])
            kinds = {key: str(feature["dtype"]) for key, feature in self.features.items()}
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DataSetError(f"{folder / INFO} is not that of a LeRobot data set: {error!r}") from error
        if not 0 < self.fps < math.inf:
            raise DataSetError(f"{folder / INFO}: bad fps {self.fps}")
        self._videos = [key for key, kind in kinds.items() if kind == "video"]
        self.cameras = [*self._videos, *(key for key, kind in kinds.items() if kind == "image")]
        self.episodes = self._read_episodes()
        if not self.episodes:
            raise DataSetError(f"{folder} has no episodes (yet)")

    def names(self, key: str) -> tuple[str, ...] | None:
        """What the numbers of a column are called; None where the data set does not say."""
        names = self.features.get(key, {}).get("names")
        while isinstance(names, dict) and len(names) == 1:  # as in {"motors": [...]}
            names = next(iter(names.values()))
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return tuple(names)
        return None

    def keyframes(self, episode: SourceEpisode) -> tuple[int, ...]:
        """The keyframes of an episode, ascending, the first 0; none where the data set does not tell.

        They are in `keyframes.json`, or, where LeRobot's own tools have taken episodes away or put data sets together,
        in the column `annotation.keyframe` alone.

        Raises:
            DataSetError: they are not as they should be.
        """
        if episode.index in self._keyframes:
            return self._keyframes[episode.index]
        marked = self.columns(episode, [KEYFRAME.key]).get(KEYFRAME.key) if KEYFRAME.key in self.features else None
        if marked is None or not marked.any():
            return ()
        frames = np.flatnonzero(np.ravel(marked)).tolist()
        if frames[0] != 0:
            raise DataSetError(f"{self.told(episode)}, frame {frames[0]}: the first keyframe must be frame 0")
        return tuple(frames)

    @cached_property
    def _keyframes(self) -> dict[int, tuple[int, ...]]:
        """What `keyframes.json` says."""
        path = self.folder / KEYFRAMES
        return read_keyframes(path, {e.index: e.length for e in self.episodes}) if path.exists() else {}

    def annotations(self) -> tuple[Annotation, ...]:
        """What is known of the keyframes; empty where the data set does not say."""
        path = self.folder / ANNOTATIONS
        return read_annotations(path) if path.exists() else ()

    def columns(self, episode: SourceEpisode, only: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
        """The numeric columns of an episode, all or those of `only` that there are, each (length,) or (length, D).

        Raises:
            DataSetError: they cannot be read, or are not as long as the episode, or not finite.
        """
        wanted = [key for key in only or self.features if key not in self.cameras]
        path = self.data_path(episode)
        present = [key for key in wanted if key in _schema(path, self.told(episode)).names]
        return read_columns(path, self.told(episode), episode.length, present, self._index_in_file(episode))

    def frames(self, episode: SourceEpisode, camera: str) -> Iterator[NDArray[np.uint8]]:
        """The pictures of an episode from its start, each (H, W, 3), RGB: exactly as many as it has frames.

        Raises:
            DataSetError: one cannot be read; the message names the frame.
        """
        told = f"{self.told(episode)}, {camera}"
        if camera in self._videos:
            return self._film(episode, camera, told)
        return _stored(self.data_path(episode), camera, told, self._index_in_file(episode))

    def told(self, episode: SourceEpisode) -> str:
        """What an error calls an episode."""
        return f"{self.folder}, episode {episode.index}"

    @abstractmethod
    def data_path(self, episode: SourceEpisode) -> Path:
        """Where the columns of an episode are."""

    @abstractmethod
    def video_path(self, episode: SourceEpisode, camera: str) -> Path:
        """Where the video of an episode is."""

    @abstractmethod
    def _read_episodes(self) -> tuple[SourceEpisode, ...]: ...

    @abstractmethod
    def _index_in_file(self, episode: SourceEpisode) -> int | None: ...

    @abstractmethod
    def _film(self, episode: SourceEpisode, camera: str, told: str) -> Iterator[NDArray[np.uint8]]: ...


def open_source(folder: Path) -> Source:
    """The data set in `folder`.

    Raises:
        DataSetError: there is none, or its version is unknown, or it is not as it should be.
    """
    if not (folder / INFO).exists():
        raise DataSetError(f"{folder} is no LeRobot data set: it has no {INFO}")
    info = read_json(folder / INFO)
    version = str(info.get("codebase_version")) if isinstance(info, dict) else "?"
    if version.startswith("v2."):
        return _Source2(folder, info)
    if version.startswith("v3."):
        return _Source3(folder, info)
    raise DataSetError(f"{folder} has LeRobot's version {version}: versions 2 and 3 can be read")


class _Source2(Source):
    """Version 2: files of one episode each."""

    def __init__(self, folder: Path, info: Mapping[str, Any]) -> None:
        try:
            self._chunk = int(info["chunks_size"])
            self._paths = {"data": str(info["data_path"]), "video": str(info.get("video_path"))}
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataSetError(f"{folder / INFO} is not that of a LeRobot v2 data set: {error!r}") from error
        super().__init__(folder, info)

    def _read_episodes(self) -> tuple[SourceEpisode, ...]:
        rows = read_json_lines(self.folder / EPISODES)
        return _episodes(rows, str(self.folder / EPISODES))

    def data_path(self, episode: SourceEpisode) -> Path:
        """See `Source.data_path`."""
        return self._path("data", episode)

    def video_path(self, episode: SourceEpisode, camera: str) -> Path:
        """See `Source.video_path`."""
        return self._path("video", episode, camera)

    def _index_in_file(self, episode: SourceEpisode) -> int | None:
        return None

    def _film(self, episode: SourceEpisode, camera: str, told: str) -> Iterator[NDArray[np.uint8]]:
        return read_frames(self.video_path(episode, camera), told, episode.length)

    def _path(self, kind: str, episode: SourceEpisode, camera: str = "") -> Path:
        chunk = episode.index // max(1, self._chunk)
        values: dict[str, str | int] = {"episode_chunk": chunk, "episode_index": episode.index, "video_key": camera}
        return inner_file(self.folder, self._paths[kind], values)


class _Source3(Source):
    """Version 3: many episodes in a file."""

    def __init__(self, folder: Path, info: Mapping[str, Any]) -> None:
        self._paths = {
            "data": str(info.get("data_path") or DATA_PATH),
            "video": str(info.get("video_path") or VIDEO_PATH),
        }
        super().__init__(folder, info)

    def _read_episodes(self) -> tuple[SourceEpisode, ...]:
        paths = sorted(self.folder.glob("meta/episodes/chunk-*/file-*.parquet"))
        if not paths:
            raise DataSetError(f"{self.folder}/meta/episodes is missing: not a whole LeRobot v3.0 data set")
        rows: list[dict[str, Any]] = []
        for path in paths:
            names = [name for name in _schema(path, str(path)).names if not name.startswith("stats/")]
            rows += _table(path, names).to_pylist()
        return _episodes(rows, f"{self.folder}/meta/episodes")

    def data_path(self, episode: SourceEpisode) -> Path:
        """See `Source.data_path`."""
        return self._path("data", "data", episode)

    def video_path(self, episode: SourceEpisode, camera: str) -> Path:
        """See `Source.video_path`."""
        return self._path("video", f"videos/{camera}", episode, camera)

    def _index_in_file(self, episode: SourceEpisode) -> int | None:
        return episode.index

    def _film(self, episode: SourceEpisode, camera: str, told: str) -> Iterator[NDArray[np.uint8]]:
        begin = episode.row.get(f"videos/{camera}/from_timestamp")
        if not isinstance(begin, float | int):
            raise DataSetError(f"{told}: meta/episodes does not say when it begins in its video")
        return read_frames(self.video_path(episode, camera), told, episode.length, float(begin), self.fps)

    def _path(self, kind: str, prefix: str, episode: SourceEpisode, camera: str = "") -> Path:
        values: dict[str, str | int] = {"video_key": camera}
        for name in ("chunk_index", "file_index"):
            value = episode.row.get(f"{prefix}/{name}")
            if not isinstance(value, int):
                raise DataSetError(f"{self.told(episode)}: meta/episodes has no {prefix}/{name}")
            values[name] = value
        return inner_file(self.folder, self._paths[kind], values)


def _episodes(rows: list[dict[str, Any]], told: str) -> tuple[SourceEpisode, ...]:
    found: dict[int, SourceEpisode] = {}
    for number, row in enumerate(rows, start=1):
        index, length, tasks = row.get("episode_index"), row.get("length"), row.get("tasks") or []
        if type(index) is not int or index < 0 or type(length) is not int or length < 1 or index in found:
            raise DataSetError(f"{told}, row {number}: bad or repeated episode {index!r} of {length!r} frames")
        if not isinstance(tasks, list) or not all(isinstance(task, str) for task in tasks):
            raise DataSetError(f"{told}, episode {index}: tasks must be a list of instructions, not {tasks!r}")
        found[index] = SourceEpisode(index, length, tasks[0] if tasks else "", row)
    return tuple(found[index] for index in sorted(found))


def _schema(path: Path, told: str) -> pa.Schema:
    try:
        return pq.read_schema(path)
    except FileNotFoundError:
        raise DataSetError(f"{told}: its columns {path} are missing") from None
    except (OSError, pa.ArrowException) as error:
        raise DataSetError(f"{told}: its columns {path} cannot be read: {error}") from error


def _table(path: Path, names: list[str], episode: int | None = None) -> pa.Table:
    try:
        of_episode = None if episode is None else [("episode_index", "==", episode)]
        return pq.read_table(path, columns=names, filters=of_episode)
    except (OSError, pa.ArrowException) as error:
        raise DataSetError(f"{path} cannot be read: {error}") from error


def _stored(path: Path, camera: str, told: str, episode: int | None) -> Iterator[NDArray[np.uint8]]:
    """Pictures that are kept among the columns, as PNG or JPEG."""
    for frame, cell in enumerate(_table(path, [camera], episode).column(camera)):
        content = cell.as_py()
        data = content.get("bytes") if isinstance(content, dict) else None
        bgr = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
        if bgr is None:
            raise DataSetError(f"{told}, frame {frame}: its picture cannot be read from {path}")
        yield np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), np.uint8)
