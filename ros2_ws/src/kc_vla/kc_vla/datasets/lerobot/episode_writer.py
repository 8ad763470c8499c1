"""Writes one episode into a folder of its own, from which `DataSetWriter` takes it over."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.datasets.lerobot.columns import write_columns
from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.datasets.lerobot.layout import KEYFRAME, video_key
from kc_vla.datasets.lerobot.meta import Form
from kc_vla.datasets.lerobot.stats import PictureStats, column_stats
from kc_vla.media.mp4 import Mp4Writer

COLUMNS_FILE, FACTS_FILE = "columns.parquet", "facts.json"
FOR_LEARNING = {"crf": "18", "preset": "veryfast", "g": "2", "threads": "1", "rc-lookahead": "0"}
"""Settings of the encoder: every other image stands alone, so that any is found quickly. Several threads, or looking
ahead, would make the bytes differ from run to run."""


class EpisodeWriter:
    """An episode on its way to the disk; a context manager. Its folder has its name once all is written.

    Where it cannot be written, every method raises OSError. Left without `finish`, nothing stays.
    """

    def __init__(self, folder: Path, form: Form) -> None:
        """Make the folder of an episode.

        Args:
            folder: to make, replaced if it is there.
            form: of the data set.
        """
        self._folder = folder
        self._partial = folder.with_name(f"{folder.name}.part")
        self._form = form
        self._rows: dict[str, list[NDArray[Any]]] = {column.key: [] for column in form.recorded}
        self._stats = {view: PictureStats() for view in form.views}
        self._length = 0
        self._videos: dict[str, Mp4Writer] = {}
        self._open = ExitStack()

    def __enter__(self) -> EpisodeWriter:
        shutil.rmtree(self._partial, ignore_errors=True)
        self._partial.mkdir(parents=True)
        form = self._form
        for view in form.views:
            video = Mp4Writer(self._partial / f"{view}.mp4", *form.size(view), 1 / form.fps, FOR_LEARNING)
            self._videos[view] = self._open.enter_context(video)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        unfinished = error or Exception("left before the end")  # to the videos both are the same
        try:
            self._open.__exit__(type(unfinished), unfinished, trace)
        finally:
            shutil.rmtree(self._partial, ignore_errors=True)

    @property
    def length(self) -> int:
        """Return frames so far."""
        return self._length

    def add(self, row: Mapping[str, ArrayLike], pictures: Mapping[str, NDArray[np.uint8]]) -> None:
        """Add a frame.

        Args:
            row: the numbers of each of the form's recorded columns by its key.
            pictures: of each of the form's views, (height, width, 3), RGB.

        Raises:
            ValueError: numbers of another shape, or not finite.
        """
        number = self.length
        for column in self._form.recorded:
            values = np.asarray(row[column.key], column.dtype)
            if values.shape != (len(column.names),) or not np.isfinite(values).all():
                raise ValueError(f"{column.key}: {len(column.names)} finite numbers are wanted, not {values}")
            self._rows[column.key].append(values)
        for view in self._form.views:
            self._videos[view].add(pictures[view], number)
            self._stats[view].add(pictures[view])
        self._length += 1

    def finish(self, about: EpisodeInfo, annotations: Sequence[Annotation]) -> None:
        """Write the rest; the episode has at least one frame, and a keyframe at the frame of each annotation."""
        self._open.close()
        frame = np.arange(self.length)
        columns: dict[str, NDArray[Any]] = {key: np.array(rows) for key, rows in self._rows.items()}
        columns[KEYFRAME.key] = np.isin(frame, [annotation.frame for annotation in annotations])
        columns["timestamp"] = frame / self._form.fps
        columns["frame_index"] = frame
        columns["episode_index"] = np.full_like(frame, about.index)
        columns["task_index"] = np.zeros_like(frame)
        write_columns(self._partial / COLUMNS_FILE, columns, self._form.recorded)
        stats = {key: column_stats(values) for key, values in columns.items()}
        stats |= {video_key(view): pictures.result() for view, pictures in self._stats.items()}
        facts = {"episode": about.row(), "stats": stats, "annotations": [asdict(row) for row in annotations]}
        (self._partial / FACTS_FILE).write_text(json.dumps(facts), encoding="utf-8")
        shutil.rmtree(self._folder, ignore_errors=True)
        self._partial.rename(self._folder)
