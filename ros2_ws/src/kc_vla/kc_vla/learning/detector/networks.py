"""The network: a small residual backbone, maps at stride 4, and for each of their cells an object or none.

After CenterNet (Zhou et al., 2019): an object is a peak of the heatmap of its type. As in TTFNet (Liu et al., 2020),
all cells around the peak are trained to say the rest, which needs far fewer epochs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from kc_vla.learning.detector.config import SIZES
from kc_vla.perception.detector_model import MOST_OBJECTS, DetectorOutput
from kc_vla.perception.vocabulary import DetectionVocabulary

STRIDE = 4
"""Pixels of the image for a cell of the maps."""
_RARE = -4.0
"""Logit of the heatmap before training: most cells have no object."""
_BOX_PX, _CENTER_PX, _SIZE = 8.0, 8.0, 0.1
"""Units of what the network says."""
_DEPTH_LOG, _OFFSET_LOG = 0.25, 0.1
"""The same of the logarithm of a depth that it estimates, and of that of the middle over one that is measured."""
_NEAREST = 8.0
"""Largest inverse depth that is told apart, 1/m."""
_CLOSE_BY, _AROUND = 9, (4, 9)
"""Sides of what is near a pixel, px: of a thing, and of furniture, at a coarser scale."""
_RELIEF = 30.0
_TINY = 1e-6
_LARGEST_LOG = 5.0


class DetectorNetwork(nn.Module):
    """Images with depth to a heatmap for each type, and to the numbers of the object in each cell."""

    def __init__(self, vocabulary: DetectionVocabulary, size: str) -> None:
        super().__init__()
        widths, width = SIZES[size]
        layout = DetectorOutput(vocabulary)
        self.stages = nn.ModuleList([_convolution(6, widths[0], 2)])
        for before, after in pairwise(widths):
            self.stages.append(nn.Sequential(_convolution(before, after, 2), _Residual(after)))
        self.laterals = nn.ModuleList(nn.Conv2d(each, width, 1) for each in widths[1:])
        self.smooths = nn.ModuleList(_convolution(width, width) for _ in widths[1:-1])
        self.heat = _head(width, len(vocabulary.types))
        self.geometry = _head(width, layout.SIZE.stop + 1)
        self.words = _head(width, layout.count - layout.SIZE.stop)
        cast(nn.Conv2d, self.heat[-1]).bias.data.fill_(_RARE)  # type: ignore[union-attr]

    def forward(self, pictures: Tensor, inverse_depth: Tensor) -> tuple[Tensor, Tensor]:
        """Map images to logits of the heatmap and to raw numbers.

        Args:
            pictures: (N, S, S, 3), RGB, 0..255, uint8 or float.
            inverse_depth: (N, S, S), 1/m, for a camera whose focal length is S; 0 where it is not known.

        Returns:
            (N, T, S / 4, S / 4) and (N, R, S / 4, S / 4).
        """
        colors = (pictures.permute(0, 3, 1, 2).float() - 127.5) / 64.0
        x = torch.cat([colors, depth_channels(inverse_depth)], dim=1)
        x = x.contiguous(memory_format=torch.channels_last)
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        x = self.laterals[-1](maps[-1])
        levels = zip(self.laterals[:-1], self.smooths, maps[1:-1], strict=True)
        for lateral, smooth, level in reversed(list(levels)):
            x = smooth(lateral(level) + functional.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.heat(x), torch.cat([_with_depth(self.geometry(x), inverse_depth), self.words(x)], dim=1)


def _with_depth(geometry: Tensor, inverse_depth: Tensor) -> Tensor:
    """Return what the geometry's head says with one logarithm of the depth instead of two.

    Where the depth of a cell is measured, the middle is so much behind it; elsewhere the image alone says how far.
    """
    inverse = of_cells(inverse_depth)[:, None].float()
    depth = DetectorOutput.DEPTH
    estimated, offset = geometry[:, depth : depth + 1].float(), geometry[:, depth + 1 : depth + 2].float()
    measured = _OFFSET_LOG * offset - inverse.clamp(min=_TINY).log()
    log = torch.where(inverse > 0, measured, _DEPTH_LOG * estimated)
    return torch.cat([geometry[:, :depth].float(), log, geometry[:, depth + 2 :].float()], dim=1)


def of_cells(inverse_depth: Tensor) -> Tensor:
    """Return the pixel in the middle of each cell: (N, S / 4, S / 4)."""
    at = STRIDE // 2
    return inverse_depth[:, at::STRIDE, at::STRIDE]


def depth_channels(inverse_depth: Tensor) -> Tensor:
    """Return inverse depth as three channels: itself, and how much nearer a pixel is than what is around it.

    A plane is linear in inverse depth, hence its own mean around each pixel: tables vanish, and what stands on them
    remains, at whatever distance. Without this step a thing would be lost in 8 bits of mantissa.

    Args:
        inverse_depth: (N, S, S), 1/m, 0 where it is not known.

    Returns:
        (N, 3, S, S), 0 where the depth is not known.
    """
    inverse = inverse_depth[:, None].float().clamp(0.0, _NEAREST)
    known = (inverse > 0).to(inverse.dtype)
    channels = [inverse / 2]
    shrunk, side = _AROUND
    for each in (1, shrunk):
        total, count = inverse, known
        if each > 1:
            total, count = functional.avg_pool2d(total, each), functional.avg_pool2d(count, each)
        width = _CLOSE_BY if each == 1 else side
        total = functional.avg_pool2d(total, width, 1, width // 2)
        count = functional.avg_pool2d(count, width, 1, width // 2)
        mean = total / count.clamp(min=_TINY)
        if each > 1:
            mean = functional.interpolate(mean, scale_factor=float(each), mode="bilinear", align_corners=False)
        relief = _RELIEF * (inverse / mean.clamp(min=_TINY) - 1)
        channels.append(known * relief.clamp(-3.0, 3.0))
    return torch.cat(channels, dim=1)


def in_units(raw: Tensor, layout: DetectorOutput) -> Tensor:
    """Return raw numbers (..., R) as `DetectorOutput` has them; the box and the middle are relative to their cell.

    The box is given by the distances of its sides from the cell, which are none below 0.
    """
    parts = [
        functional.softplus(raw[..., layout.BOX]) * _BOX_PX,
        raw[..., layout.CENTER] * _CENTER_PX,
        raw[..., layout.DEPTH : layout.DEPTH + 1].clamp(-_LARGEST_LOG, _LARGEST_LOG).exp(),
        raw[..., layout.SIZE].clamp(-_LARGEST_LOG, _LARGEST_LOG).exp() * _SIZE,
        raw[..., layout.SIZE.stop :],
    ]
    return torch.cat(parts, dim=-1)


class FoundObjects(nn.Module):
    """The network with its peaks: images to the `MOST_OBJECTS` most certain objects."""

    corners: Tensor

    def __init__(self, network: DetectorNetwork, vocabulary: DetectionVocabulary) -> None:
        super().__init__()
        self.network, self.layout = network, DetectorOutput(vocabulary)
        self.register_buffer("corners", torch.tensor([-1.0, -1.0, 1.0, 1.0]), persistent=False)

    def forward(self, pictures: Tensor, inverse_depth: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Map images with inverse depth to scores (N, K), types (N, K) and numbers (N, K, R), see `DetectorOutput`."""
        heat, raw = self.network(pictures, inverse_depth)
        heat = torch.sigmoid(heat.float())
        peaks = heat * (functional.max_pool2d(heat, 3, 1, 1) == heat)
        height, width = peaks.shape[2], peaks.shape[3]
        scores, places = torch.topk(peaks.flatten(1), MOST_OBJECTS, dim=1)
        cells = places % (height * width)
        chosen = raw.float().flatten(2).transpose(1, 2).gather(1, cells[..., None].expand(-1, -1, self.layout.count))
        numbers = in_units(chosen, self.layout)
        x = (cells % width + 0.5) * STRIDE
        y = (torch.div(cells, width, rounding_mode="floor") + 0.5) * STRIDE
        box = torch.stack([x, y, x, y], dim=-1) + self.corners * numbers[..., self.layout.BOX]
        center = torch.stack([x, y], dim=-1) + numbers[..., self.layout.CENTER]
        numbers = torch.cat([box, center, numbers[..., self.layout.DEPTH :]], dim=-1)
        return scores, torch.div(places, height * width, rounding_mode="floor"), numbers


class _Residual(nn.Module):
    """Two 3 x 3 convolutions beside a short cut."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = _convolution(channels, channels)
        self.second = nn.Sequential(nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.second(self.first(x)))


def _convolution(before: int, after: int, stride: int = 1) -> nn.Sequential:
    layers: Sequence[nn.Module] = (
        nn.Conv2d(before, after, 3, stride, 1, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
    )
    return nn.Sequential(*layers)


def _head(width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(_convolution(width, width), nn.Conv2d(width, outputs, 1))
