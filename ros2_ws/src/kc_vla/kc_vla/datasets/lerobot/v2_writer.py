"""Writes a LeRobot v2.1 data set: files of one episode each. It can be read, and can grow, at any moment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.files import write_whole
from kc_vla.datasets.lerobot.columns import read_columns
from kc_vla.datasets.lerobot.layout import (
    EPISODES,
    EPISODES_STATS,
    INFO,
    STATS,
    TASK_TEXTS,
    data_path,
    video_path,
)
from kc_vla.datasets.lerobot.meta import Form, info
from kc_vla.datasets.lerobot.stats import column_stats, quantile_stats
from kc_vla.datasets.lerobot.writer import DataSetWriter


class V2Writer(DataSetWriter):
    """A data set of version 2.1 that is being recorded; what is taken over can be read at once."""

    def __init__(self, folder: Path, form: Form, settings: Mapping[str, Any]) -> None:
        """Begin a data set, or go on with it, as `DataSetWriter` says."""
        self._stats: list[str] = []
        super().__init__(folder, form, settings)

    def _data_path(self, index: int) -> Path:
        return self.folder / data_path(index)

    def _video_path(self, index: int, view: str) -> Path:
        return self.folder / video_path(index, view)

    def _complete(self, facts: dict[str, Any], columns: Mapping[str, NDArray[Any]]) -> None:
        facts["stats"] |= {key: column_stats(columns[key]) for key in ("index", "task_index")}

    def _know(self, facts: Mapping[str, Any]) -> None:
        super()._know(facts)
        row = {"episode_index": self.episodes[-1].index, "stats": facts["stats"]}
        self._stats.append(json.dumps(row) + "\n")

    def _grown(self) -> None:
        """Write `meta` anew; what tells readers of an episode comes last."""
        self._write_what_is_ours()
        instructions = self.instructions or [self.form.instruction]
        tasks = ({"task_index": index, "task": text} for index, text in enumerate(instructions))
        rows = (json.dumps(episode.row()) + "\n" for episode in self.episodes)
        about = info(self.form, len(self.episodes), self.frames, len(instructions))
        for name, text in (
            (TASK_TEXTS, "".join(json.dumps(task) + "\n" for task in tasks)),
            (EPISODES_STATS, "".join(self._stats)),
            (EPISODES, "".join(rows)),
            (INFO, json.dumps(about, indent=2) + "\n"),
        ):
            write_whole(self.folder / name, text)

    def _end(self) -> None:
        """Write the statistics of the whole data set."""
        stats = {}
        for key in (column.key for column in self.form.recorded):
            parts = [
                read_columns(self._data_path(e.index), self._told(e.index), e.length, [key])[key] for e in self.episodes
            ]
            stats[key] = quantile_stats(np.concatenate(parts))
        write_whole(self.folder / STATS, json.dumps(stats, indent=2) + "\n")
