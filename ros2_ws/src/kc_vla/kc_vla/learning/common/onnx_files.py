"""Networks as ONNX files."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

OPSET = 17


def write_onnx(
    network: nn.Module,
    inputs: tuple[Tensor, ...],
    names: Sequence[str],
    outputs: Sequence[str],
    path: Path,
    dynamic_axes: Mapping[str, Mapping[int, str]] | None = None,
) -> None:
    """Write `network`, in evaluation mode, as it runs on `inputs`.

    The exporter of plain TorchScript folds batch norms into convolutions and needs no further package.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", torch.jit.TracerWarning)  # type: ignore[attr-defined]
        torch.onnx.export(
            network.cpu().eval(),
            inputs,
            str(path),
            input_names=list(names),
            output_names=list(outputs),
            dynamic_axes=dynamic_axes,
            opset_version=OPSET,
            dynamo=False,
        )
