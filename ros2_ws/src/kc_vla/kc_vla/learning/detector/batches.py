"""Batches of training samples, made by threads while the network learns."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count

import numpy as np
import torch
from torch import Tensor

from kc_vla.datasets.detections.folder import LabeledImage, LabeledImages
from kc_vla.learning.common.augment import augment
from kc_vla.learning.detector.config import DetectorConfig
from kc_vla.learning.detector.losses import BatchTargets, joined
from kc_vla.learning.detector.samples import Sample, changed_sample, plain_sample
from kc_vla.learning.detector.targets import ImageTargets, image_targets

_AHEAD = 2
"""Batches that are made before they are asked for."""


@dataclass(frozen=True, eq=False)
class DetectorBatch:
    """Images with what the network should say of them.

    Attributes:
        pictures: (N, S, S, 3), RGB, 0..255.
        inverse_depth: (N, S, S), 1/m, 0 where it is not known.
        targets: of them.
    """

    pictures: Tensor
    inverse_depth: Tensor
    targets: BatchTargets


def steps_of_epoch(images: int, config: DetectorConfig) -> int:
    """Return how many batches an epoch has: each image is in one of them, and the last may be filled up."""
    return -(-images // config.batch)


def batches(data: LabeledImages, config: DetectorConfig, first: int, device: torch.device) -> Generator[DetectorBatch]:
    """Yield the batches from step `first` on, without end; chance depends on the seed and the step alone.

    Raises:
        DataSetError: an image cannot be read.
    """
    pool = ThreadPoolExecutor(os.cpu_count())

    def begun(step: int) -> list[Future[tuple[Sample, ImageTargets]]]:
        chosen = enumerate(_chosen(len(data.images), config, step))
        return [pool.submit(_made, data, data.images[i], config, (config.seed, step, place)) for place, i in chosen]

    try:
        waiting = deque(begun(first + ahead) for ahead in range(_AHEAD))
        for step in count(first):
            waiting.append(begun(step + _AHEAD))
            yield _batch([each.result() for each in waiting.popleft()], config, step, device)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _chosen(images: int, config: DetectorConfig, step: int) -> list[int]:
    """Return the images of a step: each epoch has them all, in another order."""
    steps = steps_of_epoch(images, config)
    epoch, index = divmod(step, steps)
    order = np.random.default_rng((config.seed, epoch)).permutation(images)
    taken = np.arange(index * config.batch, (index + 1) * config.batch) % images
    return [int(each) for each in order[taken]]


def _made(
    data: LabeledImages, image: LabeledImage, config: DetectorConfig, seed: Sequence[int]
) -> tuple[Sample, ImageTargets]:
    sample = changed_sample(plain_sample(image, config), config.augmentation, np.random.default_rng(seed))
    return sample, image_targets(sample.objects, data.vocabulary, config.image_size)


def _batch(
    made: Sequence[tuple[Sample, ImageTargets]], config: DetectorConfig, step: int, device: torch.device
) -> DetectorBatch:
    generator = torch.Generator().manual_seed(config.seed * 1_000_003 + step)
    pictures = torch.from_numpy(np.stack([sample.pixels for sample, _ in made])).to(device)
    shown = augment(pictures, config.augmentation, generator)
    if config.augmentation.noise:
        much = config.augmentation.noise * torch.rand(len(shown), 1, 1, 1, generator=generator)
        shown = (shown + (much * torch.randn(shown.shape, generator=generator)).to(device)).clamp(0, 255)
    depth = torch.from_numpy(np.stack([sample.inverse_depth for sample, _ in made])).to(device)
    return DetectorBatch(shown, depth, joined([targets for _, targets in made], device))
