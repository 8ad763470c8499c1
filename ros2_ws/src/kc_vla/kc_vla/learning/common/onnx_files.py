"""Networks as ONNX files, and the weights in one that this stack has exported, by the modules that they came from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn

OPSET = 17

Values = Mapping[str, NDArray[np.generic]]


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


def stored_values(graph: onnx.GraphProto) -> Values:
    """Return all constant numbers of a graph by name; those that are stored in 8 or 16 bits as what they stand for."""
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type in ("Identity", "Cast") and node.input[0] in values:
            values[node.output[0]] = values[node.input[0]]
        elif node.op_type == "DequantizeLinear" and node.input[0] in values:
            stored, scale, *zero = (values[name].astype(np.float32) for name in node.input)
            shape = [-1] + [1] * (stored.ndim - 1) if scale.ndim else []  # per channel, the first axis of a weight
            offset = zero[0].reshape(shape) if zero else 0.0
            values[node.output[0]] = (stored - offset) * scale.reshape(shape)
    return values


def module_of(node: str, root: str = "") -> str:
    """Return the module that made a node, as in /resnet/layer1/layer1.0/conv1/Conv: resnet.layer1.0.conv1.

    Args:
        node: its name.
        root: module whose name is left out; of another one's node, the node's own name is returned.
    """
    parts: list[str] = []
    for part in node.split("/")[1:-1]:
        if parts and part.startswith(f"{parts[-1]}."):
            parts.pop()
        parts.append(part)
    if not root:
        return ".".join(parts)
    return ".".join(parts[1:]) if parts[:1] == [root] else node


def as_tensor(values: Values, name: str) -> Tensor:
    """Return one of them as single-precision numbers."""
    return torch.tensor(np.asarray(values[name], np.float32))
