"""Writes a LeRobot v3.0 data set out of one of ours: the same numbers and the same encoded pictures, laid out anew."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kc_vla.bags.lerobot.errors import DataSetError
from kc_vla.bags.lerobot.layout import (
    ANNOTATIONS,
    EPISODES_STATS,
    INFO,
    KEYFRAMES,
    MODALITY,
    STATS,
    TASK_TEXTS,
    read_json,
    read_json_lines,
)
from kc_vla.bags.lerobot.reader import DataSet, EpisodeInfo
from kc_vla.bags.lerobot.stats import QUANTILES, merged_stats, quantile_stats
from kc_vla.bags.lerobot.v3_layout import (
    DATA_FILE_MB,
    DATA_PATH,
    EPISODES_PATH,
    FILES_PER_CHUNK,
    TASKS,
    VERSION,
    VIDEO_FILE_MB,
    VIDEO_PATH,
    place,
)

_MB = 1 << 20


def write_v3(
    source: DataSet,
    folder: Path,
    done: Callable[[], object] = lambda: None,
    data_file_mb: float = DATA_FILE_MB,
    video_file_mb: float = VIDEO_FILE_MB,
) -> None:
    """Write `source` as version 3.0.

    Args:
        source: of version 2.1, with H.264 videos of one form.
        folder: for the data set; must not exist.
        done: called after each episode.
        data_file_mb: size at which a file of columns is full.
        video_file_mb: the same for videos.

    Raises:
        DataSetError: the source cannot be read, or its videos cannot follow one another in one file.
        OSError: it cannot be written; what is there then is not whole.
    """
    info = read_json(source.folder / INFO)
    videos = [key for key, feature in info["features"].items() if feature["dtype"] == "video"]
    (folder / "meta").mkdir(parents=True)
    stats = {row["episode_index"]: row["stats"] for row in read_json_lines(source.folder / EPISODES_STATS)}
    rows = [_about(episode, stats[episode.index]) for episode in source.episodes]
    with ExitStack() as opened:
        tables = opened.enter_context(_Tables(folder, data_file_mb))
        films = {key: opened.enter_context(_Films(folder, key, source.fps, video_file_mb)) for key in videos}
        for episode, row in zip(source.episodes, rows, strict=True):
            row |= tables.add(source.columns_path(episode.index), episode)
            for key, film in films.items():
                row |= film.add(source.video_path(episode.index, key), episode)
            done()
    _write_meta(source, folder, info, rows, stats)


def _write_meta(
    source: DataSet, folder: Path, info: dict[str, Any], rows: list[dict[str, Any]], stats: dict[int, Any]
) -> None:
    episodes = folder / EPISODES_PATH.format(**place(0))
    episodes.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([row | _meta_place() for row in rows]), episodes)
    texts = [str(row["task"]) for row in sorted(read_json_lines(source.folder / TASK_TEXTS), key=_task_index)]
    pq.write_table(_tasks(texts), folder / TASKS)
    for name in (KEYFRAMES, ANNOTATIONS, MODALITY):
        if (source.folder / name).exists():
            shutil.copyfile(source.folder / name, folder / name)
    (folder / STATS).write_text(json.dumps(_whole_stats(source, info, stats), indent=2) + "\n", encoding="utf-8")
    (folder / INFO).write_text(json.dumps(_info(info, len(texts)), indent=2) + "\n", encoding="utf-8")


class _Tables:
    """The files of columns, one after the other, an episode in a row group; a context manager."""

    def __init__(self, folder: Path, most_mb: float) -> None:
        self._folder, self._most = folder, most_mb * _MB
        self._number, self._index = -1, 0
        self._size = 0
        self._file: pq.ParquetWriter | None = None

    def __enter__(self) -> _Tables:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, path: Path, episode: EpisodeInfo) -> dict[str, int]:
        """Add an episode; return where it is."""
        table = pq.read_table(path)
        size = path.stat().st_size
        if self._file is None or self._size + size > self._most:
            self.__exit__()
            self._number, self._size = self._number + 1, 0
            target = self._folder / DATA_PATH.format(**place(self._number))
            target.parent.mkdir(parents=True, exist_ok=True)
            self._file = pq.ParquetWriter(target, table.schema)
        self._file.write_table(table, row_group_size=max(1, table.num_rows))
        self._size += size
        begin, self._index = self._index, self._index + episode.length
        where = {f"data/{name}": value for name, value in place(self._number).items()}
        return {**where, "dataset_from_index": begin, "dataset_to_index": self._index}


class _Films:
    """The video files of one camera, one after the other: packets are copied, nothing is encoded anew."""

    def __init__(self, folder: Path, key: str, fps: int, most_mb: float) -> None:
        self._folder, self._key, self._fps, self._most = folder, key, fps, most_mb * _MB
        self._number, self._frames = -1, 0
        self._size = 0
        self._output: Any = None
        self._stream: Any = None
        self._form: tuple[Any, ...] = ()

    def __enter__(self) -> _Films:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._output is not None:
            self._output.close()

    def add(self, path: Path, episode: EpisodeInfo) -> dict[str, Any]:
        """Add an episode; return where it is.

        Raises:
            DataSetError: its video is of another form than those before, or has no clean times.
        """
        try:
            with av.open(str(path)) as container:
                self._append(container, path, episode)
        except av.FFmpegError as error:
            raise DataSetError(f"episode {episode.index}: {path} cannot be copied: {error.strerror}") from error
        begin = Fraction(self._frames, self._fps)
        self._frames += episode.length
        where = {f"videos/{self._key}/{name}": value for name, value in place(self._number).items()}
        return {
            **where,
            f"videos/{self._key}/from_timestamp": float(begin),
            f"videos/{self._key}/to_timestamp": float(Fraction(self._frames, self._fps)),
        }

    def _append(self, container: Any, path: Path, episode: EpisodeInfo) -> None:
        stream = container.streams.video[0]
        size = path.stat().st_size
        if self._output is None or self._size + size > self._most:
            self._begin(stream)
        if _form(stream) != self._form:
            raise DataSetError(f"episode {episode.index}: {path} has another form than the videos before it")
        ticks = 1 / (stream.time_base * self._fps)
        if ticks.denominator != 1:
            raise DataSetError(f"episode {episode.index}: the times of {path} are no multiples of 1/{self._fps} s")
        shift = self._frames * ticks.numerator
        for packet in container.demux(stream):
            if packet.dts is None:  # the end
                continue
            packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
            packet.stream = self._stream
            self._output.mux(packet)
        self._size += size

    def _begin(self, stream: Any) -> None:
        self.__exit__()
        self._number, self._frames, self._size = self._number + 1, 0, 0
        target = self._folder / VIDEO_PATH.format(video_key=self._key, **place(self._number))
        target.parent.mkdir(parents=True, exist_ok=True)
        self._output = av.open(str(target), "w", format="mp4", options={"movflags": "+faststart"})
        self._stream = self._output.add_stream_from_template(stream)
        self._stream.time_base = stream.time_base
        self._form = _form(stream)


def _form(stream: Any) -> tuple[Any, ...]:
    """What all videos in one file must have in common."""
    context = stream.codec_context
    return context.name, context.width, context.height, stream.time_base, bytes(context.extradata or b"")


def _about(episode: EpisodeInfo, stats: dict[str, Any]) -> dict[str, Any]:
    """What is known of an episode before it has its place."""
    row = {key: value for key, value in episode.row().items() if value is not None}
    return {**row, **{f"stats/{key}/{name}": value for key, found in stats.items() for name, value in found.items()}}


def _meta_place() -> dict[str, int]:
    return {f"meta/episodes/{name}": value for name, value in place(0).items()}


def _task_index(row: dict[str, Any]) -> int:
    return int(row["task_index"])


def _tasks(texts: list[str]) -> pa.Table:
    """The table of instructions, which pandas shall read with the text as index: LeRobot looks a task up by its row."""
    described = {
        "index_columns": ["task"],
        "column_indexes": [
            {
                "name": None,
                "field_name": None,
                "pandas_type": "unicode",
                "numpy_type": "object",
                "metadata": {"encoding": "UTF-8"},
            }
        ],
        "columns": [
            {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy, "metadata": None}
            for name, kind, numpy in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
        ],
        "pandas_version": "2.2.3",
    }
    table = pa.table({"task_index": pa.array(range(len(texts)), pa.int64()), "task": pa.array(texts, pa.string())})
    return table.replace_schema_metadata({"pandas": json.dumps(described)})


def _whole_stats(source: DataSet, info: dict[str, Any], stats: dict[int, Any]) -> dict[str, Any]:
    """Statistics over the whole data set: of numbers over all rows, of pictures from those of the episodes."""
    found: dict[str, Any] = {}
    columns: dict[str, list[NDArray[Any]]] = {}
    for episode in source.episodes:
        for key, values in source.columns(episode.index).items():
            columns.setdefault(key, []).append(values)
    for key, feature in info["features"].items():
        if feature["dtype"] == "video":
            found[key] = merged_stats([stats[episode.index][key] for episode in source.episodes])
        else:
            found[key] = quantile_stats(np.concatenate(columns[key]), QUANTILES)
    return found


def _info(info: dict[str, Any], tasks: int) -> dict[str, Any]:
    """The content of `info.json` out of that of version 2.1."""
    features = {
        key: feature if feature["dtype"] == "video" else {**feature, "fps": info["fps"]}
        for key, feature in info["features"].items()
    }
    return {
        "codebase_version": VERSION,
        "robot_type": info["robot_type"],
        "total_episodes": info["total_episodes"],
        "total_frames": info["total_frames"],
        "total_tasks": tasks,
        "chunks_size": FILES_PER_CHUNK,
        "data_files_size_in_mb": DATA_FILE_MB,
        "video_files_size_in_mb": VIDEO_FILE_MB,
        "fps": info["fps"],
        "splits": info["splits"],
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH,
        "features": features,
    }
