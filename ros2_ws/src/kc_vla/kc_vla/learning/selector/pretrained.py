"""First weights from a model of a registry: what its ONNX files hold, as networks that can learn on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
import torch
from torch import Tensor

from kc_vla.core.files import copy_whole, digest
from kc_vla.keyframes.cameras import Camera
from kc_vla.keyframes.image_crop import Picture
from kc_vla.keyframes.model import SelectorModel, load_selector
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.common.errors import LearningError
from kc_vla.learning.common.onnx_files import as_tensor, module_of, stored_values
from kc_vla.learning.common.weights import set_folded
from kc_vla.learning.selector.config import INIT_PARTS
from kc_vla.learning.selector.networks import QueryHead


@dataclass(frozen=True)
class Pretrained:
    """A model to begin with.

    Attributes:
        model: of a registry.
        parts: some of `config.INIT_PARTS`.
    """

    model: SelectorModel
    parts: tuple[str, ...]

    def settings(self) -> dict[str, int]:
        """Return the settings under which its weights mean the same as in the model."""
        model = self.model
        size = {"image_size": model.image_size}
        return {**size, "window": model.window, "stride": model.stride} if "head" in self.parts else size

    def keeps_its_trunk(self, cameras: tuple[Camera, ...], size: int) -> bool:
        """Return whether the backbone can stay the file that it is: it sees images of that form and learns nothing."""
        form = len(self.model.cameras), self.model.image_size
        return "trunk" in self.parts and (len(cameras), size) == form

    def kept_trunk(self, place: Path) -> Path:
        """Return the file of the backbone, copied to `place`."""
        copy_whole(self.model.trunk, place)
        return place

    def facts(self) -> dict[str, str]:
        """Return what a run notes of it."""
        files = {"trunk": self.model.trunk, "head": self.model.head}
        digests = {part: digest(files[part].read_bytes()) for part in self.parts}
        return {"init": self.model.name, **{f"init_{part}": digest for part, digest in digests.items()}}

    def trunk(self, pictures: Iterable[Picture]) -> Backbone:
        """Return its backbone, with the weights of an 8-bit one as near as 8 bits come.

        Args:
            pictures: some of what it will learn from, to set the batch norms by; the outputs of the backbone stay.

        Raises:
            LearningError: it is another network than ours.
        """
        graph = onnx.load(str(self.model.trunk)).graph
        values = stored_values(graph)
        folded = {
            module_of(node.name, "resnet"): (as_tensor(values, node.input[1]), as_tensor(values, node.input[2]))
            for node in graph.node
            if node.op_type == "Conv"
        }
        trunk = Backbone()
        try:
            set_folded(trunk, folded, pictures)
        except KeyError as error:
            raise self._other(self.model.trunk) from error
        return trunk

    def give_head(self, head: QueryHead, tasks: Sequence[str]) -> None:
        """Give `head` its weights; tasks and phases that it does not know keep those of chance.

        Args:
            head: for `tasks`, in the order of their embeddings.
            tasks: their names.

        Raises:
            LearningError: it sees another number of frames, or is another network than ours.
        """
        graph = onnx.load(str(self.model.head)).graph
        state, fresh = dict(_head_state(graph)), head.state_dict()
        if set(state) != set(fresh) or len(state["task.weight"]) != len(self.model.tasks):
            raise self._other(self.model.head)
        known, state["task.weight"] = state["task.weight"], fresh["task.weight"].clone()
        for row, task in enumerate(self.model.tasks):
            if task in tasks:
                state["task.weight"][tasks.index(task)] = known[row]
        phases = min(len(state["phase.weight"]), len(fresh["phase.weight"]))
        state["phase.weight"] = torch.cat([state["phase.weight"][:phases], fresh["phase.weight"][phases:]])
        if state["time"].shape != fresh["time"].shape:
            raise LearningError(
                f"the head of model '{self.model.name}' sees {state['time'].shape[1]} frames: "
                f"take --set window={state['time'].shape[1]}, or --init-parts trunk"
            )
        head.load_state_dict(state)

    def _other(self, path: Path) -> LearningError:
        return LearningError(f"{path} holds another network than the selector of this stack: take another --init")


def find_pretrained(models: Path, name: str, parts: str) -> Pretrained:
    """Return the model called `name` in the registry of `models`, of which `parts`, as in `trunk,head`, are taken.

    Raises:
        ModelError: There is no such model.
        LearningError: There are no such parts.
    """
    wanted = tuple(part.strip() for part in parts.split(","))
    if not set(wanted) <= set(INIT_PARTS):
        raise LearningError(f"bad --init-parts '{parts}': choose of {','.join(INIT_PARTS)}")
    return Pretrained(load_selector(models, name), wanted)


def _head_state(graph: onnx.GraphProto) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights of an exported head by their names in `QueryHead`.

    They follow from the nodes that use them: the exporter renames weights, and shares those that are equal.
    """
    values = stored_values(graph)
    for node in graph.node:
        module, given = module_of(node.name, "head"), [name for name in node.input if name in values]
        if node.op_type == "Gemm" or node.op_type == "LayerNormalization":
            yield f"{module}.weight", as_tensor(values, node.input[1])
            yield f"{module}.bias", as_tensor(values, node.input[2])
        elif node.op_type == "MatMul" and given:
            yield f"{module}.weight", as_tensor(values, given[0]).T.contiguous()
        elif node.op_type == "Gather" and node.input[0] in values and module in ("task", "phase"):
            yield f"{module}.weight", as_tensor(values, node.input[0])
        elif node.op_type == "Add" and module and given:
            yield f"{module}.bias", as_tensor(values, given[0])
        elif node.name in _OWN and given:
            yield _OWN[node.name], as_tensor(values, given[0])


_OWN = {"/head/Sub": "mean", "/head/Div": "spread", "/head/Add": "time"}
"""Nodes of the head itself, and the weights that they use."""
