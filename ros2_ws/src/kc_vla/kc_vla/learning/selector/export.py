"""Trunk and head as ONNX files: uint8 pictures in, the normalisation in the graph; the trunk also in 8 bits."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import Tensor, nn

from kc_vla.keyframes.pictures import Picture
from kc_vla.learning.common.onnx_files import write_onnx
from kc_vla.learning.common.resnet import FEATURES
from kc_vla.learning.common.trunk import Trunk
from kc_vla.learning.selector.networks import QueryHead


class _Scores(nn.Module):
    """A head that says 0..1."""

    def __init__(self, head: QueryHead) -> None:
        super().__init__()
        self.head = head

    def forward(self, features: Tensor, task: Tensor, phase: Tensor) -> Tensor:
        return torch.sigmoid(self.head(features, task, phase))


def export_trunk(trunk: Trunk, size: int, path: Path, views: int = 1) -> None:
    """Write `trunk` for pictures (N, size, views size, 3), uint8, to features (N, 512), float32."""
    pictures = torch.zeros((2, size, views * size, 3), dtype=torch.uint8)
    _export(trunk, (pictures,), ["pictures"], ["features"], path)


def export_head(head: QueryHead, window: int, path: Path) -> None:
    """Write `head` for features (N, window, 512), task (N,), phase (N,) to scores (N,)."""
    index = torch.zeros(2, dtype=torch.int64)
    inputs = (torch.zeros((2, window, FEATURES)), index, index)
    _export(_Scores(head), inputs, ["features", "task", "phase"], ["scores"], path)


def quantize_trunk(path: Path, pictures: Sequence[Picture], output: Path) -> None:
    """Write the trunk at `path` with 8-bit convolutions: activations unsigned, weights signed and per channel.

    Args:
        path: of `export_trunk`.
        pictures: (size, views size, 3) training pictures from which the ranges of the activations are taken.
        output: file to write.
    """
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "trunk.onnx"
        quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
        quantize_static(
            str(prepared),
            str(output),
            _Reader(pictures),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["Conv", "Add", "MaxPool", "Relu"],
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )


class _Reader(CalibrationDataReader):  # type: ignore[misc]
    """Hands pictures to the calibration, one by one."""

    def __init__(self, pictures: Sequence[Picture]) -> None:
        self._rest = iter(pictures)

    def get_next(self) -> dict[str, NDArray[np.uint8]] | None:
        picture = next(self._rest, None)
        return None if picture is None else {"pictures": picture[None]}


def _export(network: nn.Module, inputs: tuple[Tensor, ...], names: list[str], outputs: list[str], path: Path) -> None:
    """Write `network`, with a free number of samples."""
    write_onnx(network, inputs, names, outputs, path, {name: {0: "n"} for name in (*names, *outputs)})
    onnx.checker.check_model(str(path))
