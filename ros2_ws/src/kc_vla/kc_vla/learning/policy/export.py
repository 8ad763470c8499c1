"""A trained policy as ONNX files: what sees, what remembers a keyframe, and what makes a chunk of all it knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kc_vla.learning.common.onnx_files import write_onnx
from kc_vla.learning.common.quantizing import quantize_pictures
from kc_vla.learning.policy.condensing import Condense
from kc_vla.learning.policy.image_backbone import ImageBackbone
from kc_vla.learning.policy.networks import Policy, Sizes, draw_chunks
from kc_vla.policy.numbers import ActionScale

SEES, REMEMBERS, CONDENSES, ACTS = "stem.onnx", "memory.onnx", "condense.onnx", "chunk.onnx"
_LARGE = 1024
"""Numbers of a weight that is kept in 16 bits."""


def export_policy(
    stem: ImageBackbone,
    policy: Policy,
    scale: ActionScale,
    size: int,
    folder: Path,
    shown: Sequence[NDArray[np.uint8]] = (),
) -> None:
    """Write the three files into `folder`, which is there, and a fourth of a policy that condenses keyframes.

    Of the backbone, which takes most of the time of a chunk, the convolutions are in 8 bits where there are images
    `shown`, (V, size, size, 3) each, to take the ranges of its activations from.

    - stem: `pictures` (V, size, size, 3) uint8 to `maps` (V, C, M, M).
    - memory: `maps` (1, V, C, M, M) and `state` (1, S) of a keyframe to `remembered` (1, R).
    - condense: `kept` (1, K, R) of any number of keyframes, oldest first, and `instruction` (1,) int64 to `remembered`
      (1, slots, R) and `present` (1, slots).
    - chunk: `remembered` (1, slots, R), `present` (1, slots), `maps` (1, V, C, M, M), `state` (1, S),
      `instruction` (1,) int64, `noise` (1, H, A), `frozen` (1, H, A) in the actions' own units and `runs` (1, H), see
      `Flow`, to `actions` (1, H, A) in their own units, `place` (1, 8) and `rest` (1,), a probability.
    """
    sizes = policy.sizes
    maps, state = _map_like(sizes), torch.zeros(1, sizes.state)
    pictures = torch.zeros((sizes.views, size, size, 3), dtype=torch.uint8)
    _export(stem, (pictures,), ["pictures"], ["maps"], folder / SEES, halved=not shown)
    if shown:
        quantize_pictures(folder / SEES, shown, folder / SEES)
    _export(policy.memory, (maps, state), ["maps", "state"], ["remembered"], folder / REMEMBERS)
    instruction = torch.zeros(1, dtype=torch.int64)
    if policy.condense is not None:
        kept = torch.zeros(1, sizes.slots + 1, policy.memory.numbers)
        names, outputs = ["kept", "instruction"], ["remembered", "present"]
        write_onnx(
            _Condenses(policy.condense), (kept, instruction), names, outputs, folder / CONDENSES, {"kept": {1: "K"}}
        )
    chunk = torch.zeros(1, sizes.horizon, sizes.action)
    slots = torch.zeros(1, sizes.slots)
    inputs = {
        "remembered": torch.zeros(1, sizes.slots, policy.memory.numbers),
        "present": slots,
        "maps": maps,
        "state": state,
        "instruction": instruction,
        "noise": chunk,
        "frozen": chunk,
        "runs": torch.zeros(1, sizes.horizon),
    }
    outputs = ["actions", "place", "rest"]
    _export(_Acts(policy, scale), tuple(inputs.values()), list(inputs), outputs, folder / ACTS)


class _Condenses(nn.Module):
    """All keyframes that are given are there."""

    def __init__(self, condense: Condense) -> None:
        super().__init__()
        self.condense = condense

    def forward(self, kept: Tensor, instruction: Tensor) -> tuple[Tensor, Tensor]:
        condensed = self.condense(kept, torch.ones_like(kept[..., 0]), instruction)
        return condensed.tokens, condensed.present


class _Acts(nn.Module):
    """What is known to a chunk in the actions' own units."""

    def __init__(self, policy: Policy, scale: ActionScale) -> None:
        super().__init__()
        self.situation, self.flow = policy.situation, policy.flow
        self.register_buffer("mean", torch.tensor(scale.mean))
        self.register_buffer("spread", torch.tensor(scale.spread))
        self.register_buffer("lowest", torch.tensor(scale.lowest))
        self.register_buffer("highest", torch.tensor(scale.highest))

    mean: Tensor
    spread: Tensor
    lowest: Tensor
    highest: Tensor

    def forward(
        self,
        remembered: Tensor,
        present: Tensor,
        maps: Tensor,
        state: Tensor,
        instruction: Tensor,
        noise: Tensor,
        frozen: Tensor,
        runs: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        known = self.situation(remembered, present, maps, state, instruction)
        scaled = (frozen - self.mean) / self.spread * runs[..., None]
        chunk = draw_chunks(self.flow, noise, known.condition, scaled, runs)
        actions = torch.clamp(chunk * self.spread + self.mean, self.lowest, self.highest)
        return torch.where(runs[..., None] > 0, frozen, actions), known.place, torch.sigmoid(known.rest)


def _map_like(sizes: Sizes) -> Tensor:
    return torch.zeros(1, sizes.views, sizes.channels, sizes.map, sizes.map)


def _export(
    network: nn.Module,
    inputs: tuple[Tensor, ...],
    names: Sequence[str],
    outputs: Sequence[str],
    path: Path,
    halved: bool = True,
) -> None:
    write_onnx(network, inputs, names, outputs, path)
    model = onnx.load(str(path))
    if halved:
        _halve(model.graph)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def _halve(graph: onnx.GraphProto) -> None:
    """Keep the larger weights in 16 bits, half the size of the file; the runtime computes with them in 32."""
    casts = []
    for weights in graph.initializer:
        values = onnx.numpy_helper.to_array(weights)
        if values.dtype != np.float32 or values.size < _LARGE:
            continue
        kept = onnx.numpy_helper.from_array(values.astype(np.float16), f"{weights.name}.half")
        casts.append(onnx.helper.make_node("Cast", [kept.name], [weights.name], to=onnx.TensorProto.FLOAT))
        weights.CopyFrom(kept)
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
