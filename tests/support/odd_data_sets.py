"""Makes small LeRobot data sets as others write them, with whatever they get wrong.

Row k of episode e has the state (e + 0.01 k, k); image k of a video is gray of the level 4 times its number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kc_vla.core.tasks import TASKS
from kc_vla.media.mp4 import Mp4Writer

FPS, SIDE = 20, 16
CAMERA = "observation.images.top"
TEXTS = (TASKS["counting"].instruction, "put the cube back", "tidy up")


def gray(pixels: np.ndarray) -> int:
    """The number of an image."""
    return round(float(pixels.mean()) / 4)


def write_odd_set(
    folder: Path,
    version: str = "v2.1",
    lengths: Sequence[int] = (6, 5),
    images: Sequence[int] | None = None,
    columns: Mapping[str, Sequence[Any]] | None = None,
    order: Sequence[int] | None = None,
    drift_s: float = 0.0,
    names: Sequence[str] = ("j1", "j2"),
    action_names: Sequence[str] | None = None,
    times: Sequence[int] | None = None,
) -> Path:
    """Write a data set and return its folder.

    Args:
        folder: for it.
        version: v2.1 or v3.0.
        lengths: rows of each episode.
        images: images of each episode in its video; by default as many as rows.
        columns: of each row of every episode, in place of the usual ones or beside them.
        order: in which the rows of each episode stand in the file.
        drift_s: by which `from_timestamp` is later with each episode.
        names: of the state's numbers.
        action_names: of the action's; by default the state's.
        times: at which frame's time each image of the first video is shown.
    """
    shown = list(images or lengths)
    tables, rows, begin = [], [], 0
    for episode, length in enumerate(lengths):
        tables.append(_table(episode, length, columns or {}, order))
        rows.append({"episode_index": episode, "length": length, "tasks": [TEXTS[0]]})
        if version.startswith("v3"):
            rows[-1] |= {"data/chunk_index": 0, "data/file_index": 0} | {
                f"videos/{CAMERA}/{name}": value
                for name, value in {
                    "chunk_index": 0,
                    "file_index": 0,
                    "from_timestamp": begin / FPS + drift_s * episode,
                }.items()
            }
        begin += shown[episode]
    _write_meta(folder, version, rows, names, action_names or names)
    if version.startswith("v3"):
        data, video = folder / "data/chunk-000/file-000.parquet", folder / f"videos/{CAMERA}/chunk-000/file-000.mp4"
        data.parent.mkdir(parents=True)
        pq.write_table(pa.concat_tables(tables[::-1]), data)  # others write episodes in any order
        _film(video, range(sum(shown)))
        return folder
    for episode, table in enumerate(tables):
        data = folder / f"data/chunk-000/episode_{episode:06d}.parquet"
        data.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, data)
        _film(folder / f"videos/chunk-000/{CAMERA}/episode_{episode:06d}.mp4", times or range(shown[episode]))
    return folder


def _table(episode: int, length: int, columns: Mapping[str, Sequence[Any]], order: Sequence[int] | None) -> pa.Table:
    usual: dict[str, Any] = {
        "observation.state": [[episode + 0.01 * k, float(k)] for k in range(length)],
        "action": [[episode + 0.01 * k, float(k)] for k in range(length)],
        "timestamp": np.arange(length, dtype=np.float32) / FPS,
        "frame_index": np.arange(length),
        "episode_index": np.full(length, episode),
        "task_index": np.zeros(length, np.int64),
    }
    given = {name: list(values)[:length] for name, values in columns.items()}
    table = pa.table({name: pa.array(values) for name, values in {**usual, **given}.items()})
    return table if order is None else table.take(pa.array([at for at in order if at < length]))


def _write_meta(
    folder: Path, version: str, rows: list[dict[str, Any]], names: Sequence[str], action_names: Sequence[str]
) -> None:
    (folder / "meta").mkdir(parents=True)
    third = version.startswith("v3")
    numbers = {"dtype": "float32", "shape": [2], "names": list(names)}
    features = {
        "observation.state": numbers,
        "action": numbers | {"names": list(action_names)},
        CAMERA: {"dtype": "video", "shape": [SIDE, SIDE, 3], "names": ["height", "width", "channels"]},
        **{
            key: {"dtype": "float32", "shape": [1], "names": None} for key in ("timestamp", "frame_index", "task_index")
        },
    }
    paths = (
        {}
        if third
        else {
            "chunks_size": 1000,
            "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
            "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
        }
    )
    info = {"codebase_version": version, "robot_type": "arm", "fps": FPS, "features": features, **paths}
    (folder / "meta/info.json").write_text(json.dumps(info))
    if third:
        place = folder / "meta/episodes/chunk-000/file-000.parquet"
        place.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), place)
        tasks = pa.table({"task_index": list(range(len(TEXTS))), "__index_level_0__": list(TEXTS)})
        pq.write_table(tasks, folder / "meta/tasks.parquet")
        return
    (folder / "meta/episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tasks = [{"task_index": index, "task": text} for index, text in enumerate(TEXTS)]
    (folder / "meta/tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tasks))


def _film(path: Path, times: Sequence[int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with Mp4Writer(path, SIDE, SIDE, 1 / FPS) as film:
        for number, at in enumerate(times):
            film.add(np.full((SIDE, SIDE, 3), 4 * number, np.uint8), at)
