"""Recorded episodes as learning sees them: checked, with the task and the true keyframes of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.lerobot.reader import DataSet, open_data_sets
from kc_vla.keyframes.pictures import Picture, trunk_picture
from kc_vla.learning.errors import DataError
from kc_vla.tasks import TASKS

TASK_NAMES = tuple(sorted(TASKS))
"""The tasks in the order of their embeddings."""
PHASES = 8
"""Phase embeddings; no task has more keyframes."""
VIEW = "third_person"
"""The paper's selector looks at this camera alone."""


@dataclass(frozen=True)
class Recording:
    """One episode.

    Attributes:
        name: for people: data set and episode.
        task: index in `TASK_NAMES`.
        length: frames.
        keyframes: frame of each phase's keyframe, ascending, the first 0.
        data_set: where the pictures are.
        episode: its index there.
    """

    name: str
    task: int
    length: int
    keyframes: tuple[int, ...]
    data_set: DataSet
    episode: int

    def pictures(self, size: int) -> Iterator[Picture]:
        """All pictures of the third-person camera, one after the other, (size, size, 3) each.

        Raises:
            BagError: a frame cannot be read; the message names it.
        """
        for pixels in self.data_set.frames(self.episode, VIEW):
            yield trunk_picture(pixels, size)


def load_recordings(folder: Path) -> list[Recording]:
    """The episodes of a data set, or of all data sets in a folder.

    Raises:
        BagError: a data set cannot be read.
        DataError: an episode has keyframes that its task does not have; the message names it.
    """
    recordings = []
    for data_set in open_data_sets(folder):
        for info in data_set.episodes:
            name = f"{data_set.folder.name} episode {info.index}"
            labels = TASKS[info.task].keyframes
            keyframes = tuple(data_set.keyframes(info.index))
            if len(keyframes) > len(labels):
                raise DataError(
                    f"{name}: {len(keyframes)} keyframes, but '{info.task}' has {len(labels)}: correct them"
                )
            if len(keyframes) < 2:
                raise DataError(f"{name}: no keyframe is annotated but frame 0: annotate it or leave it out")
            recordings.append(
                Recording(name, TASK_NAMES.index(info.task), info.length, keyframes, data_set, info.index)
            )
    return recordings


def check_enough(recordings: Sequence[Recording]) -> None:
    """See that there is something to learn in each task that occurs.

    Raises:
        DataError: a task with a single episode, so that no keyframe has a like one in another episode.
    """
    if not recordings:
        raise DataError("no episodes to learn from: record some with kc-vla collect")
    tasks = np.array([recording.task for recording in recordings])
    for task in np.unique(tasks):
        if int((tasks == task).sum()) < 2:
            raise DataError(f"'{TASK_NAMES[task]}' has a single episode: a triplet needs two, record more")


def wanted_pictures(
    recordings: Sequence[Recording], wanted: Sequence[NDArray[np.int64]], size: int, done: Callable[[], object]
) -> list[dict[int, Picture]]:
    """The pictures of some frames of each recording.

    Args:
        recordings: R of them.
        wanted: R arrays of frames.
        size: px.
        done: called after each recording.
    """
    kept = []
    for recording, frames in zip(recordings, wanted, strict=True):
        keep = set(frames.tolist())
        kept.append({k: picture for k, picture in enumerate(recording.pictures(size)) if k in keep})
        done()
    return kept
