"""What LeRobot's `config.json` says of an ACT policy, and where the file is that this stack runs of it.

ACT: Zhao et al., "Learning Fine-Grained Bimanual Manipulation with Low-Cost Hardware", 2023. Nothing of LeRobot is
imported; the files are those that LeRobot 0.4 writes with `save_pretrained`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kc_vla.core.untrusted import parsed_json, read_text
from kc_vla.policy.interface import PolicyError

CONFIG, WEIGHTS = "config.json", "model.safetensors"
PREPROCESSOR, POSTPROCESSOR = "policy_preprocessor.json", "policy_postprocessor.json"
EXPORTED = "kc_vla_act.onnx"
"""What `kc-vla export act` makes, beside these."""
ABOUT = "kc_vla_act"
"""Its entry that says what goes in and out."""
STATE, ACTION = "observation.state", "action"
MODES = ("MEAN_STD", "MIN_MAX", "QUANTILES", "QUANTILE10", "IDENTITY")
_KINDS = ("VISUAL", "STATE", "ACTION")
_MOST = {"pixels": 4096, "numbers": 256, "cameras": 16, "chunk": 2000, "width": 8192, "layers": 64}
_PART = "pretrained_model"


@dataclass(frozen=True)
class Network:
    """The sizes of the transformer.

    Attributes:
        dim: numbers of a token.
        heads: of each attention.
        feedforward: numbers in the middle of each feed-forward part.
        activation: "relu" or "gelu".
        encoder_layers, decoder_layers: how many.
        pre_norm: whether a layer begins with its norm.
        latent: numbers of the style variable, all 0 when it acts.
    """

    dim: int
    heads: int
    feedforward: int
    activation: str
    encoder_layers: int
    decoder_layers: int
    pre_norm: bool
    latent: int


@dataclass(frozen=True)
class ActConfig:
    """A policy.

    Attributes:
        cameras: what it sees, by LeRobot's names (`observation.images.<camera>`) in their order: height and width, px.
        state: numbers of the state that is its input; 0: none.
        action: numbers of an action.
        chunk: actions that it gives at once.
        executed: of these, how many LeRobot executes before it asks again.
        ensembling: coefficient of the temporal ensembling that it asks for; None: it does not.
        modes: how each kind of feature (VISUAL, STATE, ACTION) is normalized, of `MODES`.
        network: the sizes of the transformer.
    """

    cameras: Mapping[str, tuple[int, int]]
    state: int
    action: int
    chunk: int
    executed: int
    ensembling: float | None
    modes: Mapping[str, str]
    network: Network


@dataclass(frozen=True)
class ActModelInfo:
    """What the exported file says of itself.

    Attributes:
        cameras: the images that go in, by the names that the robot's data have, in order: height and width, px.
        state: numbers of the state that goes in; 0: none.
        action: numbers of an action.
        chunk, executed, ensembling: as in `ActConfig`.
        digests: SHA-256 of each file that it was made of, by the file's name.
    """

    cameras: Mapping[str, tuple[int, int]]
    state: int
    action: int
    chunk: int
    executed: int
    ensembling: float | None
    digests: Mapping[str, str]

    def text(self) -> str:
        """Return the text of the file."""
        return json.dumps(asdict(self))


def exported_from(text: str) -> ActModelInfo:
    """Return what `ActModelInfo.text` wrote; ValueError for anything else."""
    try:
        row = parsed_json(text)
        row["cameras"] = {str(name): (int(size[0]), int(size[1])) for name, size in row["cameras"].items()}
        return ActModelInfo(**row)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"its entry '{ABOUT}' is damaged ({error!r}): export the model again") from None


def policy_folder(folder: Path) -> Path:
    """Return the folder of the policy's files: the one that is named, or LeRobot's `pretrained_model` in it.

    Raises:
        PolicyError: there is no policy.
    """
    for place in (folder, folder / _PART):
        if (place / CONFIG).is_file():
            return place
    raise PolicyError(
        f"no policy in {folder}: name the folder of LeRobot's {CONFIG}, such as "
        f"outputs/train/<run>/checkpoints/last/{_PART}"
    )


def read_config(folder: Path) -> ActConfig:
    """Return what a folder's `config.json` says.

    Raises:
        PolicyError: it is damaged, of another kind of policy, or asks for what is not known here.
    """
    path = folder / CONFIG
    try:
        content = parsed_json(read_text(path, 1 << 20))
    except (OSError, ValueError) as error:
        raise PolicyError(f"{path} cannot be read: {error}") from error
    kind = content.get("type") if isinstance(content, dict) else None
    if not isinstance(kind, str):
        raise PolicyError(f"{path} names no type of a policy: it is not LeRobot's")
    if kind != "act":
        raise PolicyError(f"{path} is of a '{kind}' policy: of LeRobot's policies this stack runs act, and no other")
    try:
        return _config(content)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        told = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise PolicyError(f"{path} is not understood: {told}") from error


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _config(content: Mapping[str, Any]) -> ActConfig:
    inputs, outputs = content["input_features"], content["output_features"]
    cameras: dict[str, tuple[int, int]] = {}
    state = 0
    for key, feature in inputs.items():
        shape = [_whole({"a size": size}, "a size", "pixels") for size in feature["shape"]]
        if feature["type"] == "VISUAL":
            if len(shape) != 3 or shape[0] != 3:
                raise ValueError(f"the images {key} are {shape}: 3 color channels, height and width are wanted")
            cameras[str(key)] = (shape[1], shape[2])
        elif feature["type"] == "STATE" and key == STATE:
            state = _length(key, shape)
        else:
            raise ValueError(f"it wants {key}, which this stack does not tell a policy")
    if not cameras or len(cameras) > _MOST["cameras"]:
        raise ValueError(f"it looks at {len(cameras)} cameras: 1 to {_MOST['cameras']} are wanted")
    if set(outputs) != {ACTION}:
        raise ValueError(f"it gives {', '.join(outputs) or 'nothing'}: one output '{ACTION}' is wanted")
    if content.get("n_obs_steps", 1) != 1:
        raise ValueError(f"it looks at {content['n_obs_steps']} moments at once: 1 is wanted")
    backbone = content["vision_backbone"]
    if backbone != "resnet18" or content.get("replace_final_stride_with_dilation"):
        raise ValueError(f"its images go through a {backbone}: only a plain resnet18 is known")
    chunk = _whole(content, "chunk_size", "chunk")
    executed = _whole(content, "n_action_steps", "chunk")
    if executed > chunk:
        raise ValueError(f"n_action_steps is {executed}, more than the {chunk} of chunk_size")
    modes = {kind: str(content["normalization_mapping"].get(kind, "IDENTITY")) for kind in _KINDS}
    if unknown := set(modes.values()) - set(MODES):
        raise ValueError(f"the normalisation {', '.join(sorted(unknown))} is not known, only {', '.join(MODES)}")
    ensembling = content.get("temporal_ensemble_coeff")
    return ActConfig(
        cameras=cameras,
        state=state,
        action=_length(ACTION, [_whole({"a size": s}, "a size", "pixels") for s in outputs[ACTION]["shape"]]),
        chunk=chunk,
        executed=executed,
        ensembling=None if ensembling is None else float(ensembling),
        modes=modes,
        network=_network(content),
    )


def _network(content: Mapping[str, Any]) -> Network:
    network = Network(
        dim=_whole(content, "dim_model", "width"),
        heads=_whole(content, "n_heads", "width"),
        feedforward=_whole(content, "dim_feedforward", "width"),
        activation=str(content["feedforward_activation"]),
        encoder_layers=_whole(content, "n_encoder_layers", "layers"),
        decoder_layers=_whole(content, "n_decoder_layers", "layers"),
        pre_norm=bool(content["pre_norm"]),
        latent=_whole(content, "latent_dim", "width"),
    )
    if network.activation not in ("relu", "gelu"):
        raise ValueError(f"the activation {network.activation} is not known, only relu and gelu")
    if network.dim % network.heads or network.dim % 4:
        raise ValueError(f"dim_model is {network.dim}: a multiple of 4 and of the {network.heads} heads is wanted")
    return network


def _length(key: str, shape: list[int]) -> int:
    if len(shape) != 1 or shape[0] > _MOST["numbers"]:
        raise ValueError(f"{key} has the shape {shape}: one row of at most {_MOST['numbers']} numbers is wanted")
    return shape[0]


def _whole(content: Mapping[str, Any], name: str, limit: str) -> int:
    value = content[name]
    if type(value) is not int or not 1 <= value <= _MOST[limit]:
        raise ValueError(f"{name} is {str(value)[:40]}: a whole number from 1 to {_MOST[limit]} is wanted")
    return value
