"""Writes a LeRobot v3.0 data set out of one of ours: the same numbers and the same encoded pictures, laid out anew."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kc_vla.datasets.lerobot.layout import (
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
from kc_vla.datasets.lerobot.reader import DataSet, EpisodeInfo
from kc_vla.datasets.lerobot.stats import QUANTILES, merged_stats, quantile_stats
from kc_vla.datasets.lerobot.v3_files import Films, Tables
from kc_vla.datasets.lerobot.v3_layout import (
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
        tables = opened.enter_context(Tables(folder, data_file_mb))
        films = {key: opened.enter_context(Films(folder, key, source.fps, video_file_mb)) for key in videos}
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
    columns = dict.fromkeys(name for row in rows for name in row)  # not all of them know all, such as a seed
    whole = [{name: row.get(name) for name in columns} | _meta_place() for row in rows]
    pq.write_table(pa.Table.from_pylist(whole), episodes)
    texts = [str(row["task"]) for row in sorted(read_json_lines(source.folder / TASK_TEXTS), key=_task_index)]
    pq.write_table(_tasks(texts), folder / TASKS)
    for name in (KEYFRAMES, ANNOTATIONS, MODALITY):
        if (source.folder / name).exists():
            shutil.copyfile(source.folder / name, folder / name)
    (folder / STATS).write_text(json.dumps(_whole_stats(source, info, stats), indent=2) + "\n", encoding="utf-8")
    (folder / INFO).write_text(json.dumps(_info(info, len(texts)), indent=2) + "\n", encoding="utf-8")


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
