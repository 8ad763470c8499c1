"""Fits the three probes of a task on training episodes and measures them on test episodes.

All three are the same classifier; they differ in what they are given. Its settings are chosen for each by the loss on
validation episodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla.core.shares import Share
from kc_vla.core.tasks import Task
from kc_vla_sim.probes.classifier import fit
from kc_vla_sim.probes.gather import ProbeDecision, ProbeEpisode, ProbeError
from kc_vla_sim.probes.inputs import FRAME, FRAME_AND_TIME, INPUTS, KEYFRAMES, MOST_DIRECTIONS, Inputs

MOST_ABOVE_CHANCE = 0.05
"""A probe without keyframes may know this much more than chance."""
LEAST_WITH_KEYFRAMES = 0.95
"""The probe with keyframes must know more than this."""
_DIRECTIONS = (0, 12, MOST_DIRECTIONS)
"""Directions kept of each image beside its blobs; which of these is chosen by the validation loss."""


@dataclass(frozen=True)
class Verdict:
    """What the probes of one task came to.

    Attributes:
        chance: share of the commonest choice in the test episodes: what is right without looking.
        accuracies: by input, of `INPUTS`.
    """

    chance: float
    accuracies: dict[str, Share]

    @property
    def holds(self) -> bool:
        """Return whether the present frame and the time reveal nothing, and the keyframes everything."""
        blind = (self.accuracies[name].share for name in (FRAME, FRAME_AND_TIME))
        aliased = all(share <= self.chance + MOST_ABOVE_CHANCE for share in blind)
        return aliased and self.accuracies[KEYFRAMES].share > LEAST_WITH_KEYFRAMES


def judge(
    task: Task, train: Sequence[ProbeEpisode], validation: Sequence[ProbeEpisode], test: Sequence[ProbeEpisode]
) -> Iterator[tuple[str, Share]]:
    """Fit and measure the probes of `task`, one by one: the input and its accuracy on the test episodes.

    Raises:
        ProbeError: some set of episodes holds no decision.
    """
    splits = (("train", train), ("validation", validation), ("test", test))
    sets = [_decisions(episodes, task, split) for split, episodes in splits]
    right = [np.array([decision.choice for decision in decisions]) for decisions in sets]
    inputs = Inputs(sets, task.keyframes)
    for given in INPUTS:
        fitted = []
        for directions in _DIRECTIONS:
            vectors = [inputs.vectors(number, given, directions) for number in range(3)]
            classifier = fit((vectors[0], right[0]), (vectors[1], right[1]), len(task.choices))
            fitted.append((classifier, vectors[2]))
        best, unseen = min(fitted, key=lambda pair: pair[0].loss)
        told = best.tell(unseen)
        yield given, Share(int((told == right[2]).sum()), len(told))


def chance(test: Sequence[ProbeEpisode]) -> float:
    """Return the share of the commonest right choice."""
    counts = np.bincount([decision.choice for episode in test for decision in episode.decisions])
    return float(counts.max() / counts.sum())


def _decisions(episodes: Sequence[ProbeEpisode], task: Task, split: str) -> list[ProbeDecision]:
    decisions = [decision for episode in episodes for decision in episode.decisions]
    if not decisions:
        raise ProbeError(f"no moment of decision in {len(episodes)} {split} episodes of {task.name}")
    return decisions
