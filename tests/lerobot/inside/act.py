"""Runs in LeRobot's environment: what LeRobot itself makes of ACT policies. `act.py answer FOLDER IN.npz OUT.npz`, or
`act.py make FOLDER`, which saves one with random weights as LeRobot does after training.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from lerobot.configs.types import FeatureType, NormalizationMode, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.factory import make_pre_post_processors
from lerobot.policies.utils import prepare_observation_for_inference


def answer(folder: str, given: str, output: str) -> None:
    """Chunks for each observation in a file, an entry `<number>/<key>` for each of its features."""
    policy = ACTPolicy.from_pretrained(folder)
    policy.eval()
    before, after = make_pre_post_processors(policy.config, folder)
    entries = np.load(given)
    chunks = []
    for number in sorted({name.partition("/")[0] for name in entries.files}):
        seen = {name.partition("/")[2]: entries[name] for name in entries.files if name.startswith(f"{number}/")}
        with torch.inference_mode():
            batch = before(prepare_observation_for_inference(seen, torch.device("cpu")))
            chunk = policy.predict_action_chunk(batch)[0]
            chunks.append(np.stack([after(row[None])[0].numpy() for row in chunk]))
    np.savez(output, chunks=np.array(chunks))


def make(folder: str) -> None:
    """A policy of two cameras with the variational part, with weights by chance and statistics of a data set."""
    torch.manual_seed(1)
    inputs = {
        "observation.images.wrist": PolicyFeature(FeatureType.VISUAL, (3, 64, 64)),
        "observation.images.third_person": PolicyFeature(FeatureType.VISUAL, (3, 64, 96)),
        "observation.state": PolicyFeature(FeatureType.STATE, (7,)),
    }
    outputs = {"action": PolicyFeature(FeatureType.ACTION, (7,))}
    modes = {
        "VISUAL": NormalizationMode.MEAN_STD,
        "STATE": NormalizationMode.MEAN_STD,
        "ACTION": NormalizationMode.MIN_MAX,
    }
    config = ACTConfig(
        input_features=inputs,
        output_features=outputs,
        normalization_mapping=modes,
        device="cpu",
        chunk_size=16,
        n_action_steps=8,
        dim_model=64,
        n_heads=4,
        dim_feedforward=128,
        n_encoder_layers=2,
        n_vae_encoder_layers=2,
        pretrained_backbone_weights=None,
    )
    stats = {}
    for key, feature in {**inputs, **outputs}.items():
        size = (feature.shape[0], 1, 1) if len(feature.shape) == 3 else feature.shape
        low, width = torch.rand(size) - 0.5, torch.rand(size) + 0.2
        stats[key] = {"min": low, "max": low + width, "mean": low + width / 2, "std": width / 4}
    policy = ACTPolicy(config)
    policy.save_pretrained(folder)
    for processor in make_pre_post_processors(config, dataset_stats=stats):
        processor.save_pretrained(folder)
    assert Path(folder, "model.safetensors").exists()


if __name__ == "__main__":
    {"answer": answer, "make": make}[sys.argv[1]](*sys.argv[2:])
