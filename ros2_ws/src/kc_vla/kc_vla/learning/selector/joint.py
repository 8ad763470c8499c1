"""The baseline that learns backbone and head at once, from the answers alone (paper, table 2, "Joint End-to-End")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.learning.common.augment import augment
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.common.device import Device
from kc_vla.learning.selector.config import Config
from kc_vla.learning.selector.features import trunk_features
from kc_vla.learning.selector.networks import QueryHead, Selector
from kc_vla.learning.selector.recordings import LabeledEpisode, task_indices, wanted_pictures
from kc_vla.learning.selector.run import SelectorRun
from kc_vla.learning.selector.samples import at_speeds, draw_samples, draw_speeds, recorded_frames, window_frames
from kc_vla.learning.selector.stage_two import CHECKPOINT, STAGE, Split, descend, questions, validation_f1


def train_joint(
    run: SelectorRun,
    trunk: Backbone,
    head: QueryHead,
    train: Sequence[LabeledEpisode],
    validation: Sequence[LabeledEpisode],
    device: Device,
) -> None:
    """Train both for the rest of the epochs of `run`, with the samples and settings of Stage II.

    Raises:
        BagError: an image cannot be read.
    """
    config = run.config
    settings = config.stage_two
    torch.manual_seed(config.seed)
    network = Selector(trunk, head).to(device.torch)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings.epochs)
    done = 0
    if (state := run.load(CHECKPOINT)) is not None:
        network.load_state_dict(state["last"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        done = int(state["epochs"])
    for epoch in range(done, settings.epochs):
        figures = {"loss": _epoch(network, optimizer, train, task_indices(train, run.tasks), config, epoch, device)}
        schedule.step()
        last = epoch + 1 == settings.epochs
        if last:
            figures |= _judge(network, validation, run, device)
        run.log(STAGE, epoch, figures)
        state = {
            "last": network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "schedule": schedule.state_dict(),
            "epochs": epoch + 1,
        }
        if last:  # what `trained_trunk` looks for
            state |= {"trunk": network.trunk.state_dict(), "head": network.head.state_dict()}
        run.save(CHECKPOINT, state)


def _epoch(
    network: Selector,
    optimizer: torch.optim.Optimizer,
    recordings: Sequence[LabeledEpisode],
    tasks: NDArray[np.int64],
    config: Config,
    epoch: int,
    device: Device,
) -> float:
    """Train for one epoch; return the mean loss. Only the images that occur in the epoch are kept in memory."""
    settings = config.stage_two
    drawn = np.random.default_rng((config.seed, 1, epoch))
    speeds = draw_speeds(len(recordings), settings.speed, drawn)
    samples = draw_samples(at_speeds(recordings, speeds), settings, drawn)
    shown_at = speeds[samples.recording][:, None]
    frames = recorded_frames(window_frames(samples.frame, config.window, config.stride), shown_at)
    with tqdm(total=len(recordings), desc="pictures", unit="episode") as bar:
        wanted = [np.unique(frames[samples.recording == k]) for k in range(len(recordings))]
        pictures = wanted_pictures(recordings, wanted, config.image_size, bar.update)
    chance = torch.Generator().manual_seed(config.seed * 1_000_003 + epoch)
    network.train()
    total = 0.0
    starts = range(0, len(samples.frame), settings.batch)
    for start in tqdm(starts, desc=f"joint {epoch + 1}/{settings.epochs}", unit="step"):
        part = slice(start, start + settings.batch)
        if len(samples.frame[part]) < 2:
            continue  # batch norm needs two
        task, phase, answer = questions(samples, part, tasks, device)
        shown = zip(samples.recording[part].tolist(), frames[part].tolist(), strict=True)
        stacked = np.stack([pictures[recording][frame] for recording, window in shown for frame in window])
        looks = augment(torch.from_numpy(stacked).to(device.torch), config.stage_one, chance)
        with device.autocast():
            logits = network(looks.view(len(answer), config.window, *looks.shape[1:]), task, phase)
        total += descend(network, optimizer, logits, answer, settings) * len(answer)
    return total / len(samples.frame)


def _judge(
    network: Selector, validation: Sequence[LabeledEpisode], run: SelectorRun, device: Device
) -> dict[str, float]:
    """Return the free-running F1 on the validation episodes, each task and their mean."""
    bar = tqdm(validation, desc="validation features", unit="episode")
    features = [trunk_features(network.trunk, r.pictures(run.config.image_size), device) for r in bar]
    return validation_f1(network.head, Split(validation, features, run.tasks), run.config, device)
