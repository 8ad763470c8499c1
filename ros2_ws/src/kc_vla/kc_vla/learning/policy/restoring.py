"""A policy's model as a run to go on from: released weights learn on where the run that made them is not at hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor, nn

from kc_vla.core.files import digest
from kc_vla.inference.models import find_model, shipped_models
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.common.onnx_files import as_tensor, module_of, stored_values
from kc_vla.learning.common.weights import first_trunk
from kc_vla.learning.policy.config import PolicyConfig, as_dict, policy_config_from
from kc_vla.learning.policy.image_backbone import STEM_STRIDE, ImageBackbone
from kc_vla.learning.policy.matching import COLORS
from kc_vla.learning.policy.networks import Policy, Sizes
from kc_vla.learning.policy.run import CHECKPOINT, SCALE, STEM, PolicyRun
from kc_vla.policy.model import KIND, PolicyModel, load_policy, policy_from

SHIPPED = "policy"
"""Name of the policy that comes with the stack."""


def shipped_eyes(stem: ImageBackbone) -> None:
    """Give a backbone the layers of the policy that comes with the stack. Raises: ModelError, where it is not there."""
    give_layers(stem, onnx.load(str(load_policy(shipped_models(), SHIPPED).stem)).graph)


def restored_run(models: Path, name: str, folder: Path) -> PolicyRun:
    """Make a run in `folder` of a model of the registry in `models`, as if its training had just come to an end.

    Its weights are as exact as the model keeps them: the larger ones in 16 bits, those of an int8 stem in 8.

    Raises:
        ModelError: no such model.
        LearningError: its weights are not those of the networks here, or the folder has another run.
    """
    entry = find_model(models, name, KIND)
    model, config = policy_from(entry), policy_config_from(entry.source.get("training", {}))
    facts = {
        "model": name,
        "files": {role: digest(path.read_bytes()) for role, path in entry.files.items()},
        "instructions": list(model.instructions),
        "views": list(model.views),
        "robot": model.robot,
        "action": model.action.name.lower(),
    }
    with PolicyRun.begun(folder, as_dict(config), facts, {}) as run:
        if run.load(CHECKPOINT) is None:
            try:
                run.save(STEM, {"stem": _stem(model, config).state_dict()})
                run.save(CHECKPOINT, _checkpoint(model, config))
            except (KeyError, RuntimeError, ValueError) as error:
                raise DataError(f"model '{name}' holds other networks than those of this stack: {error}") from error
    return run


def _stem(model: PolicyModel, config: PolicyConfig) -> ImageBackbone:
    stem = ImageBackbone(first_trunk("scratch", []), config.channels, config.colors)
    graph = onnx.load(str(model.stem)).graph
    give_layers(stem, graph)
    values = stored_values(graph)
    convolutions = (node for node in graph.node if node.op_type == "Conv")
    (directions,) = (node.input[1] for node in convolutions if module_of(node.name) == "reduce")
    stem.reduce.weight.data.copy_(as_tensor(values, directions))
    stem.centre.copy_(as_tensor(values, "centre"))
    return stem


@torch.no_grad()
def give_layers(stem: ImageBackbone, graph: onnx.GraphProto) -> None:
    """Give a backbone the layers of a released one, whose batch norms are folded in: its own do nothing.

    Raises:
        KeyError, RuntimeError: the graph is none of such layers.
    """
    values = stored_values(graph)
    folded = {module_of(node.name): node.input for node in graph.node if node.op_type == "Conv"}
    layers = list(stem.layers.named_modules(prefix="layers"))
    convolutions = [(name, layer) for name, layer in layers if isinstance(layer, nn.Conv2d)]
    norms = [layer for _, layer in layers if isinstance(layer, nn.BatchNorm2d)]
    for (name, convolution), norm in zip(convolutions, norms, strict=True):
        _, weight, bias = folded[name]
        convolution.weight.copy_(as_tensor(values, weight))
        norm.reset_parameters()
        norm.weight.fill_((1 + norm.eps) ** 0.5)
        norm.bias.copy_(as_tensor(values, bias))


def _checkpoint(model: PolicyModel, config: PolicyConfig) -> dict[str, Any]:
    chunk, memory = onnx.load(str(model.chunk)).graph, onnx.load(str(model.memory)).graph
    policy = Policy(_sizes(model, config, chunk))
    given = {name: weights.clone() for name, weights in policy.state_dict().items()}
    found = dict(_weights(chunk)) | {f"memory.{name}": weights for name, weights in _weights(memory)}
    if model.condense is not None:
        found |= dict(_weights(onnx.load(str(model.condense)).graph))
    unused = set() if config.structured else {"situation.order"}
    if missing := given.keys() - found.keys() - unused:
        raise ValueError(f"there is no {min(missing)}")
    policy.load_state_dict(given | {name: found[name] for name in given.keys() & found.keys()})
    state = policy.state_dict()
    scale = {part: found[part].tolist() for part in SCALE}
    return {"policy": state, "average": state, "step": config.steps, "sizes": vars(policy.sizes), "scale": scale}


def _weights(graph: onnx.GraphProto) -> Iterator[tuple[str, Tensor]]:
    """Yield all weights by their names.

    The exporter keeps them, but for those of products of matrices and of a clamp.
    """
    values = stored_values(graph)
    for name in values:
        yield name, as_tensor(values, name)
    for node in graph.node:
        given = [name for name in node.input if name in values]
        if node.op_type == "MatMul" and given:
            yield f"{module_of(node.name)}.weight", as_tensor(values, given[0]).T.contiguous()
        elif node.op_type in _CLAMPS and given and node.input[1] == given[0]:
            yield _CLAMPS[node.op_type], as_tensor(values, given[0])


_CLAMPS = {"Max": "lowest", "Min": "highest"}


def _sizes(model: PolicyModel, config: PolicyConfig, chunk: onnx.GraphProto) -> Sizes:
    ends = {
        end.name: [size.dim_value for size in end.type.tensor_type.shape.dim] for end in (*chunk.input, *chunk.output)
    }
    return Sizes(
        map=model.image_size // STEM_STRIDE,
        channels=config.channels + (COLORS if config.colors else 0),
        views=len(model.views),
        slots=model.slots,
        instructions=len(model.instructions),
        state=ends["state"][1],
        action=ends["noise"][2],
        horizon=model.horizon,
        place=ends["place"][1],
        condensed=model.condense is not None,
        structured=config.structured,
        colors=config.colors,
    )
