"""Recorded episodes as learning sees them: checked, with the task and the true keyframes of each."""

from __future__ import annotations

import sys
import types
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.tasks import Task
from kc_vla.datasets.lerobot.reader import DataSet, open_data_sets
from kc_vla.keyframes.cameras import THIRD_PERSON, Camera
from kc_vla.keyframes.image_crop import Picture, side_by_side
from kc_vla.learning.common.data_tasks import Tell, known_task, tasks_of
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.common.parallel import on_all_cores

_NAMED = 10
"""Number of episodes that a message lists by their numbers."""


@dataclass(frozen=True)
class LabeledEpisode:
    """One episode.

    Attributes:
        name: for people: data set and episode.
        task: what it is about.
        length: frames.
        keyframes: frame of each phase's keyframe, ascending, the first 0; none where nobody has marked them.
        data_set: where the images are.
        episode: its index there.
        cameras: that are looked at.
    """

    name: str
    task: Task
    length: int
    keyframes: tuple[int, ...]
    data_set: DataSet
    episode: int
    cameras: tuple[Camera, ...] = (THIRD_PERSON,)

    @property
    def size(self) -> int:
        """Return the size of the file of its numbers, bytes: it changes with them, and not with its place."""
        return self.data_set.columns_path(self.episode).stat().st_size

    @property
    def changed(self) -> str:
        """Return a text that changes with the recording, by which what was computed of it is kept."""
        about = self.data_set.columns_path(self.episode).stat()
        return f"{self.name} {self.length} {about.st_mtime_ns} {about.st_size}"

    def pictures(self, size: int) -> Iterator[Picture]:
        """Yield all images, one after the other, (size, V size, 3) each, of V cameras side by side.

        Raises:
            BagError: a frame cannot be read; the message names it.
        """
        films = [self.data_set.frames(self.episode, camera.view, camera.named) for camera in self.cameras]
        for views in zip(*films, strict=True):
            yield side_by_side(views, size)


def tell_person(note: str) -> None:
    """Say a line beside the progress bars."""
    print(note, file=sys.stderr)


def load_recordings(
    data: Path | Sequence[Path],
    own: Mapping[str, Task] = types.MappingProxyType({}),
    cameras: tuple[Camera, ...] = (THIRD_PERSON,),
    tell: Tell = tell_person,
) -> list[LabeledEpisode]:
    """Return the episodes that a selector can learn from, of a data set, of all in a folder, or of several such.

    Episodes with no keyframe but frame 0 are left out; these, and keyframes missing at the end, are logged.

    Args:
        data: folder of the data set, or of several; or such folders.
        own: tasks that the task table does not have, or has otherwise, by name.
        cameras: that are looked at.
        tell: takes what a person should know, a line each.

    Raises:
        BagError: a data set cannot be read, or has no such camera.
        DataError: an episode has keyframes that its task does not have, or a data set is given twice; the message
            names it.
    """
    recordings = []
    folders = (data,) if isinstance(data, Path) else data
    data_sets = [each for folder in folders for each in open_data_sets(folder)]
    names = _names([data_set.folder for data_set in data_sets])
    for data_set in data_sets:
        for camera in cameras:
            data_set.camera(camera.view, camera.named)
        for line in data_set.contradictions():
            tell(line)
    for data_set, info, task in tasks_of(data_sets, own, tell):
        name = f"{names[data_set.folder]} episode {info.index}"
        keyframes = data_set.keyframes(info.index)
        if len(keyframes) > len(task.keyframes):
            raise DataError(
                f"{name}: {len(keyframes)} keyframes, but '{task.name}' has {len(task.keyframes)}: correct them"
            )
        recordings.append(LabeledEpisode(name, task, info.length, keyframes, data_set, info.index, cameras))
    return _usable(recordings, names, tell)


def load_unmarked(folder: Path, tell: Tell = tell_person) -> list[LabeledEpisode]:
    """Return the episodes of a data set, or of all in a folder, without their keyframes.

    The keyframes may not have been marked yet.

    Episodes of tasks that are not in the task table are left out and logged.

    Raises:
        BagError: a data set cannot be read.
    """
    recordings, others = [], set()
    for data_set in open_data_sets(folder, unmarked=True):
        for info in data_set.episodes:
            task = known_task(info, {})
            if task is None:
                others.add(info.instruction)
                continue
            name = f"{data_set.folder.name} episode {info.index}"
            recordings.append(LabeledEpisode(name, task, info.length, (), data_set, info.index, ()))
    for instruction in sorted(others):
        tell(f"'{instruction}' is in no task table, so it has no rules: its episodes are left out")
    return recordings


