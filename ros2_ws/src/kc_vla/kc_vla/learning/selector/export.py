"""Backbone and head as ONNX files: uint8 images in, the normalization in the graph."""

from __future__ import annotations

from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from kc_vla.learning.common.backbone import FEATURES, Backbone
from kc_vla.learning.common.onnx_files import write_onnx
from kc_vla.learning.selector.networks import QueryHead


class _Scores(nn.Module):
    """A head that says 0..1."""

    def __init__(self, head: QueryHead) -> None:
        super().__init__()
        self.head = head

    def forward(self, features: Tensor, task: Tensor, phase: Tensor) -> Tensor:
        return torch.sigmoid(self.head(features, task, phase))


def export_trunk(trunk: Backbone, size: int, path: Path, views: int = 1) -> None:
    """Write `trunk` for images (N, size, views size, 3), uint8, to features (N, 512), float32."""
    pictures = torch.zeros((2, size, views * size, 3), dtype=torch.uint8)
    _export(trunk, (pictures,), ["pictures"], ["features"], path)


def export_head(head: QueryHead, window: int, path: Path) -> None:
    """Write `head` for features (N, window, 512), task (N,), phase (N,) to scores (N,)."""
    index = torch.zeros(2, dtype=torch.int64)
    inputs = (torch.zeros((2, window, FEATURES)), index, index)
    _export(_Scores(head), inputs, ["features", "task", "phase"], ["scores"], path)


def _export(network: nn.Module, inputs: tuple[Tensor, ...], names: list[str], outputs: list[str], path: Path) -> None:
    """Write `network`, with a free number of samples."""
    write_onnx(network, inputs, names, outputs, path, {name: {0: "n"} for name in (*names, *outputs)})
    onnx.checker.check_model(str(path))
