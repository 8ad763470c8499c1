"""From a finished run to a model in a registry: ONNX files, thresholds by validation episodes, entry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kc_vla.keyframes.learned import SelectorNetwork
from kc_vla.keyframes.model import KIND, SelectorModel
from kc_vla.keyframes.thresholds import best_threshold, f1_curve
from kc_vla.learning.config import config_as_dict
from kc_vla.learning.errors import LearningError
from kc_vla.learning.evaluation import episode_scores, recorded_features
from kc_vla.learning.export import export_head, export_trunk, quantize_trunk
from kc_vla.learning.recordings import TASK_NAMES, Recording, load_recordings
from kc_vla.learning.run import Run
from kc_vla.learning.training import sample_pictures, trained_networks
from kc_vla.models import register
from kc_vla.tasks import TASKS

_CALIBRATION = 256


def release_selector(
    run: Run, train: Path, validation: Path, models: Path, name: str, precision: str
) -> dict[str, tuple[float, float]]:
    """Export the selector of `run` as `name` into the folder `models` and enter it in its registry.

    Args:
        run: finished.
        train: what it was learnt from: its tasks are the model's, its pictures give the ranges of 8-bit numbers.
        validation: data by which the thresholds are chosen, with the exported files.
        models: folder of models.
        name: of the model.
        precision: of the trunk, one of `config.PRECISIONS`.

    Returns:
        For each task its threshold, and the F1 on the validation episodes with it.

    Raises:
        LearningError: the run is not finished, `validation` lacks a task of `train`, or no folder can have the name.
        BagError: an episode cannot be read.
    """
    if not re.fullmatch(r"[\w-]+", name):
        raise LearningError(f"a model cannot be called '{name}': take letters, digits, _ and -")
    config = run.config
    recordings, learnt_from = load_recordings(validation), load_recordings(train)
    learnt = sorted({TASK_NAMES[recording.task] for recording in learnt_from})
    if missing := sorted(set(learnt) - {TASK_NAMES[recording.task] for recording in recordings}):
        raise LearningError(f"{validation} has no episode of {', '.join(missing)}: the thresholds are chosen there")
    trunk, head = trained_networks(run)
    folder = models / name
    folder.mkdir(parents=True, exist_ok=True)
    files = {"trunk": folder / "trunk.onnx", "head": folder / "head.onnx"}
    export_head(head, config.window, files["head"])
    if precision == "int8":
        exact = folder / "trunk.fp32.part"
        export_trunk(trunk, config.image_size, exact)
        pictures = sample_pictures(learnt_from, config.image_size, _CALIBRATION)
        quantize_trunk(exact, pictures, files["trunk"])
        exact.unlink()
    else:
        export_trunk(trunk, config.image_size, files["trunk"])
    model = SelectorModel(
        name=name,
        trunk=files["trunk"],
        head=files["head"],
        image_size=config.image_size,
        window=config.window,
        stride=config.stride,
        tasks=TASK_NAMES,
        keyframes={task: TASKS[task].keyframes for task in learnt},
        thresholds={},
    )
    judged = [recording for recording in recordings if TASK_NAMES[recording.task] in learnt]
    chosen = _choose_thresholds(SelectorNetwork(model, "cpu"), judged)
    model = replace(model, thresholds={task: threshold for task, (threshold, _) in chosen.items()})
    entry = {
        "kind": KIND,
        "settings": {
            "image_size": model.image_size,
            "window": model.window,
            "stride": model.stride,
            "precision": precision,
            "order": list(TASK_NAMES),
            "tasks": {
                task: {"keyframes": list(model.keyframes[task]), "threshold": model.thresholds[task]} for task in learnt
            },
        },
        "source": {"method": run.method, "training": config_as_dict(config)},
        "metrics": {"validation_f1": {task: round(f1, 4) for task, (_, f1) in chosen.items()}},
    }
    register(models, name, entry, {role: str(path.relative_to(models)) for role, path in files.items()})
    return chosen


def _choose_thresholds(network: SelectorNetwork, recordings: Sequence[Recording]) -> dict[str, tuple[float, float]]:
    """Threshold and F1 of each task, of the network as it will run."""
    episodes: dict[str, list[tuple[np.ndarray, tuple[int, ...]]]] = {task: [] for task in TASK_NAMES}
    for recording, features in zip(recordings, recorded_features(network, recordings, "thresholds"), strict=True):
        task = TASK_NAMES[recording.task]
        episodes[task].append((episode_scores(network, features[1.0], task), recording.keyframes))
    return {task: best_threshold(f1_curve(rows, network.model.phases(task))) for task, rows in episodes.items() if rows}
