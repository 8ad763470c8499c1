"""Where the files of a LeRobot v2.1 data set lie, and the form of what they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.core.chunk import DATA_DELTA_NAMES
from kc_vla.core.codec import TOOL_STATE_NAMES
from kc_vla.core.untrusted import inner_path, parsed_json, read_text
from kc_vla.datasets.lerobot.errors import DataSetError

VERSION = "v2.1"
DATA_PATH = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
VIDEO_PATH = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
EPISODES_PER_CHUNK = 1000

INFO, STATS, MODALITY = "meta/info.json", "meta/stats.json", "meta/modality.json"
EPISODES, TASK_TEXTS, EPISODES_STATS = "meta/episodes.jsonl", "meta/tasks.jsonl", "meta/episodes_stats.jsonl"
KEYFRAMES, ANNOTATIONS = "meta/keyframes.json", "meta/annotations.jsonl"

COLLECTION = "meta/collection.json"
"""How a data set of ours was collected."""
EXPORTED, VIEWS_TOLD = "meta/exported.json", "views"
"""Which bags an exported data set is from, and in there: the cameras by the names of their views."""

VIEW_NAMES_ELSEWHERE = {"third_person": "image", "wrist": "wrist_image"}
"""What the paper's authors call the cameras; others are called as the robot file has them."""


@dataclass(frozen=True)
class Column:
    """Numbers of every frame.

    Attributes:
        key: name of the column.
        dtype: of NumPy.
        names: of the numbers in a row.
        scalar: a row is one number, not a list of one.
    """

    key: str
    dtype: str
    names: tuple[str, ...]
    scalar: bool = False


STATE = Column("observation.state", "float32", TOOL_STATE_NAMES)
"""Tool position (m) and turn in the robot's base frame, and the gripper, 0 closed .. 1 open."""
ACTION = Column("action", "float32", DATA_DELTA_NAMES)
"""Tool delta per step (m, rad, base frame) and the gripper's target, executed from this frame to the next."""
_JOINTS = (*(f"joint{number}" for number in range(1, 8)), "finger1", "finger2")
JOINT_POSITIONS = Column("observation.joint_positions", "float32", _JOINTS)
"""rad, and m of the fingers."""
JOINT_VELOCITIES = Column("observation.joint_velocities", "float32", _JOINTS)
"""rad/s and m/s."""
INTERVENTION = Column("intervention", "bool", ("intervention",), scalar=True)
"""Whether a person drove who had taken over from a policy; called as LeRobot calls it."""
KEYFRAME = Column("annotation.keyframe", "bool", ("keyframe",), scalar=True)
RECORDED = (STATE, ACTION, JOINT_POSITIONS, JOINT_VELOCITIES)
"""What an episode of the simulated Panda is recorded with."""
FOLLOWING = (
    KEYFRAME,
    Column("timestamp", "float32", ("timestamp",), scalar=True),
    *(Column(key, "int64", (key,), scalar=True) for key in ("frame_index", "episode_index", "index", "task_index")),
)
"""The columns of every data set that follow from what is recorded."""


def video_key(view: str) -> str:
    """Return the key of the camera called `view`."""
    return f"observation.images.{view}"


def data_path(episode: int) -> str:
    """Return the path of the columns of an episode in a data set of the stack."""
    return DATA_PATH.format(episode_chunk=episode // EPISODES_PER_CHUNK, episode_index=episode)


def video_path(episode: int, view: str) -> str:
    """Return the path of a video of an episode in a data set of the stack."""
    chunk = episode // EPISODES_PER_CHUNK
    return VIDEO_PATH.format(episode_chunk=chunk, video_key=video_key(view), episode_index=episode)


def read_json(path: Path) -> Any:
    """Return the content of a JSON file.

    Raises:
        DataSetError: there is none, or it is no JSON.
    """
    try:
        return parsed_json(read_text(path))
    except FileNotFoundError:
        raise DataSetError(f"{path} is missing: not a whole LeRobot data set with keyframes") from None
    except (OSError, ValueError) as error:
        raise DataSetError(f"{path} cannot be read: {error}") from error


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file, each an object.

    Raises:
        DataSetError: there is no such file, or a line is no JSON object.
    """
    try:
        lines = read_text(path).splitlines()
    except FileNotFoundError:
        raise DataSetError(f"{path} is missing: not a whole LeRobot data set") from None
    except (OSError, ValueError) as error:
        raise DataSetError(f"{path} cannot be read: {error}") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = parsed_json(line)
        except ValueError as error:
            raise DataSetError(f"{path}, line {number}: {error}") from error
        if not isinstance(row, dict):
            raise DataSetError(f"{path}, line {number}: not a JSON object")
        rows.append(row)
    return rows


_PART = re.compile(r"\{(\w+)(?::0(\d)d)?\}")


def inner_file(folder: Path, template: str, values: Mapping[str, str | int]) -> Path:
    """Return the file of a data set that a path with blanks, such as `{episode_index:06d}`, and their values name.

    Raises:
        DataSetError: it has another blank, or leads out of the folder.
    """

    def value(part: re.Match[str]) -> str:
        return format(values[part[1]], f"0{part[2]}d" if part[2] else "")

    try:
        filled = _PART.sub(value, template)
        if "{" in filled or "}" in filled:
            raise ValueError("only blanks such as {episode_index:06d} can be filled in")
        return inner_path(folder, filled)
    except (KeyError, ValueError) as error:
        raise DataSetError(f"{folder / INFO}: bad path '{template}': {error}") from error
