"""An ACT policy of LeRobot's as one ONNX file beside its own, with its normalization and what is known of it inside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor

from kc_vla.core.files import replacing
from kc_vla.inference.onnx_sessions import open_session
from kc_vla.learning.act.checkpoint import ActCheckpoint, read_checkpoint
from kc_vla.learning.act.network import ActingPolicy
from kc_vla.learning.common.onnx_files import write_onnx
from kc_vla.policy.act import ABOUT, EXPORTED, ActModelInfo, digest, policy_folder
from kc_vla.policy.interface import PolicyError

_AGREES = 1e-4
"""Share of an action's size by which the file's output may differ from the network's."""


def export_act(folder: Path) -> tuple[Path, ActModelInfo]:
    """Write `EXPORTED` into the folder of a policy, in place of one from before; return it and what it says.

    It takes `picture0`, ... (H, W, 3) uint8 RGB of each camera in order and, if the policy takes one, `state` (S,)
    float32, and gives `actions` (H, A) float32, all as the robot has them.

    Raises:
        PolicyError: a file is missing or damaged, or asks for what is not known here.
    """
    folder = policy_folder(folder)
    policy = read_checkpoint(folder)
    network = ActingPolicy(policy).eval()
    config = policy.config
    about = ActModelInfo(
        cameras={policy.sources[key]: size for key, size in config.cameras.items()},
        state=config.state,
        action=config.action,
        chunk=config.chunk,
        executed=config.executed,
        ensembling=config.ensembling,
        digests={name: digest(folder / name) for name in policy.files},
    )
    given = _some(policy)
    with torch.no_grad(), replacing(folder / EXPORTED) as part:
        write_onnx(network, tuple(given.values()), list(given), ["actions"], part)
        model = onnx.load(str(part))
        onnx.helper.set_model_props(model, {ABOUT: about.text()})
        onnx.save(model, str(part))
        wanted = network(*given.values()).numpy()
        session = open_session(part, "cpu")
        found = session.run(None, {name: values.numpy() for name, values in given.items()})[0]
        if not np.allclose(found, wanted, atol=_AGREES * max(1.0, float(np.abs(wanted).max()))):
            raise PolicyError(f"{folder}: its export is off by {np.abs(found - wanted).max():.2g}: it is not kept")
    return folder / EXPORTED, about


def _some(policy: ActCheckpoint) -> dict[str, Tensor]:
    """Return images and a state to try it with."""
    chance = np.random.default_rng(0)
    given = {
        f"picture{number}": torch.from_numpy(chance.integers(0, 256, (*size, 3), np.uint8))
        for number, size in enumerate(policy.config.cameras.values())
    }
    if size := policy.config.state:
        given["state"] = torch.zeros(size)
    return given
