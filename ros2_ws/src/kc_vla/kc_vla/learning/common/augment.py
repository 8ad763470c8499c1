"""Chance in the look of training images: color, place, sharpness."""

from __future__ import annotations

import math
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

_GREY = (0.299, 0.587, 0.114)
_YIQ = ((0.299, 0.587, 0.114), (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112))


class ImageAugmentation(Protocol):
    """How much of each chance there is, with 0 for none."""

    @property
    def jitter(self) -> float:
        """Return the largest share by which brightness, contrast and saturation change."""

    @property
    def hue(self) -> float:
        """Return the largest turn of the hue, either way."""

    @property
    def shift(self) -> int:
        """Return the most pixels that an image moves."""

    @property
    def blur(self) -> float:
        """Return the share of the images that are softened."""


def augment(pictures: Tensor, config: ImageAugmentation, chance: torch.Generator) -> Tensor:
    """Change each image by a chance of its own.

    Args:
        pictures: (N, H, W, 3) uint8, on any device.
        config: how much.
        chance: what decides, on the CPU, so that it is the same whatever the device.

    Returns:
        (N, H, W, 3) float32 in 0..255, on the same device.
    """
    x = pictures.permute(0, 3, 1, 2).float()
    if config.shift:
        x = _shifted(x, config.shift, chance)
    if config.blur:
        soft = functional.avg_pool2d(functional.pad(x, (1, 1, 1, 1), mode="replicate"), 3, 1)
        chosen = torch.rand(len(x), 1, 1, 1, generator=chance) < config.blur
        x = torch.where(chosen.to(x.device), soft, x)
    if config.jitter:
        x = _jittered(x, config.jitter, chance)
    if config.hue:
        x = _turned(x, config.hue, chance)
    return x.clamp(0, 255).permute(0, 2, 3, 1)


def _jittered(x: Tensor, most: float, chance: torch.Generator) -> Tensor:
    """Return the images with brightness, contrast and saturation times 1 - most to 1 + most."""
    factors = 1 + most * (2 * torch.rand(3, len(x), 1, 1, 1, generator=chance) - 1)
    brightness, contrast, saturation = factors.to(x.device).unbind()
    x = x * brightness
    weights = torch.tensor(_GREY, device=x.device).view(1, 3, 1, 1)
    level = (x * weights).sum(1, keepdim=True).mean((2, 3), keepdim=True)
    x = level + contrast * (x - level)
    grey = (x * weights).sum(1, keepdim=True)
    return grey + saturation * (x - grey)


def _turned(x: Tensor, most: float, chance: torch.Generator) -> Tensor:
    """Return the hue turned by up to `most` turns, in the plane of the colors of equal brightness."""
    angle = 2 * math.pi * most * (2 * torch.rand(len(x), generator=chance) - 1)
    to_yiq = torch.tensor(_YIQ)
    turn = torch.zeros(len(x), 3, 3)
    turn[:, 0, 0] = 1
    turn[:, 1, 1] = turn[:, 2, 2] = torch.cos(angle)
    turn[:, 1, 2], turn[:, 2, 1] = -torch.sin(angle), torch.sin(angle)
    matrix = (torch.linalg.inv(to_yiq) @ turn @ to_yiq).to(x.device)
    return torch.einsum("nij,njhw->nihw", matrix, x)


def _shifted(x: Tensor, most: int, chance: torch.Generator) -> Tensor:
    """Return each image moved by up to `most` pixels, its edge repeated."""
    size_y, size_x = x.shape[2:]
    padded = functional.pad(x, (most, most, most, most), mode="replicate")
    offsets = torch.randint(0, 2 * most + 1, (len(x), 2), generator=chance).tolist()
    return torch.stack([p[:, dy : dy + size_y, dx : dx + size_x] for p, (dy, dx) in zip(padded, offsets, strict=True)])
