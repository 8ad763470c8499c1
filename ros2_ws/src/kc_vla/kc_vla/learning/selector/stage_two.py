"""Stage II: the query head learns on the features of the frozen backbone (paper, section 4.2, equations 2 to 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from tqdm import tqdm

from kc_vla.core.tasks import Task
from kc_vla.keyframes.free_run import Scores
from kc_vla.keyframes.thresholds import f1_curve
from kc_vla.learning.common.device import Device
from kc_vla.learning.selector.config import Config, StageTwo
from kc_vla.learning.selector.features import Features
from kc_vla.learning.selector.networks import QueryHead
from kc_vla.learning.selector.recordings import LabeledEpisode, task_indices
from kc_vla.learning.selector.run import SelectorRun
from kc_vla.learning.selector.samples import (
    SelectorSamples,
    at_speed,
    at_speeds,
    draw_samples,
    draw_speeds,
    recorded_frames,
    window_frames,
)

STAGE = "stage two"
CHECKPOINT = "stage_two"
_PHASES = 8
"""Phase embeddings, at least."""
_JUDGE_EVERY = 5
"""Epochs between two looks at the validation episodes."""


class Split:
    """Recordings and their features."""

    def __init__(
        self, recordings: Sequence[LabeledEpisode], features: Sequence[Features], tasks: Mapping[str, Task]
    ) -> None:
        """Put the recordings with their features one after the other.

        Args:
            recordings: episodes.
            features: (T, 512) of each.
            tasks: in the order of their embeddings.
        """
        self.recordings = recordings
        self.features = torch.from_numpy(np.concatenate(features))
        lengths = np.array([len(f) for f in features])
        self.starts = np.cumsum(lengths) - lengths
        self.tasks = task_indices(recordings, tasks)

    def windows(
        self, recording: NDArray[np.int64], frame: NDArray[np.int64], speed: NDArray[np.float64], config: Config
    ) -> Tensor:
        """Return features (N, window, 512) of `frame` (N,) and of those before it.

        The frames are of `recording` (N,), shown at `speed` (N,).
        """
        frames = recorded_frames(window_frames(frame, config.window, config.stride), speed[:, None])
        return self.features[torch.from_numpy(self.starts[recording][:, None] + frames)]


def train_head(
    run: SelectorRun, train: Split, validation: Split, device: Device, first: QueryHead | None = None
) -> QueryHead:
    """Train the head for the rest of the epochs of `run`; return it as it was best on the validation episodes.

    With `first`, a head that has learned before, it goes on from that one, which may also be the best.
    """
    config = run.config
    settings = config.stage_two
    torch.manual_seed(config.seed)
    head = first or new_head(config, run.tasks)
    if first is None:
        head.standardise(train.features)
    head.to(device.torch)
    optimizer = torch.optim.AdamW(head.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings.epochs)
    done = 0
    best: dict[str, Any] = {"f1": -1.0, "head": head.state_dict()}
    if (state := run.load(CHECKPOINT)) is not None:
        head.load_state_dict(state["last"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        done, best = int(state["epochs"]), {"f1": state["f1"], "head": state["head"]}
    elif first is not None:
        figures = validation_f1(head, validation, config, device)
        run.log(STAGE, -1, figures)  # before the first epoch
        best = {"f1": figures["f1"], "head": _copy(head)}
    for epoch in tqdm(range(done, settings.epochs), desc="stage two", unit="epoch"):
        figures = {"loss": _epoch(head, optimizer, train, config, epoch, device)}
        schedule.step()
        if (epoch + 1) % _JUDGE_EVERY == 0 or epoch + 1 == settings.epochs:
            figures |= validation_f1(head, validation, config, device)
            if figures["f1"] >= best["f1"]:  # of equals the later, which has settled more
                best = {"f1": figures["f1"], "head": _copy(head)}
        run.log(STAGE, epoch, figures)
        run.save(CHECKPOINT, _state(head, optimizer, schedule, epoch + 1, best))
    head.load_state_dict(best["head"])
    return head.eval()


def new_head(config: Config, tasks: Mapping[str, Task]) -> QueryHead:
    """Return a head with fresh weights for these tasks."""
    phases = max(_PHASES, *(len(task.keyframes) for task in tasks.values()))
    return QueryHead(len(tasks), phases, config.window)


@torch.inference_mode()
def head_scores(
    head: QueryHead, split: Split, index: int, config: Config, device: Device, speed: float = 1.0
) -> tuple[Scores, tuple[int, ...]]:
    """Return the scores (T, phases of the task) of all frames of recording `index` at `speed`, and its keyframes."""
    recording = split.recordings[index]
    length, keyframes = at_speed(recording.length, recording.keyframes, speed)
    frames = np.arange(length)
    windows = split.windows(np.full_like(frames, index), frames, np.full(len(frames), speed), config).to(device.torch)
    task = torch.full((len(frames),), int(split.tasks[index]), device=device.torch)
    phases = len(recording.task.keyframes)
    columns = [torch.sigmoid(head(windows, task, torch.full_like(task, phase))) for phase in range(phases)]
    return torch.stack(columns, dim=1).cpu().numpy().astype(np.float32), keyframes


def validation_f1(head: QueryHead, split: Split, config: Config, device: Device) -> dict[str, float]:
    """Return the best free-running F1 over all thresholds: `f1_<task>` of each task, and `f1`, their mean.

    Judged are the episodes as recorded and, where other speeds are learned, at the slowest and the fastest of these.
    """
    head.eval()
    result: dict[str, float] = {}
    for index in np.unique(split.tasks).tolist():
        places = np.flatnonzero(split.tasks == index).tolist()
        task = split.recordings[places[0]].task
        episodes = [head_scores(head, split, k, config, device, speed) for k in places for speed in config.speeds]
        result[f"f1_{task.name}"] = max(f1_curve(episodes, len(task.keyframes)))
    return {**result, "f1": float(np.mean(list(result.values())))}


def _epoch(
    head: QueryHead, optimizer: torch.optim.Optimizer, split: Split, config: Config, epoch: int, device: Device
) -> float:
    """Train for one epoch, whose chance depends on the run's seed and the epoch alone; return the mean loss."""
    settings = config.stage_two
    chance = np.random.default_rng((config.seed, 1, epoch))
    speeds = draw_speeds(len(split.recordings), settings.speed, chance)
    samples = draw_samples(at_speeds(split.recordings, speeds), settings, chance)
    torch.manual_seed(config.seed * 1_000_003 + epoch)  # of the dropout
    head.train()
    total = 0.0
    for start in range(0, len(samples.frame), settings.batch):
        part = slice(start, start + settings.batch)
        windows = split.windows(samples.recording[part], samples.frame[part], speeds[samples.recording[part]], config)
        task, phase, answer = questions(samples, part, split.tasks, device)
        loss = descend(head, optimizer, head(windows.to(device.torch), task, phase), answer, settings)
        total += loss * len(answer)
    return total / len(samples.frame)


def questions(
    samples: SelectorSamples, part: slice, tasks: NDArray[np.int64], device: Device
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the task, phase and answer (N,) of some samples, from the task of each recording."""
    columns = tasks[samples.recording[part]], samples.phase[part], samples.answer[part]
    task, phase, answer = (torch.from_numpy(column).to(device.torch) for column in columns)
    return task, phase, answer


def descend(
    network: nn.Module, optimizer: torch.optim.Optimizer, logits: Tensor, answer: Tensor, settings: StageTwo
) -> float:
    """Take one step down the loss of `logits` (N,) against `answer` (N,), and return that loss."""
    weight = torch.tensor(settings.positive_weight, device=logits.device)
    loss = nn.functional.binary_cross_entropy_with_logits(logits.float(), answer, pos_weight=weight)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
    optimizer.step()
    return float(loss.detach())


def _copy(head: QueryHead) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in head.state_dict().items()}


def _state(
    head: QueryHead,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
    epochs: int,
    best: dict[str, Any],
) -> dict[str, Any]:
    return {
        "last": head.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "epochs": epochs,
        **best,
    }
