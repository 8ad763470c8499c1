"""The backbone: a ResNet-18 that takes images as a camera gives them."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from kc_vla.learning.common.resnet import ResNet18

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class Backbone(nn.Module):
    """E_theta: images as a camera gives them to feature vectors."""

    mean: Tensor
    std: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.resnet = ResNet18()
        self.register_buffer("mean", 255 * torch.tensor(IMAGENET_MEAN).view(1, 3, 1, 1), persistent=False)
        self.register_buffer("std", 255 * torch.tensor(IMAGENET_STD).view(1, 3, 1, 1), persistent=False)

    def forward(self, pictures: Tensor) -> Tensor:
        """Map images (N, H, W, 3) RGB, 0..255, uint8 or float, to features (N, 512)."""
        x = pictures.permute(0, 3, 1, 2).to(self.mean.dtype)
        return cast(Tensor, self.resnet((x - self.mean) / self.std))
