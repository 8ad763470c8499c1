"""Triplets of Stage I (paper, section 4.2): keyframe, like one of another episode, one of three kinds of negatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from kc_vla.learning.common.errors import DataError
from kc_vla.learning.selector.config import StageOne
from kc_vla.learning.selector.recordings import LabeledEpisode, learnt_tasks, task_indices

_NEVER = -(10**9)


class NegativeKind(IntEnum):
    """Where a negative comes from."""

    NEIGHBOUR = 0
    """A frame of the same episode, a little earlier or later."""
    PHASE = 1
    """A keyframe of another phase of the same task."""
    TASK = 2
    """A keyframe of another task."""


@dataclass(frozen=True)
class Triplets:
    """N triplets; a frame is named by its recording and its number in it.

    Attributes:
        frames: (N, 3, 2), int64: anchor, positive, negative; index of the recording, frame.
        kinds: (N,), int64, of the negatives.
    """

    frames: NDArray[np.int64]
    kinds: NDArray[np.int64]


class TripletSampler:
    """Draws the triplets of an epoch: each keyframe is an anchor once."""

    def __init__(self, recordings: Sequence[LabeledEpisode], config: StageOne) -> None:
        """Take the keyframes of `recordings`.

        Raises:
            DataError: a phase of a task was seen in one episode only.
        """
        self._lengths = np.array([recording.length for recording in recordings])
        self._config = config
        self._tasks = task_indices(recordings, learnt_tasks(recordings))
        most = max(len(recording.keyframes) for recording in recordings)
        self._keyframes = np.full((len(recordings), most), _NEVER)
        for row, recording in zip(self._keyframes, recordings, strict=True):
            row[: len(recording.keyframes)] = recording.keyframes
        rows = [
            (index, frame, self._tasks[index], phase)
            for index, recording in enumerate(recordings)
            for phase, frame in enumerate(recording.keyframes)
        ]
        self._rows = np.array(rows, np.int64)
        tasks, phases = self._rows[:, 2], self._rows[:, 3]
        self._like: dict[tuple[int, int], NDArray[np.int64]] = {}
        for row in self._rows:
            key = (int(row[2]), int(row[3]))
            if key not in self._like:
                self._like[key] = np.flatnonzero((tasks == key[0]) & (phases == key[1]))
                if len(self._like[key]) < 2:
                    name = recordings[int(row[0])].name
                    raise DataError(f"{name}: keyframe {key[1]} occurs in no other episode: record more episodes")
        self._other_phases = {key: np.flatnonzero((tasks == key[0]) & (phases != key[1])) for key in self._like}
        self._other_tasks = {task: np.flatnonzero(tasks != task) for task in np.unique(tasks).tolist()}

    def __len__(self) -> int:
        """Return the number of triplets of an epoch."""
        return len(self._rows)

    def unlike(self, triplets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which images of a batch are negatives of each anchor.

        They are no keyframe of its phase, nor closer to one than a negative may be.

        Args:
            triplets: (N, 3, 2), of `Triplets.frames`.

        Returns:
            (N, 3 N): for each anchor; all anchors, all positives, all negatives.
        """
        episode, frame = triplets.transpose(1, 0, 2).reshape(-1, 2).T
        anchors = triplets[:, 0]
        phase = (self._keyframes[anchors[:, 0]] == anchors[:, 1, None]).argmax(axis=1)
        distance = np.abs(frame - self._keyframes[episode][:, phase].T)
        other_task = self._tasks[episode] != self._tasks[anchors[:, 0], None]
        return np.asarray(other_task | (distance >= self._config.neighbour_from))

    def frames_needed(self) -> list[NDArray[np.int64]]:
        """Return for each recording the frames that can ever occur in a triplet, ascending."""
        reach = np.arange(-self._config.neighbour_to, self._config.neighbour_to + 1)
        needed = []
        for index, length in enumerate(self._lengths):
            keyframes = self._rows[self._rows[:, 0] == index, 1]
            near = (keyframes[:, None] + reach).ravel()
            needed.append(np.unique(near[(near >= 0) & (near < length)]))
        return needed

    def epoch(self, chance: np.random.Generator) -> Triplets:
        """Return the triplets of one epoch, in random order, with as many negatives of each kind as can be."""
        order = chance.permutation(len(self._rows))
        anchors = self._rows[order]
        kinds = chance.permutation(np.arange(len(anchors)) % len(NegativeKind))
        frames = np.zeros((len(anchors), 3, 2), np.int64)
        for k, (row, anchor) in enumerate(zip(order, anchors, strict=True)):
            key = (int(anchor[2]), int(anchor[3]))
            frames[k, 0] = anchor[:2]
            like = self._like[key]
            frames[k, 1] = self._rows[chance.choice(like[like != row]), :2]
            if kinds[k] == NegativeKind.TASK and not len(self._other_tasks[key[0]]):
                kinds[k] = NegativeKind.PHASE  # a single task is learnt
            if kinds[k] == NegativeKind.NEIGHBOUR:
                frames[k, 2] = anchor[0], self._neighbour(int(anchor[1]), int(self._lengths[anchor[0]]), chance)
            elif kinds[k] == NegativeKind.PHASE:
                frames[k, 2] = self._rows[chance.choice(self._other_phases[key]), :2]
            else:
                frames[k, 2] = self._rows[chance.choice(self._other_tasks[key[0]]), :2]
        return Triplets(frames, kinds)

    def _neighbour(self, frame: int, length: int, chance: np.random.Generator) -> int:
        """Return a frame `neighbour_from` to `neighbour_to` frames before or after, as far as the episode has any."""
        offsets = np.arange(self._config.neighbour_from, self._config.neighbour_to + 1)
        near = np.concatenate([frame - offsets, frame + offsets])
        return int(chance.choice(near[(near >= 0) & (near < length)]))
