"""What a selector detects in a whole episode, from the scores of all its frames for all phases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kc_vla.keyframes.metrics import CLUSTER_FRAMES, DetectedKeyframe, clusters, median_frame
from kc_vla.keyframes.selector import KeyframeSelector
from kc_vla.keyframes.smoothing import WINDOW_FRAMES, Decision, GreedySmoother

Scores = NDArray[np.float32]
"""(T, P): the score of each frame, were each phase the one that is waited for."""


def free_running(
    scores: Scores,
    phases: int,
    threshold: float,
    window: int = WINDOW_FRAMES,
    frames: Sequence[int] | None = None,
) -> list[DetectedKeyframe]:
    """Run the selector as on the robot: its own phase pointer, no truth. What is pending at the end counts.

    Args:
        scores: (T, P), P at least `phases`.
        phases: keyframes of the task, frame 0 included.
        threshold: a score above it is a trigger.
        window: debounce window, frames, after which a candidate is confirmed.
        frames: numbers of the T frames, ascending, where some never came; 0 to T - 1 otherwise.
    """
    smoother = GreedySmoother(threshold, window, first=True)
    selector = KeyframeSelector([str(phase) for phase in range(phases)], smoother)
    above = [np.flatnonzero(column > threshold) for column in scores.T.astype(np.float64)]
    numbers = range(len(scores)) if frames is None else frames
    if len(numbers) != len(scores):
        raise ValueError(f"{len(scores)} scores for {len(numbers)} frames: there must be one for each")
    detections: list[DetectedKeyframe] = []
    triggers: list[int] = []
    row = 0
    while row < len(scores) and not selector.done:
        for event in selector.update(numbers[row], float(scores[row, selector.phase])):
            if event.decision is not Decision.COMMITTED:
                triggers.append(event.decided_at)
            elif event.phase > 0:
                detections.append(DetectedKeyframe(event.phase, median_frame(triggers), event.frame, triggers[0]))
                triggers = []
        row += 1
        if smoother.candidate is None and not selector.done:  # nothing happens until the next score above
            later = above[selector.phase]
            k = int(np.searchsorted(later, row))
            row = int(later[k]) if k < len(later) else len(scores)
    if triggers:
        detections.append(DetectedKeyframe(selector.phase, median_frame(triggers), None, triggers[0]))
    return detections


def teacher_forced(scores: Scores, truth: Sequence[int], threshold: float) -> list[DetectedKeyframe]:
    """Give the selector the true phase, as the paper's evaluation does.

    A phase is over five frames after its keyframe, as early as a free-running selector could be done with it.

    Args:
        scores: (T, P).
        truth: frame of each phase's keyframe, the first 0.
        threshold: a score above it is a trigger.
    """
    detections = []
    for phase in range(1, len(truth)):
        begin = truth[phase - 1] + CLUSTER_FRAMES + 1 if phase > 1 else 1
        end = truth[phase] + CLUSTER_FRAMES + 1 if phase + 1 < len(truth) else len(scores)
        triggers = (begin + np.flatnonzero(scores[begin:end, phase] > threshold)).tolist()
        detections += [DetectedKeyframe(phase, median_frame(c), c[-1], c[0]) for c in clusters(triggers)]
    return detections
