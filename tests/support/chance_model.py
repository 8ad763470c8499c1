"""A selector with weights of chance, in a registry of its own: for tests of everything around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from kc_vla.core.task_file import tasks_as_dict
from kc_vla.core.tasks import TASKS, Task
from kc_vla.inference.models import register
from kc_vla.keyframes.model import KIND
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.selector.export import export_head, export_trunk
from kc_vla.learning.selector.networks import QueryHead

SIZE, WINDOW = 32, 3


def write_chance_model(
    folder: Path,
    threshold: float = 0.5,
    tasks: Iterable[Task] = TASKS.values(),
    cameras: Sequence[str] = ("third_person",),
) -> Path:
    """Write it into `folder`, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {name: {**row, "threshold": threshold} for name, row in sorted(tasks_as_dict(tasks).items())}
    phases = max(len(row["keyframes"]) for row in rows.values())
    torch.manual_seed(0)
    export_trunk(Backbone(), SIZE, folder / "trunk.onnx", len(cameras))
    export_head(QueryHead(len(rows), phases, WINDOW), WINDOW, folder / "head.onnx")
    settings = {
        "image_size": SIZE,
        "window": WINDOW,
        "stride": 1,
        "cameras": list(cameras),
        "order": list(rows),
        "tasks": rows,
    }
    entry = {"kind": KIND, "settings": settings, "source": {"method": "chance"}, "metrics": {}}
    register(folder, "keyframe_selector", entry, {"trunk": "trunk.onnx", "head": "head.onnx"})
    return folder
