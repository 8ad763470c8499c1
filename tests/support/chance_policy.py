"""A policy with weights of chance, as large as a trained one, in a registry of its own: for what is around it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from kc_vla.core.tasks import TASKS
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.inference.models import register
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.policy.config import PolicyConfig
from kc_vla.learning.policy.export import ACTS, CONDENSES, REMEMBERS, SEES, export_policy
from kc_vla.learning.policy.image_backbone import STEM_STRIDE, ImageBackbone
from kc_vla.learning.policy.networks import Policy, Sizes
from kc_vla.policy.model import KIND
from kc_vla.policy.numbers import ActionScale


def write_chance_policy(folder: Path, shown: Sequence[NDArray[np.uint8]] = (), condensed: bool = False) -> Path:
    """Write it into `folder`, and return the folder. It moves the simulated Panda, slowly.

    Args:
        folder: of models; made if it is not there.
        shown: see `export_policy`.
        condensed: it makes 8 tokens of all keyframes.
    """
    config, instructions = PolicyConfig(), [task.instruction for task in TASKS.values()]
    sizes = Sizes(
        map=config.image_size // STEM_STRIDE,
        channels=config.channels,
        views=len(DEFAULT_VIEWS),
        slots=8 if condensed else config.slots,
        instructions=len(instructions),
        state=10,
        action=7,
        horizon=16,
        condensed=condensed,
    )
    torch.manual_seed(0)
    stem, policy = ImageBackbone(Backbone(), config.channels).eval(), Policy(sizes).eval()
    scale = ActionScale((0.0,) * 6 + (0.5,), (1e-3,) * 6 + (0.5,), (-1e-3,) * 6 + (0.0,), (1e-3,) * 6 + (1.0,))
    folder.mkdir(parents=True, exist_ok=True)
    export_policy(stem, policy, scale, config.image_size, folder, shown)
    settings = {
        "robot": "panda_sim",
        "action": "tool_delta",
        "views": list(DEFAULT_VIEWS),
        "image_size": config.image_size,
        "slots": sizes.slots,
        "horizon": sizes.horizon,
        "instructions": instructions,
    }
    entry = {"kind": KIND, "settings": settings, "source": {"method": "chance"}, "metrics": {}}
    condense = {"condense": CONDENSES} if condensed else {}
    register(folder, "policy", entry, {"stem": SEES, "memory": REMEMBERS, **condense, "chunk": ACTS})
    return folder
