"""The backbone: ResNet-18 (He et al., 2016) without its classifier, which takes images as a camera gives them.

The names of its weights are torchvision's, which itself does not import beside a CPU build of torch; only this one
network of it is wanted.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

FEATURES = 512
"""Numbers per image."""


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions beside a short cut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample: nn.Module | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, inputs, H, W) to (N, outputs, H / stride, W / stride)."""
        short = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return cast(Tensor, self.relu(self.bn2(self.conv2(x)) + short))


class ResNet18(nn.Module):
    """Images to feature vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = _layer(64, 64, 1)
        self.layer2 = _layer(64, 128, 2)
        self.layer3 = _layer(128, 256, 2)
        self.layer4 = _layer(256, FEATURES, 2)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, pictures: Tensor) -> Tensor:
        """Map normalized images (N, 3, H, W) to features (N, 512)."""
        return self.maps(pictures).mean(dim=(2, 3))

    def maps(self, pictures: Tensor) -> Tensor:
        """Map normalized images (N, 3, H, W) to features of their parts (N, 512, H / 32, W / 32)."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(pictures))))
        return cast(Tensor, self.layer4(self.layer3(self.layer2(self.layer1(x)))))


def _layer(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    return nn.Sequential(BasicBlock(inputs, outputs, stride), BasicBlock(outputs, outputs, 1))


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
