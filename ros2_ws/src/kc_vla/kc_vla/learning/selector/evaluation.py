"""The measurement of a selector on recorded episodes, free-running and with the true phase, also under disturbance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.tasks import FIRST_TASKS
from kc_vla.keyframes.free_run import Scores, free_running, teacher_forced
from kc_vla.keyframes.image_crop import Picture
from kc_vla.keyframes.learned import Features, SelectorNetwork
from kc_vla.keyframes.metrics import Counts, DetectedKeyframe, count, delays
from kc_vla.learning.common.errors import LearningError
from kc_vla.learning.common.parallel import on_all_cores
from kc_vla.learning.selector.recordings import LabeledEpisode
from kc_vla.learning.selector.samples import at_speed, recorded_frames, window_frames

RATE = 20
"""Frames a second."""


@dataclass(frozen=True)
class SelectorInput:
    """What reaches the selector of an episode.

    Attributes:
        frames: number (N,) of each image that comes, ascending.
        source: frame (N,) of the recording that it shows.
        truth: frame of each phase's keyframe.
        length: of the episode, frames.
    """

    frames: NDArray[np.int64]
    source: NDArray[np.int64]
    truth: tuple[int, ...]
    length: int


@dataclass(frozen=True)
class ImageDisturbance:
    """A disturbance.

    Attributes:
        name: for the table.
        see: what comes of an episode of that length and with these keyframes, by the chance of the episode.
        brightness: factor on every image.
    """

    name: str
    see: Callable[[int, tuple[int, ...], np.random.Generator], SelectorInput]
    brightness: float = 1.0


@dataclass(frozen=True)
class EpisodeResult:
    """What a selector made of one episode.

    Attributes:
        recording: the episode.
        seen: what reached the selector.
        scores: (N, phases) of what it saw.
        threshold: of the task.
        free: detections, free-running.
        forced: detections with the true phase as an input.
    """

    recording: LabeledEpisode
    seen: SelectorInput
    scores: Scores
    threshold: float
    free: list[DetectedKeyframe]
    forced: list[DetectedKeyframe]


@dataclass
class TaskResult:
    """A selector's figures on one task."""

    free: Counts = field(default_factory=Counts)
    forced: Counts = field(default_factory=Counts)
    delays: list[int] = field(default_factory=list)
    whole: int = 0
    """Episodes of which every confirmed keyframe is within the tolerance, and none is missing."""
    episodes: int = 0

    def add(self, result: EpisodeResult) -> None:
        """Take in one episode."""
        truth = result.seen.truth
        self.free += count(result.free, truth)
        self.forced += count(result.forced, truth)
        self.delays += delays(result.free, truth)
        kept = [
            DetectedKeyframe(d.phase, d.committed, d.committed, d.known) for d in result.free if d.committed is not None
        ]
        all_right = count(kept, truth)
        self.whole += all_right.false_positives == all_right.false_negatives == 0
        self.episodes += 1

    def as_dict(self) -> dict[str, float]:
        """Return the figures by name; delay in frames. Precision, FPR and delay are NaN where nothing was found."""
        figures = {"episodes": float(self.episodes), "episodes_right": self.whole / max(self.episodes, 1)}
        for mode, counts in (("free", self.free), ("forced", self.forced)):
            figures |= {
                f"{mode}_precision": counts.precision,
                f"{mode}_recall": counts.recall,
                f"{mode}_f1": counts.f1,
                f"{mode}_fpr": counts.false_positive_rate,
                f"{mode}_fnr": counts.false_negative_rate,
            }
        figures["delay"] = float(np.mean(self.delays)) if self.delays else float("nan")
        return figures


def _as_recorded(length: int, truth: tuple[int, ...], chance: np.random.Generator) -> SelectorInput:
    return SelectorInput(np.arange(length), np.arange(length), truth, length)


def _dropped(length: int, truth: tuple[int, ...], chance: np.random.Generator) -> SelectorInput:
    """Return a recording of which one image in ten never comes; the first always does."""
    kept = np.flatnonzero((chance.random(length) >= 0.1) | (np.arange(length) == 0))
    return SelectorInput(kept, kept, truth, length)


def _frozen(length: int, truth: tuple[int, ...], chance: np.random.Generator) -> SelectorInput:
    """Return a recording whose camera shows the same image for a second, once."""
    start = int(chance.integers(0, max(length - RATE, 1)))
    source = np.arange(length)
    source[start : start + RATE] = start
    return SelectorInput(np.arange(length), source, truth, length)


def _at_speed(speed: float, length: int, truth: tuple[int, ...], chance: np.random.Generator) -> SelectorInput:
    shown, keyframes = at_speed(length, truth, speed)
    frames = np.arange(shown)
    return SelectorInput(frames, recorded_frames(frames, speed), keyframes, shown)


