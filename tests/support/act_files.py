"""ACT policies in LeRobot's files, small and with weights that follow from their names: made anew, always the same."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

PIPER_LIKE = {
    "inputs": {
        "observation.state": ("STATE", [7]),
        "observation.images.top": ("VISUAL", [3, 96, 128]),
        "observation.images.wrist": ("VISUAL", [3, 64, 64]),
    },
    "modes": {"VISUAL": "MEAN_STD", "STATE": "MEAN_STD", "ACTION": "MEAN_STD"},
    "chunk_size": 20,
    "n_action_steps": 12,
}
"""Joints in, joints out, two cameras."""
PANDA_LIKE = {
    "inputs": {"observation.images.image": ("VISUAL", [3, 64, 64]), "observation.state": ("STATE", [8])},
    "modes": {"VISUAL": "IDENTITY", "STATE": "MIN_MAX", "ACTION": "MIN_MAX"},
    "chunk_size": 10,
    "n_action_steps": 1,
    "temporal_ensemble_coeff": 0.01,
    "pre_norm": True,
    "feedforward_activation": "gelu",
    "n_decoder_layers": 2,
}
"""Tool pose in, tool deltas out, one camera; its last state never changed where it was learnt."""
STATELESS = {
    "inputs": {"observation.images.cam0": ("VISUAL", [3, 64, 96])},
    "modes": {"VISUAL": "MEAN_STD", "ACTION": "QUANTILES"},
    "chunk_size": 8,
    "n_action_steps": 8,
    "renamed": {"observation.images.third_person": "observation.images.cam0"},
    "without": ["observation.images.cam0"],
}
"""No state, no statistics of the pictures, a camera that its data call otherwise."""
VARIANTS = {"piper_like": PIPER_LIKE, "panda_like": PANDA_LIKE, "stateless": STATELESS}
_OWN = ("inputs", "modes", "renamed", "without")


def write_act(folder: Path, variant: Mapping[str, Any], kind: str = "act") -> Path:
    """Write the files of a policy; return the folder."""
    from kc_vla.learning.act.network import Act
    from kc_vla.policy.act import read_config

    folder.mkdir(parents=True, exist_ok=True)
    features = {key: {"type": what, "shape": shape} for key, (what, shape) in variant["inputs"].items()}
    actions = {"action": {"type": "ACTION", "shape": [7]}}
    config = {
        "type": kind,
        "n_obs_steps": 1,
        "input_features": features,
        "output_features": actions,
        "device": "cpu",
        "use_amp": False,
        "normalization_mapping": variant["modes"],
        "vision_backbone": "resnet18",
        "pretrained_backbone_weights": None,
        "replace_final_stride_with_dilation": False,
        "pre_norm": False,
        "dim_model": 32,
        "n_heads": 4,
        "dim_feedforward": 48,
        "feedforward_activation": "relu",
        "n_encoder_layers": 2,
        "n_decoder_layers": 1,
        "use_vae": False,
        "latent_dim": 8,
        "temporal_ensemble_coeff": None,
        **{key: value for key, value in variant.items() if key not in _OWN},
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    if kind == "act":
        shapes = {name: tuple(values.shape) for name, values in Act(read_config(folder)).state_dict().items()}
        weights = {f"model.{name}": weight(name, shape) for name, shape in shapes.items() if "num_batches" not in name}
        save_file(weights, folder / "model.safetensors")
    stats = {
        f"{key}.{statistic}": values
        for key, feature in {**features, **actions}.items()
        if key not in variant.get("without", ())
        for statistic, values in statistics(key, feature["shape"]).items()
    }
    normalised = {"eps": 1e-8, "features": {**features, **actions}, "norm_map": variant["modes"]}
    _processor(
        folder,
        "policy_preprocessor",
        [
            ("rename_observations_processor", {"rename_map": variant.get("renamed", {})}),
            ("to_batch_processor", {}),
            ("device_processor", {"device": "cpu", "float_dtype": None}),
            ("normalizer_processor", normalised),
        ],
        stats,
    )
    back = {**normalised, "features": actions}
    _processor(
        folder,
        "policy_postprocessor",
        [("unnormalizer_processor", back), ("device_processor", {"device": "cpu"})],
        stats,
    )
    return folder


def weight(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """A weight that follows from its name, of a size that lets what goes through it stay about as large."""
    chance = np.random.default_rng(zlib.crc32(name.encode())).random(shape, np.float32)
    if name.endswith("running_var"):
        return 0.5 + chance
    if len(shape) == 1:
        return (chance - 0.5) * 0.2 + (1.0 if name.endswith("weight") else 0.0)
    inputs = int(np.prod(shape[1:]))
    return ((chance - 0.5) * np.float32(3.4 / inputs**0.5)).astype(np.float32)


def statistics(key: str, shape: list[int]) -> dict[str, np.ndarray]:
    """Of a feature, as LeRobot counts them; the last number of a state is always the same."""
    size = [shape[0], 1, 1] if len(shape) == 3 else shape
    chance = np.random.default_rng(zlib.crc32(key.encode())).random((2, *size), np.float32)
    low, width = chance[0] - 0.5, chance[1] + 0.1
    if key == "observation.state":
        width[-1] = 0.0
    parts = {"min": 0.0, "q01": 0.01, "q10": 0.1, "mean": 0.5, "q90": 0.9, "q99": 0.99, "max": 1.0}
    return {name: low + part * width for name, part in parts.items()} | {"std": width / 4}


def seen(variant: Mapping[str, Any], number: int) -> dict[str, np.ndarray]:
    """What a robot sees and feels, by the names of its data: pictures (H, W, 3) uint8, state (S,) float32."""
    chance = np.random.default_rng(number)
    old = {new: old for old, new in variant.get("renamed", {}).items()}
    given: dict[str, np.ndarray] = {"observation.state": np.zeros(7, np.float32)}  # LeRobot wants one, told or not
    for key, (kind, shape) in variant["inputs"].items():
        if kind == "VISUAL":
            given[old.get(key, key)] = chance.integers(0, 256, (shape[1], shape[2], 3), np.uint8)
        else:
            given[key] = chance.random(shape[0], np.float32) - np.float32(0.5)
            given[key][-1] = statistics(key, shape)["min"][-1]
    return given


def _processor(folder: Path, name: str, steps: list[tuple[str, dict[str, Any]]], stats: dict[str, np.ndarray]) -> None:
    rows = []
    for number, (step, config) in enumerate(steps):
        row: dict[str, Any] = {"registry_name": step, "config": config}
        if "normalizer" in step:
            row["state_file"] = f"{name}_step_{number}_{step}.safetensors"
            save_file(stats, folder / row["state_file"])
        rows.append(row)
    (folder / f"{name}.json").write_text(json.dumps({"name": name, "steps": rows}, indent=2))
