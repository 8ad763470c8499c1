"""Reads any LeRobot data set, 2.0 to 3.0, with or without keyframes, of whatever robot and task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from kc_vla.datasets.lerobot.consistency import TASK_INDEX, TIMESTAMP
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.frames import VideoTimes
from kc_vla.datasets.lerobot.layout import EPISODES, INFO, TASK_TEXTS, inner_file, read_json, read_json_lines
from kc_vla.datasets.lerobot.source_base import Source as Source
from kc_vla.datasets.lerobot.source_base import SourceEpisode as SourceEpisode
from kc_vla.datasets.lerobot.tables import schema_of, whole_table
from kc_vla.datasets.lerobot.v3_layout import DATA_PATH, TASKS, VIDEO_PATH
from kc_vla.datasets.lerobot.video_places import Places, places_alone, places_by_time, places_in_whole

_AWAY = 0.5
"""Share of a frame's time by which `from_timestamp` may be off where it gives the order of the episodes in a video."""
_TEXTS = ("task", "__index_level_0__")
"""The column of instructions in the table of tasks: pandas calls an index without a name the second way."""


def open_source(folder: Path) -> Source:
    """Return the data set in `folder`.

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
        """Return the path of the Parquet file of this one episode."""
        return self._path("data", episode)

    def video_path(self, episode: SourceEpisode, camera: str) -> Path:
        """Return the path of the camera's video of this one episode."""
        return self._path("video", episode, camera)

    def _index_in_file(self, episode: SourceEpisode) -> int | None:
        return None

    def _read_tasks(self) -> dict[int, str]:
        path = self.folder / TASK_TEXTS
        return _tasks(read_json_lines(path)) if path.exists() else {}

    def _places(self, episode: SourceEpisode, camera: str, times: VideoTimes) -> Places:
        if len(times) <= episode.length:
            return places_alone(times, episode.length, self.fps, None)
        found = self.columns(episode, [TIMESTAMP])
        stamps = found.unchecked(TIMESTAMP) if TIMESTAMP in found else None
        return places_alone(times, episode.length, self.fps, stamps)

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
        self._known_rows: dict[str, dict[Path, tuple[dict[int, int], int]]] = {}
        super().__init__(folder, info)

    def _read_episodes(self) -> tuple[SourceEpisode, ...]:
        paths = sorted(self.folder.glob("meta/episodes/chunk-*/file-*.parquet"))
        if not paths:
            raise DataSetError(f"{self.folder}/meta/episodes is missing: not a whole LeRobot v3.0 data set")
        rows: list[dict[str, Any]] = []
        for path in paths:
            names = [name for name in schema_of(path, str(path)).names if not name.startswith("stats/")]
            rows += whole_table(path, names).to_pylist()
        return _episodes(rows, f"{self.folder}/meta/episodes")

    def data_path(self, episode: SourceEpisode) -> Path:
        """Return the path of the Parquet file that holds this episode among others."""
        return self._path("data", "data", episode)

    def video_path(self, episode: SourceEpisode, camera: str) -> Path:
        """Return the path of the camera's video that shows this episode among others."""
        return self._path("video", f"videos/{camera}", episode, camera)

    def _index_in_file(self, episode: SourceEpisode) -> int | None:
        return episode.index

    def _read_tasks(self) -> dict[int, str]:
        path = self.folder / TASKS
        if not path.exists():
            return {}
        names = schema_of(path, str(path)).names
        text = next((name for name in _TEXTS if name in names), None)
        if text is None or TASK_INDEX not in names:
            return {}
        rows = whole_table(path, [TASK_INDEX, text]).to_pylist()
        return _tasks([{TASK_INDEX: row[TASK_INDEX], "task": row[text]} for row in rows])

    def _places(self, episode: SourceEpisode, camera: str, times: VideoTimes) -> Places:
        told, path = f"{self.told(episode)}, {camera}", self.video_path(episode, camera)
        begin = self._begin_s(episode, camera)
        before, total = self._rows_before(camera)[path]
        if total != len(times):
            return places_by_time(times, episode.length, begin, self.fps, told, path)
        return places_in_whole(times, before[episode.index], episode.length, begin, self.fps)

    def _rows_before(self, camera: str) -> dict[Path, tuple[dict[int, int], int]]:
        """Return by video how many rows of other episodes come before each of its episodes, and all its rows."""
        if camera not in self._known_rows:
            beside: dict[Path, list[SourceEpisode]] = {}
            for episode in self.episodes:
                beside.setdefault(self.video_path(episode, camera), []).append(episode)
            self._known_rows[camera] = {}
            for path, episodes in beside.items():
                by_time = sorted(episodes, key=lambda each: (self._begin_s(each, camera), each.index))
                before = _rows_before(by_time)
                away = (abs(self._begin_s(each, camera) * self.fps - before[each.index]) for each in episodes)
                if any(each > _AWAY for each in away):  # these times mean nothing, so they tell no order either
                    before = _rows_before(episodes)
                self._known_rows[camera][path] = before, sum(each.length for each in episodes)
        return self._known_rows[camera]

    def _begin_s(self, episode: SourceEpisode, camera: str) -> float:
        """Return when an episode begins in its video, s."""
        begin = episode.row.get(f"videos/{camera}/from_timestamp")
        if isinstance(begin, bool) or not isinstance(begin, float | int) or not math.isfinite(begin):
            raise DataSetError(
                f"{self.told(episode)}, {camera}: meta/episodes has no from_timestamp of its video, a number in s"
            )
        return float(begin)

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


def _rows_before(episodes: Sequence[SourceEpisode]) -> dict[int, int]:
    """Return how many rows come before each of some episodes, by its index, if they follow each other."""
    ends = accumulate(each.length for each in episodes)
    return {each.index: end - each.length for each, end in zip(episodes, ends, strict=True)}


def _tasks(rows: list[dict[str, Any]]) -> dict[int, str]:
    """Return the instructions of a table by their index; a row that says none is left out."""
    return {
        row[TASK_INDEX]: row["task"]
        for row in rows
        if type(row.get(TASK_INDEX)) is int and isinstance(row.get("task"), str)
    }
