"""What `meta/info.json` and `meta/modality.json` say of a data set of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.datasets.lerobot.layout import (
    ACTION,
    DATA_PATH,
    EPISODES_PER_CHUNK,
    FOLLOWING,
    RECORDED,
    STATE,
    VERSION,
    VIDEO_PATH,
    VIEW_NAMES_ELSEWHERE,
    Column,
    video_key,
)

ROBOT = "panda"


@dataclass(frozen=True)
class Form:
    """What all episodes of a data set have in common.

    Attributes:
        task: name in the task table.
        instruction: of the task.
        split: name of the split that its seeds are from.
        fps: frames per second.
        width: of the images, px, even.
        height: the same.
        robot: LeRobot's `robot_type`.
        recorded: the columns that an episode is recorded with.
        views: the cameras, the first first.
        other_sizes: width and height of the images of a view where they are of another size, px, even.
    """

    task: str
    instruction: str
    split: str
    fps: int
    width: int
    height: int
    robot: str = ROBOT
    recorded: tuple[Column, ...] = RECORDED
    views: tuple[str, ...] = DEFAULT_VIEWS
    other_sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def size(self, view: str) -> tuple[int, int]:
        """Return the width and height of a camera's images, px."""
        return self.other_sizes.get(view, (self.width, self.height))


def info(form: Form, episodes: int, frames: int, tasks: int = 1) -> dict[str, Any]:
    """Return the content of `info.json` of version 2.1 for so many episodes, frames and instructions in all."""
    return {
        "codebase_version": VERSION,
        "robot_type": form.robot,
        "total_episodes": episodes,
        "total_frames": frames,
        "total_tasks": tasks,
        "total_videos": len(form.views) * episodes,
        "total_chunks": -(-episodes // EPISODES_PER_CHUNK),
        "chunks_size": EPISODES_PER_CHUNK,
        "fps": form.fps,
        "splits": {form.split: f"0:{episodes}"},
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH,
        "features": features(form),
    }


def features(form: Form) -> dict[str, dict[str, Any]]:
    """Return what `info.json` says of each column and camera, by its key."""
    columns = {
        column.key: {"dtype": column.dtype, "shape": [len(column.names)], "names": list(column.names)}
        for column in (*form.recorded, *FOLLOWING)
    }
    return columns | {video_key(view): _video(form, view) for view in form.views}


def modality(form: Form) -> dict[str, Any]:
    """Return the content of `modality.json`, as GR00T's trainer reads it.

    It says which numbers mean what, and names the cameras as the authors do.

    Tool deltas are said to be relative, and their turn a rotation vector. What turn the state has is not said: GR00T
    takes a quaternion for w, x, y, z, and here w is the last; its numbers are learned as they are.
    """
    columns = {column.key: column for column in form.recorded}
    return {
        **{
            name: {
                part: {**row, "original_key": key, "dtype": columns[key].dtype} for part, row in _parts(columns[key])
            }
            for name, key in (("state", STATE.key), ("action", ACTION.key))
            if key in columns
        },
        "video": {VIEW_NAMES_ELSEWHERE.get(view, view): {"original_key": video_key(view)} for view in form.views},
        "annotation": {"human.task_description": {"original_key": "task_index"}},
    }


def _parts(column: Column) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return which numbers of a row belong together: a name; the first, one after the last, and what they are."""
    if column.names == STATE.names:
        return ("position", _row(0, 3)), ("rotation", _row(3, 7)), ("gripper", _row(7, 8))
    if column.names == ACTION.names:
        turn = {**_row(3, 6, absolute=False), "rotation_type": "axis_angle"}
        return ("position", _row(0, 3, absolute=False)), ("rotation", turn), ("gripper", _row(6, 7))
    return tuple((name, _row(place, place + 1)) for place, name in enumerate(column.names))


def _row(start: int, end: int, absolute: bool = True) -> dict[str, Any]:
    return {"start": start, "end": end, "absolute": absolute}


def _video(form: Form, view: str) -> dict[str, Any]:
    width, height = form.size(view)
    return {
        "dtype": "video",
        "shape": [height, width, 3],
        "names": ["height", "width", "channels"],
        "info": {
            "video.fps": float(form.fps),
            "video.height": height,
            "video.width": width,
            "video.channels": 3,
            "video.codec": "h264",
            "video.pix_fmt": "yuv420p",
            "video.is_depth_map": False,
            "has_audio": False,
        },
    }
