"""ResNet-18 over and over on a given number of threads, until it is interrupted; writes ms a pass as JSON.

The network has its true shape and random weights: only its arithmetic matters here.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import median

import torch
from torch import nn

_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))


class Block(nn.Module):
    """The basic residual block."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        changes = stride != 1 or inputs != outputs
        self.skip = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if changes else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(N, C, H, W) to (N, C', H', W')."""
        return torch.relu(self.body(x) + self.skip(x))


def resnet18() -> nn.Module:
    """Return the network, (N, 3, 224, 224) to (N, 1000)."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    layers.append(nn.MaxPool2d(3, 2, 1))
    inputs = 64
    for outputs, stride in _STAGES:
        layers += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)).eval()


def main() -> None:
    """Load the machine until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="JSON: {'ms': median of a pass}")
    parser.add_argument("--threads", type=int, required=True, help="threads of the network")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    network, image = resnet18(), torch.rand(1, 3, 224, 224)
    passes: list[float] = []
    try:
        with torch.inference_mode():
            while True:
                began = time.perf_counter()
                network(image)
                passes.append(1e3 * (time.perf_counter() - began))
    except KeyboardInterrupt:
        options.output.write_text(json.dumps({"ms": median(passes), "passes": len(passes)}))


if __name__ == "__main__":
    main()
