"""What the policy reduces an image to, before it learns: a map of the frozen first half of a backbone."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.policy.matching import colors

STEM_STRIDE, STEM_CHANNELS = 8, 128


class ImageBackbone(nn.Module):
    """Images to maps: the first half of a backbone, frozen, and its main directions; and colors, if they are wanted."""

    mean: Tensor
    std: Tensor
    centre: Tensor

    def __init__(self, trunk: Backbone, channels: int, with_colors: bool = False) -> None:
        super().__init__()
        self.with_colors = with_colors
        resnet = trunk.resnet
        self.layers = nn.Sequential(resnet.conv1, resnet.bn1, resnet.relu, resnet.maxpool, resnet.layer1, resnet.layer2)
        self.register_buffer("mean", trunk.mean.clone())
        self.register_buffer("std", trunk.std.clone())
        self.register_buffer("centre", torch.zeros(1, STEM_CHANNELS, 1, 1))
        self.reduce = nn.Conv2d(STEM_CHANNELS, channels, 1, bias=False)
        self.eval().requires_grad_(False)

    def forward(self, pictures: Tensor) -> Tensor:
        """Map images (N, S, S, 3) RGB, uint8, to maps (N, channels, S / 8, S / 8).

        They have `COLORS` channels more for the colors.
        """
        x = pictures.permute(0, 3, 1, 2).to(self.mean.dtype)
        maps = cast(Tensor, self.reduce(self.layers((x - self.mean) / self.std) - self.centre))
        return torch.cat([maps, colors(x)], 1) if self.with_colors else maps

    @torch.no_grad()
    def fit(self, pictures: Tensor) -> None:
        """Take the main directions of what the layers say of `pictures` (N, S, S, 3), each of variance one."""
        x = pictures.permute(0, 3, 1, 2).to(self.mean.dtype)
        seen = torch.cat([self.layers((part - self.mean) / self.std) for part in x.split(32)])
        rows = seen.permute(0, 2, 3, 1).reshape(-1, STEM_CHANNELS)
        self.centre.copy_(rows.mean(0).view(1, -1, 1, 1))
        variances, directions = torch.linalg.eigh(torch.cov((rows - rows.mean(0)).T))
        kept = self.reduce.out_channels
        weights = directions[:, -kept:].flip(1) / variances[-kept:].flip(0).clamp(min=1e-6).sqrt()
        self.reduce.weight.copy_(weights.T[:, :, None, None])
