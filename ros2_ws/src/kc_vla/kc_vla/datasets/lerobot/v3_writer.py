"""Writes a LeRobot v3.0 data set: files of several episodes each, and a table that says where each episode is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kc_vla.core.files import replacing, write_whole
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import INFO, STATS, video_key
from kc_vla.datasets.lerobot.meta import Form, features
from kc_vla.datasets.lerobot.stats import QUANTILES, Stats, merged_stats, quantile_stats
from kc_vla.datasets.lerobot.tables import array_of, whole_table
from kc_vla.datasets.lerobot.v3_files import FileSeries, join_tables, join_videos
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
from kc_vla.datasets.lerobot.writer import DataSetWriter

_PIECES = ".pieces"
"""Folder of the files of single episodes that still have to go into one of several."""
_DATA = "data"


class V3Writer(DataSetWriter):
    """A data set of version 3.0 that is being recorded; it can be read once `finish` is through, and then is closed."""

    def __init__(
        self,
        folder: Path,
        form: Form,
        settings: Mapping[str, Any],
        data_file_mb: float = DATA_FILE_MB,
        video_file_mb: float = VIDEO_FILE_MB,
    ) -> None:
        """Begin a data set, or go on with it, as `DataSetWriter` says.

        Args:
            folder: of the data set, for it alone.
            form: of the data set.
            settings: what all of it is recorded with, plain values.
            data_file_mb: size at which a file of columns is full.
            video_file_mb: the same for videos.
        """
        self._most_mb = {"data_files_size_in_mb": data_file_mb, "video_files_size_in_mb": video_file_mb}
        self._rows: list[dict[str, Any]] = []
        self._image_stats: dict[str, list[Stats]] = {video_key(view): [] for view in form.views}
        self._columns = FileSeries(lambda number: folder / DATA_PATH.format(**place(number)), data_file_mb, join_tables)
        self._videos = {
            view: FileSeries(partial(_video_file, folder, view), video_file_mb, partial(join_videos, fps=form.fps))
            for view in form.views
        }
        super().__init__(folder, form, settings)

    def _data_path(self, index: int) -> Path:
        return self.folder / _PIECES / _DATA / f"episode_{index:06d}.parquet"

    def _video_path(self, index: int, view: str) -> Path:
        return self.folder / _PIECES / video_key(view) / f"episode_{index:06d}.mp4"

    def missing(self, count: int) -> list[int]:
        """Return the numbers below `count` of episodes that are missing.

        Raises:
            DataSetError: some are, and the data set is finished: it takes no more.
        """
        found = super().missing(count)
        if found and (self.folder / INFO).exists():
            raise DataSetError(f"{self.folder} is finished: record other episodes into another data set")
        return found

    def _complete(self, facts: dict[str, Any], columns: Mapping[str, NDArray[Any]]) -> None:
        index = facts["episode"]["episode_index"]
        videos = {view: self._video_path(index, view).stat().st_size for view in self.form.views}
        facts["sizes"] = {_DATA: self._data_path(index).stat().st_size, "videos": videos}
        facts["stats"] |= {key: quantile_stats(values, QUANTILES) for key, values in columns.items()}

    def _know(self, facts: Mapping[str, Any]) -> None:
        before = self.frames
        super()._know(facts)
        episode, sizes, fps = self.episodes[-1], facts["sizes"], self.form.fps
        row = {**episode.row(), "dataset_from_index": before, "dataset_to_index": before + episode.length}
        file, _ = self._columns.add(self._data_path(episode.index), sizes[_DATA], episode.length)
        row |= _under("data", file)
        for view, series in self._videos.items():
            piece = self._video_path(episode.index, view)
            file, first = series.add(piece, sizes["videos"][view], episode.length)
            times = {"from_timestamp": first / fps, "to_timestamp": (first + episode.length) / fps}
            row |= _under(f"videos/{video_key(view)}", {**file, **times})
        for key, stats in facts["stats"].items():
            row |= _under(f"stats/{key}", stats)
        for key, parts in self._image_stats.items():
            parts.append(facts["stats"][key])
        self._rows.append(row)

    def _grown(self) -> None:
        for series in (self._columns, *self._videos.values()):
            series.write_full()

    def _end(self) -> None:
        """Write the last files and `meta`; what tells readers that the data set is there comes last."""
        for series in (self._columns, *self._videos.values()):
            series.write_last()
        self._write_what_is_ours()
        self._write_episodes()
        with replacing(self.folder / TASKS) as part:
            pq.write_table(_tasks(self.instructions), part)
        write_whole(self.folder / STATS, json.dumps(self._whole_stats(), indent=2) + "\n")
        write_whole(self.folder / INFO, json.dumps(self._info(), indent=2) + "\n")
        shutil.rmtree(self.folder / _PIECES, ignore_errors=True)

    def _write_episodes(self) -> None:
        """Write the table of the episodes, without columns of which no episode knows anything, such as a seed."""
        known = dict.fromkeys(name for row in self._rows for name, value in row.items() if value is not None)
        here = _under("meta/episodes", place(0))
        path = self.folder / EPISODES_PATH.format(**place(0))
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            rows = [{name: row.get(name) for name in known} | here for row in self._rows]
            pq.write_table(pa.Table.from_pylist(rows), part)

    def _whole_stats(self) -> dict[str, Stats]:
        """Return statistics over the whole data set: of numbers over all rows, of images from those of the episodes."""
        found = {}
        for key in features(self.form):
            if key in self._image_stats:
                found[key] = merged_stats(self._image_stats[key])
            else:
                parts = [array_of(whole_table(path, [key]).column(key), str(path)) for path in self._columns.paths()]
                found[key] = quantile_stats(np.concatenate(parts), QUANTILES)
        return found

    def _info(self) -> dict[str, Any]:
        """Return the content of `info.json`."""
        form, episodes = self.form, len(self.episodes)
        return {
            "codebase_version": VERSION,
            "robot_type": form.robot,
            "total_episodes": episodes,
            "total_frames": self.frames,
            "total_tasks": len(self.instructions),
            "chunks_size": FILES_PER_CHUNK,
            **self._most_mb,
            "fps": form.fps,
            "splits": {form.split: f"0:{episodes}"},
            "data_path": DATA_PATH,
            "video_path": VIDEO_PATH,
            "features": {
                key: about if about["dtype"] == "video" else {**about, "fps": form.fps}
                for key, about in features(form).items()
            },
        }


def _video_file(folder: Path, view: str, number: int) -> Path:
    return folder / VIDEO_PATH.format(video_key=video_key(view), **place(number))


def _under(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by their names after a prefix, as in "data/chunk_index"."""
    return {f"{prefix}/{name}": value for name, value in values.items()}


def _tasks(texts: list[str]) -> pa.Table:
    """Return the table of instructions, with the texts as pandas' index: LeRobot looks a task up by its row."""
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
