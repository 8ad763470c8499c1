"""A selector with weights of chance, in a registry of its own: for tests of everything around it."""

from __future__ import annotations

from pathlib import Path

import torch

from kc_vla.keyframes.model import KIND
from kc_vla.learning.export import export_head, export_trunk
from kc_vla.learning.networks import QueryHead, Trunk
from kc_vla.learning.recordings import PHASES, TASK_NAMES
from kc_vla.models import register
from kc_vla.tasks import TASKS

SIZE, WINDOW = 32, 3


def write_chance_model(folder: Path, threshold: float = 0.5) -> Path:
    """Write it into `folder`, and return the folder."""
    torch.manual_seed(0)
    export_trunk(Trunk(), SIZE, folder / "trunk.onnx")
    export_head(QueryHead(len(TASK_NAMES), PHASES, WINDOW), WINDOW, folder / "head.onnx")
    tasks = {task: {"keyframes": list(TASKS[task].keyframes), "threshold": threshold} for task in TASK_NAMES}
    settings = {"image_size": SIZE, "window": WINDOW, "stride": 1, "order": list(TASK_NAMES), "tasks": tasks}
    entry = {"kind": KIND, "settings": settings, "source": {"method": "chance"}, "metrics": {}}
    register(folder, "keyframe_selector", entry, {"trunk": "trunk.onnx", "head": "head.onnx"})
    return folder