def _names(folders: Sequence[Path]) -> dict[Path, str]:
    """Return what each data set is called: the end of its path, as long as it takes to distinguish all."""
    places = [folder.resolve() for folder in folders]
    for folder, place in zip(folders, places, strict=True):
        if places.count(place) > 1:
            raise DataError(f"{folder} is given twice: name each data set once")
    parts = 1
    while len({place.parts[-parts:] for place in places}) < len(places):
        parts += 1
    return {folder: "/".join(place.parts[-parts:]) for folder, place in zip(folders, places, strict=True)}


def _usable(recordings: Sequence[LabeledEpisode], names: Mapping[Path, str], tell: Tell) -> list[LabeledEpisode]:
    """Return the recordings with keyframes to wait for; log which have none, and what is missing in the others."""
    by_task: defaultdict[str, list[LabeledEpisode]] = defaultdict(list)
    for recording in recordings:
        by_task[recording.task.name].append(recording)
    outside = {task for task, rows in by_task.items() if all(len(row.keyframes) < 2 for row in rows)}
    for task in sorted(outside):
        tell(
            f"'{task}' has no keyframe but frame 0: there is nothing to select, it is outside the selector; "
            f"its {len(by_task[task])} episodes are left out"
        )
    incomplete: defaultdict[tuple[str, str, int], list[LabeledEpisode]] = defaultdict(list)
    for recording in recordings:
        fewer = len(recording.keyframes) < len(recording.task.keyframes)
        if fewer and recording.task.name not in outside:
            place = names[recording.data_set.folder]
            incomplete[place, recording.task.name, max(1, len(recording.keyframes))].append(recording)
    for (place, task, count), rows in sorted(incomplete.items()):
        labels = rows[0].task.keyframes
        numbers = ", ".join(str(row.episode) for row in rows[:_NAMED]) + (", ..." if len(rows) > _NAMED else "")
        lost = f"{place}: {len(rows)} episodes of '{task}' ({numbers})"
        if count < 2:
            tell(f"{lost} have no keyframe but frame 0: they are left out; annotate them to learn from them")
        else:
            missing = ", ".join(f"'{label}'" for label in labels[count:])
            tell(f"{lost} have {count} of {len(labels)} keyframes: {missing} taken as not reached")
    return [row for row in recordings if len(row.keyframes) > 1]


def check_enough(recordings: Sequence[LabeledEpisode]) -> None:
    """Check that there is something to learn in each task that occurs.

    Raises:
        DataError: a task with a single episode, so that no keyframe has a like one in another episode.
    """
    if not recordings:
        raise DataError("no episodes to learn from: record some with kc-vla collect")
    names = [recording.task.name for recording in recordings]
    for name in sorted(set(names)):
        if names.count(name) < 2:
            raise DataError(f"'{name}' has a single episode: a triplet needs two, record more")


def common_rate(recordings: Sequence[LabeledEpisode]) -> int:
    """Return the frames a second of all of them: a window of frames spans another time at another rate.

    Raises:
        DataError: they have several.
    """
    rates = {recording.data_set.fps: recording.data_set.folder for recording in recordings}
    if len(rates) > 1:
        told = ", ".join(f"{folder} {fps}" for fps, folder in sorted(rates.items()))
        raise DataError(f"the data sets have several rates, in frames a second ({told}): export them at one")
    return next(iter(rates))


def learnt_tasks(recordings: Sequence[LabeledEpisode]) -> dict[str, Task]:
    """Return the tasks that occur, in the order of their embeddings."""
    tasks = {recording.task.name: recording.task for recording in recordings}
    return {name: tasks[name] for name in sorted(tasks)}


def task_indices(recordings: Sequence[LabeledEpisode], tasks: Mapping[str, Task]) -> NDArray[np.int64]:
    """Return the place (R,) in `tasks` of each recording's task."""
    order = list(tasks)
    return np.array([order.index(recording.task.name) for recording in recordings], np.int64)


def wanted_pictures(
    recordings: Sequence[LabeledEpisode], wanted: Sequence[NDArray[np.int64]], size: int, done: Callable[[], object]
) -> list[dict[int, Picture]]:
    """Return the images of some frames of each recording.

    Args:
        recordings: R of them.
        wanted: R arrays of frames.
        size: px.
        done: called after each recording.
    """

    def some(recording: LabeledEpisode, frames: NDArray[np.int64]) -> dict[int, Picture]:
        keep = set(frames.tolist())
        return {k: picture for k, picture in enumerate(recording.pictures(size)) if k in keep}

    kept = []
    for pictures in on_all_cores(some, recordings, wanted):
        kept.append(pictures)
        done()
    return kept
