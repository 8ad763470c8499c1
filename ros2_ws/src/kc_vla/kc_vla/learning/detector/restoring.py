"""A detector's model as a run to go on from: released weights learn on where the run that made them is not at hand."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from kc_vla.core.files import digest
from kc_vla.inference.models import find_model
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.common.onnx_files import as_tensor, module_of, stored_values
from kc_vla.learning.detector.config import as_dict, detector_config_from
from kc_vla.learning.detector.networks import DetectorNetwork
from kc_vla.learning.detector.run import BEST, DetectorRun
from kc_vla.perception.detector_model import KIND, detector_from

_ROOT = "network"
"""Name of the network within what is exported."""


def restored_run(models: Path, name: str, folder: Path) -> DetectorRun:
    """Make a run in `folder` of a model of the registry in `models`, as if its training had just come to an end.

    Its batch norms are folded into the convolutions: `is_folded` is true of the run.

    Raises:
        ModelError: no such model.
        LearningError: its weights are not those of the network here, or the folder has another run.
    """
    entry = find_model(models, name, KIND)
    model, config = detector_from(entry), detector_config_from(entry.source.get("training", {}))
    facts = {"model": name, "file": digest(model.network.read_bytes()), "vocabulary": model.vocabulary.as_dict()}
    with DetectorRun.begun(folder, as_dict(config), facts, {}) as run:
        if run.load(BEST) is None:
            network = DetectorNetwork(model.vocabulary, config.size)
            try:
                _give_weights(network, onnx.load(str(model.network)).graph)
            except (KeyError, RuntimeError, ValueError) as error:
                raise DataError(f"model '{name}' holds another network than that of this stack: {error}") from error
            run.save(BEST, {"average": network.state_dict(), "epoch": -1, "step": 0})
    return run


@torch.no_grad()
def _give_weights(network: DetectorNetwork, graph: onnx.GraphProto) -> None:
    """Give a network the weights of an exported one; a batch norm adds what was folded into the convolution before it.

    Raises:
        KeyError, RuntimeError: the graph is of another network.
    """
    values = stored_values(graph)
    folded = {module_of(node.name, _ROOT): node.input for node in graph.node if node.op_type == "Conv"}
    norms = _norms(network)
    for name, layer in network.named_modules():
        if isinstance(layer, nn.Conv2d):
            _, weight, bias = folded[name]
            layer.weight.copy_(as_tensor(values, weight))
            if layer in norms:
                norms[layer].reset_parameters()
                _shift(norms[layer], as_tensor(values, bias))
            elif layer.bias is not None:
                layer.bias.copy_(as_tensor(values, bias))


@torch.no_grad()
def unfold(network: DetectorNetwork, pictures: Tensor, inverse_depth: Tensor) -> None:
    """Give the batch norms of a restored network the statistics of some images, and what undoes them.

    In evaluation it says what it said before. Without this step, training would begin with norms that change all.

    Args:
        network: restored; it is in evaluation mode afterwards.
        pictures: (N, S, S, 3), RGB, 0..255, some of those to train on.
        inverse_depth: (N, S, S), 1/m, of them.
    """
    seen: dict[nn.BatchNorm2d, tuple[Tensor, Tensor]] = {}

    def note(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        assert isinstance(norm, nn.BatchNorm2d)
        seen[norm] = torch.var_mean(inputs[0].float(), dim=(0, 2, 3))

    norms = _norms(network).values()
    hooks = [norm.register_forward_pre_hook(note) for norm in norms]
    try:
        network.eval()(pictures, inverse_depth)
    finally:
        for hook in hooks:
            hook.remove()
    for norm in norms:
        assert norm.running_mean is not None
        assert norm.running_var is not None
        variance, mean = seen[norm]
        shift = norm.bias.clone()
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)
        _shift(norm, shift)


def _shift(norm: nn.BatchNorm2d, shift: Tensor) -> None:
    """Let a norm, with the statistics that it has, add `shift` to what it gets, and do nothing else."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    norm.weight.copy_((norm.running_var + norm.eps).sqrt())
    norm.bias.copy_(norm.running_mean + shift)


def _norms(network: nn.Module) -> Mapping[nn.Module, nn.BatchNorm2d]:
    """Return the batch norm behind each convolution that has one."""
    pairs = (
        pair for parent in network.modules() if isinstance(parent, nn.Sequential) for pair in pairwise(list(parent))
    )
    return {before: after for before, after in pairs if isinstance(after, nn.BatchNorm2d)}
