"""How good detected keyframes are: precision, recall, F1 as the paper defines them (section 5.2, "Metrics Definition").

Triggers of a phase within five frames of one another are one detection, and their median is its frame. It is right when
it lies within ten frames of that phase's true keyframe. A second detection of a keyframe is a false positive. Frame 0
is a keyframe by definition and does not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CLUSTER_FRAMES = 5
TOLERANCE_FRAMES = 10


@dataclass(frozen=True)
class DetectedKeyframe:
    """One keyframe that was detected.

    Attributes:
        phase: index of the keyframe that it is meant to be, from 1.
        frame: median of the cluster of frames whose score was above the threshold.
        committed: frame that the selector keeps; None while it is pending.
        known: frame at which the policy first sees a keyframe of this cluster.
    """

    phase: int
    frame: int
    committed: int | None
    known: int


@dataclass(frozen=True)
class Counts:
    """True positives, false positives, false negatives; they add up."""

    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.true_positives + other.true_positives,
            self.false_positives + other.false_positives,
            self.false_negatives + other.false_negatives,
        )

    @property
    def precision(self) -> float:
        """Return the share of the detections that are right; NaN when there are none."""
        return _share(self.true_positives, self.false_positives)

    @property
    def recall(self) -> float:
        """Return the share of the keyframes that were detected; NaN when there are none."""
        return _share(self.true_positives, self.false_negatives)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall, 0 when none was right.

        It is NaN without keyframes and detections.
        """
        return _share(2 * self.true_positives, self.false_positives + self.false_negatives)

    @property
    def false_positive_rate(self) -> float:
        """Return the share of the detections that are wrong: 1 - precision, as in the paper's table 2."""
        return 1.0 - self.precision

    @property
    def false_negative_rate(self) -> float:
        """Return the share of the keyframes that were missed: 1 - recall."""
        return 1.0 - self.recall


def clusters(triggers: Sequence[int], window: int = CLUSTER_FRAMES) -> list[list[int]]:
    """Split ascending frames wherever more than `window` frames lie between two of them."""
    groups: list[list[int]] = []
    for frame in triggers:
        if groups and frame - groups[-1][-1] <= window:
            groups[-1].append(frame)
        else:
            groups.append([frame])
    return groups


def median_frame(cluster: Sequence[int]) -> int:
    """Return the middle one of ascending frames; of two middle ones the earlier."""
    return cluster[(len(cluster) - 1) // 2]


def paired(frames: Sequence[int], truth: Sequence[int], tolerance: int = TOLERANCE_FRAMES) -> dict[int, int]:
    """Return which true keyframe each of some frames stands for, whatever phases they are: each at most once.

    Those within the tolerance are paired, as many as can be, and so that they lie nearest to one another in sum.

    Args:
        frames: that are compared, ascending.
        truth: frames of the true keyframes, ascending.
        tolerance: frames by which one may be off.

    Returns:
        Places in `truth` by places in `frames`.
    """
    # Of the frames so far and the first true keyframes: pairs, frames between them (negative), and which they are.
    best: list[tuple[int, int, tuple[tuple[int, int], ...]]] = [(0, 0, ())] * (len(truth) + 1)
    for place, frame in enumerate(frames):
        before, best = best, [(0, 0, ())]
        for number, true in enumerate(truth):
            ways = [before[number + 1], best[number]]
            if (apart := abs(frame - true)) <= tolerance:
                pairs, near, chosen = before[number]
                ways.append((pairs + 1, near - apart, (*chosen, (place, number))))
            best.append(max(ways))
    return dict(best[-1][2])


def count(detections: Iterable[DetectedKeyframe], truth: Sequence[int], tolerance: int = TOLERANCE_FRAMES) -> Counts:
    """Compare the detections of an episode with its true keyframes.

    Args:
        detections: in any order.
        truth: frame of each phase's keyframe; the first, of frame 0, does not count.
        tolerance: frames by which a detection may be off.
    """
    found: set[int] = set()
    wrong = 0
    for detection in detections:
        phase = detection.phase
        near = phase < len(truth) and abs(detection.frame - truth[phase]) <= tolerance
        if phase > 0 and near and phase not in found:
            found.add(phase)
        elif phase > 0:
            wrong += 1
    return Counts(len(found), wrong, max(len(truth) - 1, 0) - len(found))


def delays(
    detections: Iterable[DetectedKeyframe], truth: Sequence[int], tolerance: int = TOLERANCE_FRAMES
) -> list[int]:
    """Return frames from each true keyframe that was found until the policy saw it, negative when it saw one before."""
    return [
        detection.known - truth[detection.phase]
        for detection in detections
        if 0 < detection.phase < len(truth) and abs(detection.frame - truth[detection.phase]) <= tolerance
    ]


def _share(right: int, wrong: int) -> float:
    return right / (right + wrong) if right + wrong else math.nan
