"""What `meta/info.json` and `meta/modality.json` say of a data set of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kc_vla.bags.lerobot.layout import (
    ACTION,
    COLUMNS,
    DATA_PATH,
    EPISODES_PER_CHUNK,
    STATE,
    VERSION,
    VIDEO_PATH,
    VIEW_NAMES_ELSEWHERE,
    VIEWS,
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
        width: of the pictures, px, even.
        height: the same.
    """

    task: str
    instruction: str
    split: str
    fps: int
    width: int
    height: int


def info(form: Form, episodes: int, frames: int) -> dict[str, Any]:
    """The content of `info.json` for so many episodes and frames in all."""
    columns = {
        column.key: {"dtype": column.dtype, "shape": [len(column.names)], "names": list(column.names)}
        for column in COLUMNS
    }
    return {
        "codebase_version": VERSION,
        "robot_type": ROBOT,
        "total_episodes": episodes,
        "total_frames": frames,
        "total_tasks": 1,
        "total_videos": len(VIEWS) * episodes,
        "total_chunks": -(-episodes // EPISODES_PER_CHUNK),
        "chunks_size": EPISODES_PER_CHUNK,
        "fps": form.fps,
        "splits": {form.split: f"0:{episodes}"},
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH,
        "features": columns | {video_key(view): _video(form) for view in VIEWS},
    }


def modality() -> dict[str, Any]:
    """The content of `modality.json`: which numbers mean what, with the authors' names for the cameras."""

    def parts(key: str, *named: tuple[str, int, int]) -> dict[str, Any]:
        return {name: {"start": start, "end": end, "original_key": key} for name, start, end in named}

    return {
        "state": parts(STATE.key, ("position", 0, 3), ("rotation", 3, 7), ("gripper", 7, 8)),
        "action": parts(ACTION.key, ("position", 0, 3), ("rotation", 3, 6), ("gripper", 6, 7)),
        "video": {name: {"original_key": video_key(view)} for view, name in VIEW_NAMES_ELSEWHERE.items()},
        "annotation": {"human.task_description": {"original_key": "task_index"}},
    }


def _video(form: Form) -> dict[str, Any]:
    return {
        "dtype": "video",
        "shape": [form.height, form.width, 3],
        "names": ["height", "width", "channels"],
        "info": {
            "video.fps": float(form.fps),
            "video.height": form.height,
            "video.width": form.width,
            "video.channels": 3,
            "video.codec": "h264",
            "video.pix_fmt": "yuv420p",
            "video.is_depth_map": False,
            "has_audio": False,
        },
    }
