"""The training of a detector, resumable to the checkpoint, and the same whenever it is resumed."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from kc_vla.core.files import digest
from kc_vla.datasets.detections.folder import LabeledImages, read_images
from kc_vla.learning.common.curves import draw_curves
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.detector.batches import DetectorBatch, batches, steps_of_epoch
from kc_vla.learning.detector.config import DetectorConfig, as_dict
from kc_vla.learning.detector.judging import judged_network
from kc_vla.learning.detector.losses import detector_losses
from kc_vla.learning.detector.networks import DetectorNetwork
from kc_vla.learning.detector.restoring import unfold
from kc_vla.learning.detector.run import BEST, CHECKPOINT, HOW, DetectorRun
from kc_vla.perception.detector_model import DetectorOutput

STAGE = "detector"
SCORE = "score"
"""Figure of the log by which the best epoch is chosen; of equal ones it is the last."""
_MEASURED = 64
"""Images by which the batch norms of a restored model get their statistics."""


def train_detector(
    folder: Path,
    data: Sequence[Path],
    validation: Sequence[Path],
    config: DetectorConfig,
    device: Device,
    init: DetectorRun | None = None,
) -> DetectorRun:
    """Train a detector, or go on with an interrupted training.

    Args:
        folder: for the run.
        data: folders of labeled images to train on.
        validation: the same, by which the best epoch is chosen.
        config: settings.
        device: what computes.
        init: a run to begin with the weights of, with the same vocabulary and size of network, or a restored model.

    Raises:
        LearningError: data or an earlier run do not fit; the message says what.
        DataSetError: images or labels cannot be read.
    """
    train, judged = read_images(data), read_images(validation)
    if train.vocabulary != judged.vocabulary:
        raise DataError(f"{validation[0]} has another vocabulary than {data[0]}: collect both with one command")
    facts = {
        "train": [str(each) for each in data],
        "validation": [str(each) for each in validation],
        "images": _fingerprint(train),
        "vocabulary": train.vocabulary.as_dict(),
    }
    if init is not None:
        facts["init"] = init.data["model"] if init.is_folded else str(init.folder)
        if (init.vocabulary, init.config.size) != (train.vocabulary, config.size):
            raise DataError(
                f"{facts['init']} has another vocabulary or size of network than asked for: leave out --init"
            )
    arithmetic = {"device": device.name, "precision": device.precision}
    with DetectorRun.begun(folder, as_dict(config), facts, arithmetic) as run:
        _Training(run, train, judged, device, init).go()
        draw_curves(run.read_log(), folder / "curves.png")
    return run


def _fingerprint(data: LabeledImages) -> str:
    """Return what changes when another image or label is there."""
    return digest(repr([(scene.name, scene.stat().st_size) for scene in data.scenes]))


class _Training:
    """One run, as far as it has come."""

    def __init__(
        self, run: DetectorRun, train: LabeledImages, judged: LabeledImages, device: Device, init: DetectorRun | None
    ) -> None:
        self._run, self._train, self._judged, self._device = run, train, judged, device
        self._config = config = run.config
        self._layout = DetectorOutput(train.vocabulary)
        torch.manual_seed(config.seed)
        network = DetectorNetwork(train.vocabulary, config.size)
        if init is not None:
            network.load_state_dict(init.need(BEST, HOW)["average"])
            if init.is_folded:
                _unfold(network, train, config)
        self._network = network.train().to(device.torch, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._average = copy.deepcopy(self._network).eval().requires_grad_(False)
        self._optimizer = torch.optim.AdamW(
            self._network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        self._epoch_steps = steps_of_epoch(len(train.images), config)
        self._step, self._best = 0, -1.0
        self._sums: dict[str, float] = {}
        self._take_up()

    def _take_up(self) -> None:
        if (state := self._run.load(CHECKPOINT)) is None:
            return
        self._network.load_state_dict(state["network"])
        self._average.load_state_dict(state["average"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._step, self._best, self._sums = int(state["step"]), float(state["best"]), dict(state["sums"])

    def go(self) -> None:
        """Take the steps that are left."""
        config, steps = self._config, self._config.epochs * self._epoch_steps
        source = batches(self._train, config, self._step, self._device.torch)
        try:
            with tqdm(total=steps, initial=self._step, desc="detector", unit="step") as bar:
                while self._step < steps:
                    losses = self._learn(next(source))
                    self._sums = {name: self._sums.get(name, 0.0) + value for name, value in losses.items()}
                    self._step += 1
                    bar.update()
                    if self._step % self._epoch_steps == 0:
                        bar.set_postfix(self._end_epoch())
                    if self._step % config.every == 0 or self._step % self._epoch_steps == 0:
                        self._save()
        finally:
            source.close()

    def _learn(self, batch: DetectorBatch) -> dict[str, float]:
        """Do one training step and return its losses."""
        config = self._config
        for group in self._optimizer.param_groups:
            group["lr"] = config.learning_rate * _rate(self._step, config.epochs * self._epoch_steps, config.warm_up)
        with self._device.autocast():
            heat, raw = self._network(batch.pictures, batch.inverse_depth)
        losses = detector_losses(heat, raw, batch.inverse_depth, batch.targets, self._layout)
        weights = asdict(config.weights)
        total = losses["heat"] + sum(weights[name] * losses[name] for name in weights)
        self._optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), config.clip)
        self._optimizer.step()
        self._follow()
        return {f"{name}_loss": float(value.detach()) for name, value in losses.items()}

    @torch.no_grad()
    def _follow(self) -> None:
        """Move the averaged weights, and the statistics of the batch norms, towards those of this step."""
        stays = min(self._config.average, (self._step + 1) / (self._step + 10))
        for mean, own in zip(_tensors(self._average), _tensors(self._network), strict=True):
            mean.lerp_(own, 1 - stays) if mean.is_floating_point() else mean.copy_(own)

    def _end_epoch(self) -> Mapping[str, str]:
        """Judge the averaged network, keep the best one, and return the figures to show."""
        figures = {name: value / self._epoch_steps for name, value in self._sums.items()}
        self._sums = {}
        chance = np.random.default_rng(self._config.seed)
        count = min(self._config.judged, len(self._judged.images))
        chosen = sorted(chance.choice(len(self._judged.images), count, replace=False))
        images = LabeledImages(self._judged.vocabulary, tuple(self._judged.images[i] for i in chosen))
        figures |= judged_network(self._average, images, self._config, self._device)
        epoch = self._step // self._epoch_steps - 1
        self._run.log(STAGE, epoch, figures)
        if figures[SCORE] >= self._best:
            self._best = figures[SCORE]
            self._run.save(BEST, {"average": self._average.state_dict(), "epoch": epoch, "step": self._step})
        return {name: f"{figures[name]:.3f}" for name in ("heat_loss", "box_loss", "map_50", SCORE)}

    def _save(self) -> None:
        self._run.save(
            CHECKPOINT,
            {
                "network": self._network.state_dict(),
                "average": self._average.state_dict(),
                "optimizer": self._optimizer.state_dict(),
                "step": self._step,
                "best": self._best,
                "sums": self._sums,
            },
        )


def _unfold(network: DetectorNetwork, train: LabeledImages, config: DetectorConfig) -> None:
    source = batches(train, config, 0, torch.device("cpu"))
    try:
        few = [next(source) for _ in range(-(-_MEASURED // config.batch))]
    finally:
        source.close()
    unfold(network, torch.cat([each.pictures for each in few]), torch.cat([each.inverse_depth for each in few]))


def _tensors(network: nn.Module) -> Iterator[Tensor]:
    return chain(network.parameters(), network.buffers())


def _rate(step: int, steps: int, warm_up: int) -> float:
    """Return the share of the learning rate: a warm-up, then half a cosine down to a fiftieth."""
    fall = 0.5 * (1 + math.cos(math.pi * min(step / steps, 1)))
    return min(1.0, (step + 1) / warm_up) * (0.98 * fall + 0.02)
