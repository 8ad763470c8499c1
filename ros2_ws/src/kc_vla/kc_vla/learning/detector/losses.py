"""How wrong a network is, for each of the things that it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kc_vla.learning.detector.networks import in_units, of_cells
from kc_vla.learning.detector.targets import UNKNOWN, ImageTargets
from kc_vla.perception.detector_model import DetectorOutput

_CENTER_PX, _MEASURED_LOG, _ESTIMATED_LOG = 1.0, 0.03, 0.3
"""What an error of 1 is."""
_TINY = 1e-6


@dataclass(frozen=True, eq=False)
class BatchTargets:
    """The targets of some images, on one device; see `ImageTargets`. `images` (P,) is which one a cell is of."""

    heat: Tensor
    ignored: Tensor
    images: Tensor
    cells: Tensor
    weights: Tensor
    numbers: Tensor
    colors: Tensor
    states: Tensor


def joined(targets: Sequence[ImageTargets], device: torch.device) -> BatchTargets:
    """Return the targets of a batch."""
    counts = [len(each.cells) for each in targets]

    def one(name: str) -> Tensor:
        return torch.from_numpy(np.concatenate([getattr(each, name) for each in targets])).to(device)

    return BatchTargets(
        heat=torch.from_numpy(np.stack([each.heat for each in targets])).to(device),
        ignored=torch.from_numpy(np.stack([each.ignored for each in targets])).to(device),
        images=torch.repeat_interleave(torch.arange(len(targets)), torch.tensor(counts)).to(device),
        cells=one("cells"),
        weights=one("weights"),
        numbers=one("numbers"),
        colors=one("colors"),
        states=one("states"),
    )


def detector_losses(
    heat: Tensor, raw: Tensor, inverse_depth: Tensor, targets: BatchTargets, layout: DetectorOutput
) -> dict[str, Tensor]:
    """Return the loss of each thing that the network says, an average over the objects.

    Args:
        heat: logits (N, T, M, M).
        raw: (N, R, M, M).
        inverse_depth: of the images (N, S, S), 1/m, 0 where it is not known.
        targets: what it should say.
        layout: of the numbers.

    Returns:
        By "heat" and the names of `DetectorWeights`.
    """
    weights = targets.weights
    objects = weights.sum().clamp(min=1.0)
    own = raw.float()[targets.images, :, targets.cells[:, 0], targets.cells[:, 1]]
    said, wanted = in_units(own, layout), targets.numbers
    measured = of_cells(inverse_depth)[targets.images, targets.cells[:, 0], targets.cells[:, 1]] > 0
    log = (own[:, layout.DEPTH] - wanted[:, layout.DEPTH].log()).abs()
    center = (said[:, layout.CENTER] - wanted[:, layout.CENTER]) / _CENTER_PX
    parts = {
        "box": _box_loss(said[:, layout.BOX], wanted[:, layout.BOX]),
        "center": functional.smooth_l1_loss(center, torch.zeros_like(center), reduction="none").sum(1),
        "depth": log / torch.where(measured, _MEASURED_LOG, _ESTIMATED_LOG),
        "extent": (said[:, layout.SIZE].log() - wanted[:, layout.SIZE].clamp(min=1e-3).log()).abs().mean(1),
        "color": _word_loss(own[:, layout.colors], targets.colors),
        "state": torch.zeros_like(weights),
    }
    for index, where in enumerate(layout.states.values()):
        parts["state"] = parts["state"] + _word_loss(own[:, where], targets.states[:, index])
    losses = {name: (weights * part).sum() / objects for name, part in parts.items()}
    return {"heat": _focal_loss(heat.float(), targets) / objects, **losses}


def _focal_loss(heat: Tensor, targets: BatchTargets) -> Tensor:
    """Return CenterNet's focal loss of all cells together, without those that count for nothing."""
    share = torch.sigmoid(heat)
    hit = targets.heat == 1.0
    positive = functional.logsigmoid(heat) * (1 - share) ** 2
    negative = functional.logsigmoid(-heat) * share**2 * (1 - targets.heat) ** 4
    negative = torch.where(targets.ignored, 0.0, negative)
    return -torch.where(hit, positive, negative).sum()


def _box_loss(said: Tensor, wanted: Tensor) -> Tensor:
    """Return 1 - GIoU (Rezatofighi et al., 2019) of boxes that are given by the distances of their sides."""

    def span(sides: Tensor) -> Tensor:
        return (sides[:, 0] + sides[:, 2]).clamp(min=0) * (sides[:, 1] + sides[:, 3]).clamp(min=0)

    both = span(torch.minimum(said, wanted))
    either = span(said) + span(wanted) - both
    around = span(torch.maximum(said, wanted))
    return 1 - both / (either + _TINY) + (around - either) / (around + _TINY)


def _word_loss(logits: Tensor, wanted: Tensor) -> Tensor:
    """Return the cross entropy of each row, 0 where the label says nothing."""
    if not logits.shape[1]:
        return torch.zeros(len(logits), device=logits.device)
    return functional.cross_entropy(logits, wanted, ignore_index=UNKNOWN, reduction="none")
