"""Stage I: metric learning of the backbone with the triplet margin loss (paper, equation 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from tqdm import tqdm

from kc_vla.keyframes.image_crop import Picture
from kc_vla.learning.common.augment import augment
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.common.device import Device
from kc_vla.learning.selector.config import Config
from kc_vla.learning.selector.networks import Projection
from kc_vla.learning.selector.recordings import LabeledEpisode, wanted_pictures
from kc_vla.learning.selector.run import SelectorRun
from kc_vla.learning.selector.triplets import NegativeKind, Triplets, TripletSampler

STAGE = "stage one"
CHECKPOINT = "stage_one"


@dataclass(frozen=True)
class _Pool:
    """What triplets are drawn from, and the images of all frames that can occur in one."""

    sampler: TripletSampler
    pictures: list[dict[int, Picture]]

    def batch(self, frames: NDArray[np.int64]) -> Tensor:
        """Return images (3 N, H, W, 3), uint8, of triplets (N, 3, 2): all anchors, all positives, all negatives."""
        by_role = frames.transpose(1, 0, 2).reshape(-1, 2).tolist()
        return torch.from_numpy(np.stack([self.pictures[recording][frame] for recording, frame in by_role]))


class _Embedding(nn.Module):
    """Images to unit vectors of the metric space."""

    def __init__(self, trunk: Backbone) -> None:
        super().__init__()
        self.trunk, self.projection = trunk, Projection()

    def forward(self, pictures: Tensor) -> Tensor:
        return self.projection(self.trunk(pictures))  # type: ignore[no-any-return]


def train_trunk(
    run: SelectorRun,
    trunk: Backbone,
    train: Sequence[LabeledEpisode],
    validation: Sequence[LabeledEpisode],
    device: Device,
) -> Backbone:
    """Train `trunk` for the rest of the epochs of `run`, and return it.

    Raises:
        DataError: too few episodes.
        BagError: an image cannot be read.
    """
    config = run.config
    torch.manual_seed(config.seed)
    network = _Embedding(trunk).to(device.torch)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    settings = config.stage_one
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    done = 0
    if (state := run.load(CHECKPOINT)) is not None:
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        done = int(state["epochs"])
    if done < settings.epochs:
        pools = [_gather(recordings, config) for recordings in (train, validation)]
        for epoch in range(done, settings.epochs):
            figures = _epoch(network, optimizer, pools[0], config, epoch, device)
            figures |= _validate(network, pools[1], config, device)
            run.log(STAGE, epoch, figures)
            run.save(CHECKPOINT, _state(network, optimizer, epoch + 1))
    network.eval()
    return network.trunk


def _gather(recordings: Sequence[LabeledEpisode], config: Config) -> _Pool:
    sampler = TripletSampler(recordings, config.stage_one)
    with tqdm(total=len(recordings), desc="pictures", unit="episode") as bar:
        pictures = wanted_pictures(recordings, sampler.frames_needed(), config.image_size, bar.update)
    return _Pool(sampler, pictures)


def _epoch(
    network: _Embedding, optimizer: torch.optim.Optimizer, pool: _Pool, config: Config, epoch: int, device: Device
) -> dict[str, float]:
    """Train for one epoch; its chance depends on the run's seed and the epoch alone, so a resumed run is the same."""
    settings = config.stage_one
    triplets = pool.sampler.epoch(np.random.default_rng((config.seed, epoch)))
    chance = torch.Generator().manual_seed(config.seed * 1_000_003 + epoch)
    network.train()
    losses, sizes = [], []
    starts = range(0, len(triplets.frames), settings.batch)
    for start in tqdm(starts, desc=f"stage one {epoch + 1}/{settings.epochs}", unit="step"):
        frames = triplets.frames[start : start + settings.batch]
        if len(frames) < 2:
            continue  # batch norm needs two
        pictures = augment(pool.batch(frames).to(device.torch), settings, chance)
        with device.autocast():
            embedded = network(pictures)
        embedded = embedded.float()
        if settings.batch_all:
            unlike = torch.from_numpy(pool.sampler.unlike(frames)).to(device.torch)
            loss = _batch_all_loss(embedded, unlike, settings.margin)
        else:
            loss = _loss(embedded, settings.margin).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
        sizes.append(len(frames))
    return {"loss": float(np.average(losses, weights=sizes))}


@torch.inference_mode()
def _validate(network: _Embedding, pool: _Pool, config: Config, device: Device) -> dict[str, float]:
    """Return the loss on triplets of validation episodes, and how often the negative is further away.

    The triplets are the same ones each time.
    """
    triplets: Triplets = pool.sampler.epoch(np.random.default_rng(config.seed))
    network.eval()
    losses, right = [], []
    for start in range(0, len(triplets.frames), config.stage_one.batch):
        pictures = pool.batch(triplets.frames[start : start + config.stage_one.batch]).to(device.torch)
        with device.autocast():
            embedded = network(pictures).float()
        losses.append(_loss(embedded, config.stage_one.margin).cpu())
        right.append((_loss(embedded, 0.0) == 0).cpu())
    answers = torch.cat(right).numpy()
    figures = {"validation_loss": float(torch.cat(losses).mean())}
    for kind in NegativeKind:
        if (chosen := triplets.kinds == kind).any():
            figures[f"right_{kind.name.lower()}"] = float(answers[chosen].mean())
    return figures


def _loss(embedded: Tensor, margin: float) -> Tensor:
    """Return the triplet margin loss (N,) of anchors, positives and negatives stacked (3 N, D)."""
    anchor, positive, negative = embedded.chunk(3)
    near, far = (nn.functional.pairwise_distance(anchor, other) for other in (positive, negative))
    return (near - far + margin).clamp(min=0)


def _batch_all_loss(embedded: Tensor, unlike: Tensor, margin: float) -> Tensor:
    """Return the mean triplet margin loss of each anchor and its positive with all images `unlike` (N, 3 N) it.

    Triplets that are right already do not count: they would drown the others (Hermans et al. 2017, "batch all").
    """
    anchor, positive, _ = embedded.chunk(3)
    near = nn.functional.pairwise_distance(anchor, positive)
    losses = (near[:, None] - torch.cdist(anchor, embedded) + margin).clamp(min=0)[unlike]
    return losses.sum() / (losses > 0).sum().clamp(min=1)


def _state(network: _Embedding, optimizer: torch.optim.Optimizer, epochs: int) -> dict[str, Any]:
    return {
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "epochs": epochs,
        "trunk": network.trunk.state_dict(),
    }
