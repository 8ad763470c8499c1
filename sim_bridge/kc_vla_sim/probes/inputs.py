"""What each probe sees of every decision, as vectors; all that is fitted, is fitted on the training decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kc_vla_sim.probes.features import BLOB_NUMBERS, Matrix, Reduction, TimeFeatures, blobs, colours
from kc_vla_sim.probes.gather import ProbeDecision, Views

FRAME, FRAME_AND_TIME, KEYFRAMES = "frame", "frame and time", "frame and keyframes"
INPUTS = (FRAME, FRAME_AND_TIME, KEYFRAMES)
MOST_DIRECTIONS = 40
_VIEWS = 2


class Inputs:
    """The vectors of some sets of decisions; the first set is the one to learn from."""

    def __init__(self, sets: Sequence[Sequence[ProbeDecision]], labels: Sequence[str]) -> None:
        """Learn the inputs of all probes.

        Args:
            sets: of decisions, none empty.
            labels: of the task's keyframes, in order.
        """
        now: list[list[Views | None]] = [[d.views for d in some] for some in sets]
        known: dict[str | None, list[list[Views | None]]] = {
            label: [[d.keyframes.get(label) for d in some] for some in sets] for label in labels
        }
        pictures = {None: now, **known}
        self._grids = {label: _reduced(some, colours, MOST_DIRECTIONS) for label, some in pictures.items()}
        self._blobs = {label: _reduced(some, blobs, BLOB_NUMBERS) for label, some in pictures.items()}
        self._there = {
            label: [np.array([[views is not None] for views in some], float) for some in seen]
            for label, seen in known.items()
        }
        feelings = [np.stack([decision.feeling for decision in some]) for some in sets]
        feel = Reduction(feelings[0], feelings[0].shape[1])
        self._felt = [feel(some) for some in feelings]
        frames = [np.array([decision.frame for decision in some]) for some in sets]
        clock = TimeFeatures(frames[0])
        self._time = [clock(some) for some in frames]

    def vectors(self, number: int, given: str, directions: int) -> Matrix:
        """Return what the probe with the input `given` sees in set `number`, (n, features).

        Args:
            number: of the set.
            given: one of `INPUTS`.
            directions: how much is kept of each image, at most `MOST_DIRECTIONS`.
        """
        parts = [*self._picture(None, number, directions), self._felt[number]]
        if given == FRAME_AND_TIME:
            parts.append(self._time[number])
        if given == KEYFRAMES:
            for label, there in self._there.items():
                parts += [there[number], *self._picture(label, number, directions)]
        return np.concatenate([part / np.sqrt(part.shape[1]) for part in parts if part.shape[1]], axis=1)

    def _picture(self, label: str | None, number: int, directions: int) -> list[Matrix]:
        """Return the present frame (`label` None) or a keyframe."""
        grids = (grid[:, :directions] for grid in self._grids[label][number])
        return [*grids, *self._blobs[label][number]]


def _reduced(sets: Sequence[Sequence[Views | None]], look: Callable[[Views], Matrix], most: int) -> list[list[Matrix]]:
    """Return for each set and each view what `look` sees, reduced to (n, at most `most`).

    It is zeros where there is no image.
    """
    looks: dict[int, Matrix] = {}  # by the identity of the pictures: decisions of an episode share their keyframes
    for some in sets:
        looks.update({id(views): look(views) for views in some if views is not None and id(views) not in looks})
    known = [looks[id(views)] for views in sets[0] if views is not None]
    if len(known) < 2:
        return [[] for _ in sets]
    reductions = [Reduction(np.stack([one[view] for one in known]), most) for view in range(_VIEWS)]
    result = []
    for some in sets:
        there = np.array([[views is not None] for views in some])
        seen = np.stack([known[0] if views is None else looks[id(views)] for views in some])
        result.append([np.where(there, reduce(seen[:, view]), 0.0) for view, reduce in enumerate(reductions)])
    return result
