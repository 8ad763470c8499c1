"""Samples of Stage II (paper, section 4.2, "Balanced Training Protocol"): frame, phase asked for, answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kc_vla.learning.selector.config import StageTwo
from kc_vla.learning.selector.recordings import LabeledEpisode

_NEAR_FRAMES = 20


@dataclass(frozen=True)
class SelectorSamples:
    """N samples.

    Attributes:
        recording: index of the recording (N,), int64.
        frame: (N,), int64.
        phase: that is waited for (N,), int64.
        answer: 1 for the keyframe of that phase (N,), float32.
    """

    recording: NDArray[np.int64]
    frame: NDArray[np.int64]
    phase: NDArray[np.int64]
    answer: NDArray[np.float32]


def draw_samples(
    recordings: Sequence[LabeledEpisode], config: StageTwo, chance: np.random.Generator
) -> SelectorSamples:
    """Return the samples of an epoch, in random order.

    For each keyframe but the first:

    - positives: the frames around it;
    - negatives from the way to it, one out of each of M equal parts, and, where `config` asks for them, from after it
      and from close by;
    - its frame with the phase after it, which must not answer before its own keyframe has come.
    """
    rows: list[tuple[int, int, int, float]] = []
    for index, recording in enumerate(recordings):
        last = recording.length - 1
        for phase in range(1, len(recording.keyframes)):
            keyframe, before = recording.keyframes[phase], recording.keyframes[phase - 1]
            around = range(max(keyframe + config.first, 0), min(keyframe + config.last, last) + 1)
            rows += [(index, frame, phase, 1.0) for frame in around]
            early, late = keyframe - config.guard, keyframe + config.guard
            negatives = [
                *_one_of_each_part(before + config.guard, early, config.intervals, chance),
                *_some(late, last, config.after, chance),
                *_some(max(early - _NEAR_FRAMES, before), early, (config.near + 1) // 2, chance),
                *_some(late, min(late + _NEAR_FRAMES, last), config.near // 2, chance),
            ]
            rows += [(index, frame, phase, 0.0) for frame in negatives]
            if phase + 1 < len(recording.keyframes):
                rows.append((index, keyframe, phase + 1, 0.0))
    mixed = [rows[k] for k in chance.permutation(len(rows))]
    recording_index, frame, phase_index, answer = zip(*mixed, strict=True)
    return SelectorSamples(
        np.array(recording_index), np.array(frame), np.array(phase_index), np.array(answer, np.float32)
    )


def draw_speeds(number: int, limit: float, chance: np.random.Generator) -> NDArray[np.float64]:
    """Return how fast each of `number` episodes is shown, (number,), up to `limit` times faster, or as much slower."""
    if limit == 1.0:  # no chance is drawn, so that a training at one speed is what it was before there were others
        return np.ones(number)
    return np.asarray(limit ** chance.uniform(-1.0, 1.0, number))


def at_speeds(recordings: Sequence[LabeledEpisode], speeds: NDArray[np.float64]) -> list[LabeledEpisode]:
    """Return the episodes as if all in them went so many times, (R,), as fast.

    They have other lengths, and other keyframes.
    """
    shown = []
    for recording, speed in zip(recordings, speeds.tolist(), strict=True):
        length, keyframes = at_speed(recording.length, recording.keyframes, speed)
        shown.append(replace(recording, length=length, keyframes=keyframes))
    return shown


def at_speed(length: int, keyframes: tuple[int, ...], speed: float) -> tuple[int, tuple[int, ...]]:
    """Return the length and keyframes of an episode that goes `speed` times as fast."""
    return int((length - 1) / speed) + 1, tuple(int(keyframe / speed) for keyframe in keyframes)


def recorded_frames(frames: NDArray[np.int64], speeds: NDArray[np.float64] | float) -> NDArray[np.int64]:
    """Return the frames of the recordings that are shown as `frames` at `speeds`.

    All are arrays that go together, or one number for all.
    """
    return np.asarray(frames * speeds).astype(np.int64)


def window_frames(frames: NDArray[np.int64], window: int, stride: int) -> NDArray[np.int64]:
    """Return the frames (N, window), oldest first, that belong to `frames` (N,).

    Before frame 0 there is frame 0 again.
    """
    back = np.arange(window - 1, -1, -1) * stride
    return np.asarray(np.maximum(frames[:, None] - back, 0))


def _one_of_each_part(first: int, last: int, parts: int, chance: np.random.Generator) -> list[int]:
    """Return one frame from each of `parts` equal parts of `first`..`last`; none where that is empty."""
    if last < first:
        return []
    edges = np.linspace(first, last + 1, parts + 1)
    return [min(int(chance.uniform(low, high)), last) for low, high in pairwise(edges)]


def _some(first: int, last: int, number: int, chance: np.random.Generator) -> list[int]:
    """Return `number` frames from `first`..`last`; none where that is empty."""
    return [int(frame) for frame in chance.integers(first, last + 1, number)] if last >= first else []