AS_RECORDED = ImageDisturbance("as recorded", _as_recorded)
CONDITIONS = (
    AS_RECORDED,
    ImageDisturbance("10 % of the frames dropped", _dropped),
    ImageDisturbance("camera frozen for 1 s", _frozen),
    ImageDisturbance("30 % darker", _as_recorded, 0.7),
    ImageDisturbance("30 % brighter", _as_recorded, 1.3),
    ImageDisturbance("half speed", partial(_at_speed, 0.5)),
    ImageDisturbance("double speed", partial(_at_speed, 2.0)),
)


def evaluate(
    network: SelectorNetwork,
    recordings: Sequence[LabeledEpisode],
    conditions: Sequence[ImageDisturbance],
    each: Callable[[ImageDisturbance, EpisodeResult], object] = lambda condition, result: None,
) -> dict[str, dict[str, TaskResult]]:
    """Return the figures by condition and task.

    Args:
        network: what is measured.
        recordings: episodes that no choice about it has seen.
        conditions: under which.
        each: called with every single result.

    Raises:
        BagError: an image cannot be read.
    """
    table: dict[str, dict[str, TaskResult]] = {condition.name: {} for condition in conditions}
    levels = sorted({condition.brightness for condition in conditions})
    title = f"evaluate {network.model.name}"
    for recording, features in zip(recordings, recorded_features(network, recordings, title, levels), strict=True):
        for condition in conditions:
            result = _judge(network, recording, features[condition.brightness], condition)
            table[condition.name].setdefault(recording.task.name, TaskResult()).add(result)
            each(condition, result)
    return table


def episode_scores(network: SelectorNetwork, features: Features, task: str) -> Scores:
    """Return the scores (N, phases) of N images one after the other, from their features (N, 512)."""
    model = network.model
    if task not in model.keyframes:
        raise LearningError(f"model '{model.name}' was not trained on '{task}': it knows {', '.join(model.keyframes)}")
    windows = features[window_frames(np.arange(len(features)), model.window, model.stride)]
    return np.stack([network.scores(windows, task, phase) for phase in range(model.phases(task))], axis=1)


def scores_by_task(
    network: SelectorNetwork, recordings: Sequence[LabeledEpisode], title: str, speeds: Sequence[float] = (1.0,)
) -> dict[str, list[tuple[Scores, tuple[int, ...]]]]:
    """Return the scores and true keyframes of each recording, at each speed, by its task.

    Raises:
        BagError: an image cannot be read.
    """
    found: dict[str, list[tuple[Scores, tuple[int, ...]]]] = {}
    for recording, features in zip(recordings, recorded_features(network, recordings, title), strict=True):
        task = recording.task.name
        for speed in speeds:
            length, keyframes = at_speed(recording.length, recording.keyframes, speed)
            seen = features[1.0][recorded_frames(np.arange(length), speed)]
            found.setdefault(task, []).append((episode_scores(network, seen, task), keyframes))
    return found


def chance_seed(episode: int, task: str, condition: ImageDisturbance) -> list[int]:
    """Return the seed of chance: the same for every selector that is compared, whatever other tasks there are."""
    place = sorted({*FIRST_TASKS, task}).index(task)
    return [episode, place, len(condition.name)]


def _judge(
    network: SelectorNetwork, recording: LabeledEpisode, features: Features, condition: ImageDisturbance
) -> EpisodeResult:
    task = recording.task.name
    chance = np.random.default_rng(chance_seed(recording.episode, task, condition))
    seen = condition.see(recording.length, recording.keyframes, chance)
    scores = episode_scores(network, features[seen.source], task)
    threshold = network.model.thresholds[task]
    free = free_running(scores, network.model.phases(task), threshold, frames=seen.frames.tolist())
    told = np.zeros((seen.length, scores.shape[1]), np.float32)
    told[seen.frames] = scores
    return EpisodeResult(recording, seen, scores, threshold, free, teacher_forced(told, seen.truth, threshold))


def recorded_features(
    network: SelectorNetwork, recordings: Sequence[LabeledEpisode], title: str, levels: Sequence[float] = (1.0,)
) -> Iterator[dict[float, Features]]:
    """Yield features (T, 512) of all images of each recording, made brighter by each factor of `levels`.

    As many recordings at a time as there are cores; `title` is that of the progress bar.

    Raises:
        BagError: an image cannot be read.
    """
    every = on_all_cores(partial(_features, network, levels), recordings)
    yield from tqdm(every, desc=title, unit="episode", total=len(recordings))


def _features(network: SelectorNetwork, levels: Sequence[float], recording: LabeledEpisode) -> dict[float, Features]:
    rows: dict[float, list[Features]] = {level: [] for level in levels}
    for picture in recording.pictures(network.model.image_size):
        for level in levels:
            # One by one, as on the robot: it costs the same, and 8-bit arithmetic is the same whatever the batch.
            rows[level].append(network.features(_lit(picture, level)[None]))
    return {level: np.concatenate(parts) for level, parts in rows.items()}


def _lit(picture: Picture, factor: float) -> Picture:
    return picture if factor == 1.0 else np.clip(picture * factor, 0, 255).astype(np.uint8)
