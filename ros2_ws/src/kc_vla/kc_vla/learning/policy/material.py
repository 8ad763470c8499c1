"""What a policy can learn from: episodes with plans of the simulator's expert, and recorded demonstrations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.chunk import ActionType
from kc_vla.core.files import digest
from kc_vla.core.robot import Robot, load_robot, shipped_robots
from kc_vla.datasets.lerobot.layout import INFO, INTERVENTION, read_json
from kc_vla.datasets.lerobot.reader import DataSet, EpisodeInfo, open_data_sets
from kc_vla.datasets.planned import SETTINGS, PlannedEpisode, read_folder, read_planned
from kc_vla.keyframes.cameras import Camera
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.policy.event_keyframes import EventKeyframes, of_planned
from kc_vla.learning.policy.recorded import codec_of, looked_at, read_demonstrated

_NAMED = 10
"""Number of episodes that a message lists by their numbers."""


@dataclass(frozen=True, eq=False)
class EpisodeSource:
    """One episode to read.

    Attributes:
        key: another one for other content: what was computed of it is kept by it.
        name: the same however often it is read, and wherever it lies: whether it is held out depends on it.
        content: another one for other content, wherever it lies.
        instruction: what the robot was to do.
        read: reads it; images are of `size` px where it pays to make them smaller at once.
        driven: frames in which a person drove who had taken over from a policy.
    """

    key: str
    name: str
    content: str
    instruction: str
    read: Callable[[int], PlannedEpisode]
    driven: int = 0


@dataclass(frozen=True, eq=False)
class Material:
    """All episodes, of one robot.

    Attributes:
        robot: the robot.
        action: kind of its actions.
        views: cameras that it looks at, in order.
        episodes: in order, those of a task together.
    """

    robot: Robot
    action: ActionType
    views: tuple[str, ...]
    episodes: tuple[EpisodeSource, ...]

    @property
    def instructions(self) -> list[str]:
        """Return the instructions of the tasks, each once."""
        return list(dict.fromkeys(episode.instruction for episode in self.episodes))

    @property
    def fingerprint(self) -> str:
        """Return 16 hex digits that change with any of the episodes, and not with their place."""
        told = "\n".join(f"{episode.name} {episode.content}" for episode in self.episodes)
        return digest(told)


def find_material(
    folders: Sequence[Path],
    from_takeovers: bool = False,
    events: EventKeyframes | None = None,
    cameras: tuple[Camera, ...] = (),
) -> Material:
    """Return all that is in these folders: episodes with action targets, LeRobot data sets, or folders of either.

    Args:
        folders: where it is.
        from_takeovers: of data sets that tell where a person had taken over from a policy, those frames alone; what
            tells nothing of it is learned from as a whole.
        events: whose keyframes stand for those that are marked, or that nobody has marked.
        cameras: of the robot that are looked at; none: all that there are.

    Raises:
        DataSetError: there is nothing, or something is not as it should be.
        DataError: it is of several robots, or of one that the stack does not know; a camera is missing; or nobody has
            taken over.
    """
    parts = [part for folder in folders for part in _parts(folder, from_takeovers, events, cameras)]
    if from_takeovers and not any(episode.driven for part in parts for episode in part.episodes):
        raise DataError(
            f"nobody has taken over in {', '.join(map(str, folders))}: --from-takeovers wants data sets of episodes "
            "that were recorded with takeover:= and in which a person drove (kc-vla bag export)"
        )
    parts = [part for part in parts if part.episodes]
    first = parts[0]
    for part in parts[1:]:
        if (part.robot.name, part.action) != (first.robot.name, first.action):
            raise DataError(
                f"there are episodes of a '{first.robot.name}' with actions of {_told(first.action)} "
                f"and of a '{part.robot.name}' with actions of {_told(part.action)}: train a policy on one of them"
            )
        if set(part.views) != set(first.views):
            raise DataError(
                f"some episodes have the cameras {', '.join(first.views)}, others {', '.join(part.views)}: "
                "a policy looks at the same ones"
            )
    return replace(first, episodes=tuple(episode for part in parts for episode in part.episodes))


def _parts(
    folder: Path, from_takeovers: bool, events: EventKeyframes | None, cameras: tuple[Camera, ...]
) -> Iterator[Material]:
    planned = sorted(path for path in (folder, *folder.glob("[!.]*")) if _is_planned(path))
    yield from (_planned(path, events, cameras) for path in planned)
    if any(path.is_dir() for path in (*folder.glob("meta"), *folder.glob("[!.]*/meta"))):
        sets = open_data_sets(folder, unmarked=events is not None)
        yield from (_demonstrated(each, from_takeovers, events, cameras) for each in sets)
    elif not planned:
        raise DataError(
            f"there are no episodes to learn from in {folder}: record some with kc-vla collect --plans, "
            "or export your own with kc-vla bag export"
        )


def _is_planned(path: Path) -> bool:
    """Return whether a folder holds episodes with action targets.

    A data set notes in its `meta` how it was collected, in a file of the same name.
    """
    return path.name != "meta" and (path / SETTINGS).exists()


def _planned(path: Path, events: EventKeyframes | None, cameras: tuple[Camera, ...]) -> Material:
    folder = read_folder(path)
    files = folder.files()
    first = read_planned(files[0])
    robot = str(folder.settings.get("robot", ""))
    if not robot:
        raise DataError(f"{path} does not say of which robot it is: collect it again")
    if events is not None and "events" not in folder.settings:
        raise DataError(
            f"events were not looked for when {path} was recorded: collect it again with --events, into another folder"
        )
    views = tuple(camera.view for camera in cameras) or tuple(first.pictures)
    if missing := [view for view in views if view not in first.pictures]:
        raise DataError(f"{path} has no camera {', '.join(missing)}: it has {', '.join(first.pictures)}")
    instruction = str(first.about["instruction"])
    about = " ".join(str(folder.settings.get(part, "")) for part in ("task", "variant", "split", "skip"))
    episodes = tuple(
        EpisodeSource(
            _changed(file),
            f"{about} {file.name}",
            str(file.stat().st_size),
            instruction,
            partial(_read_planned, file, events is not None),
        )
        for file in files
    )
    return Material(load_robot(robot), ActionType.TOOL_DELTA, views, episodes)


def _read_planned(file: Path, by_events: bool, size: int) -> PlannedEpisode:
    episode = read_planned(file)
    return replace(episode, keyframes=np.array(of_planned(episode), np.int64)) if by_events else episode


def _demonstrated(
    data_set: DataSet, from_takeovers: bool, events: EventKeyframes | None, asked: tuple[Camera, ...]
) -> Material:
    folder = data_set.folder
    robot_type = str(read_json(folder / INFO).get("robot_type"))
    robot = next((robot for robot in shipped_robots() if robot.robot_type == robot_type), None)
    if robot is None:
        known = ", ".join(sorted({robot.robot_type for robot in shipped_robots()}))
        raise DataError(f"{folder} is of a robot '{robot_type}': those of the stack are of {known}")
    if data_set.fps != robot.control_rate:
        raise DataError(
            f"{folder} has {data_set.fps} frames a second, but a '{robot.name}' takes {robot.control_rate:g} actions: "
            "record or export it at that rate"
        )
    codec = codec_of(robot, data_set)
    cameras = looked_at(data_set, robot, asked)
    for line in data_set.contradictions():
        tqdm.write(line)
    unmarked = [info.index for info in data_set.episodes if events is None and not data_set.keyframes(info.index)]
    if unmarked:
        told = ", ".join(map(str, unmarked[:_NAMED])) + (", ..." if len(unmarked) > _NAMED else "")
        tqdm.write(
            f"{folder}: {len(unmarked)} of {len(data_set.episodes)} episodes ({told}) have no marked keyframes: "
            "they are left out; annotate them to learn from them, or learn with --set keyframes=events"
        )
    episodes = []
    for info in data_set.episodes:
        if info.index in unmarked:
            continue
        chosen = data_set.keyframes(info.index) if events is None else f"events by {events.model}"
        key = _changed(data_set.columns_path(info.index)) + f" {info.index} {chosen}"
        person = _driven(data_set, info) if from_takeovers else None
        if person is not None and not person.any():
            continue  # there is nothing of it to learn from
        driven = 0 if person is None else int(person.sum())
        key += " takeovers" if driven else ""
        key += "".join(f" {camera}" for camera in cameras if camera.named)
        read = partial(read_demonstrated, data_set, info, codec, cameras, person, events)
        content = f"{data_set.columns_path(info.index).stat().st_size} {chosen} {driven}"
        name = f"{folder.resolve().name} {info.index}"
        episodes.append(EpisodeSource(key, name, content, info.instruction, read, driven))
    return Material(robot, codec.action, tuple(camera.view for camera in cameras), tuple(episodes))


def _driven(data_set: DataSet, info: EpisodeInfo) -> NDArray[np.bool_] | None:
    """Return in which frames (T,) a person had taken over; None where the data set does not say."""
    told = data_set.columns(info.index).get(INTERVENTION.key)
    return None if told is None else np.asarray(told).reshape(info.length) > 0


def _changed(file: Path) -> str:
    about = file.stat()
    return f"{file.resolve()} {about.st_mtime_ns} {about.st_size}"


def _told(action: ActionType) -> str:
    return "tool deltas" if action is ActionType.TOOL_DELTA else "joint positions"
