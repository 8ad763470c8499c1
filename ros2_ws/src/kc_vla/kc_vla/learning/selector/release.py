"""From a finished run to a model in a registry: ONNX files, thresholds by validation episodes, entry."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core.files import copy_whole
from kc_vla.core.task_file import tasks_as_dict
from kc_vla.inference.models import register, require_free
from kc_vla.keyframes.learned import SelectorNetwork
from kc_vla.keyframes.model import KIND, SelectorModel
from kc_vla.keyframes.thresholds import best_threshold
from kc_vla.learning.common.errors import LearningError
from kc_vla.learning.common.quantizing import is_quantized, quantize_pictures
from kc_vla.learning.selector.config import config_as_dict
from kc_vla.learning.selector.evaluation import scores_by_task
from kc_vla.learning.selector.export import export_head, export_trunk
from kc_vla.learning.selector.recordings import LabeledEpisode, common_rate, learnt_tasks, load_recordings
from kc_vla.learning.selector.run import SelectorRun
from kc_vla.learning.selector.training import sample_pictures, trained_head, trained_trunk

_CALIBRATION = 256
"""Training images that give the ranges of 8-bit numbers."""
Chosen = Mapping[str, tuple[float, float]]
"""For each task a threshold, and the F1 on the validation episodes with it."""


@dataclass(frozen=True)
class Released:
    """What became of a run.

    Attributes:
        chosen: see there.
        precision: of the backbone, "int8" or "fp32".
        remark: what a person should know of it; mostly empty.
    """

    chosen: Chosen
    precision: str
    remark: str = ""


def release_selector(
    run: SelectorRun,
    train: Sequence[Path],
    validation: Sequence[Path],
    models: Path,
    name: str,
    precision: str,
    replace_it: bool = False,
) -> Released:
    """Export the selector of `run` as `name` into the folder `models` and enter it in its registry.

    Args:
        run: finished.
        train: what it was learned from: its tasks are the model's, its images give the ranges of 8-bit numbers.
        validation: data by which the thresholds, and if need be the precision, are chosen, with the exported files.
        models: folder of models.
        name: of the model.
        precision: of the backbone, one of `config.PRECISIONS`.
        replace_it: it may take the place of another model.

    Raises:
        LearningError: the run is not finished, or `validation` lacks a task of `train`.
        ModelError: no folder can have the name, or there is such a model.
        BagError: an episode cannot be read.
    """
    require_free(models, name, replace_it)
    config = run.config
    recordings, learnt_from = (load_recordings(data, run.tasks, run.cameras) for data in (validation, train))
    learnt = [task for name, task in learnt_tasks(learnt_from).items() if name in run.tasks]
    if missing := sorted({task.name for task in learnt} - learnt_tasks(recordings).keys()):
        raise LearningError(
            f"{', '.join(map(str, validation))} has no episode of {', '.join(missing)}: the thresholds are chosen there"
        )
    judged = [recording for recording in recordings if recording.task in learnt]
    head = trained_head(run)
    models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models, prefix=f".{name}.", suffix=".part") as part:
        head_file = Path(part) / "head.onnx"
        export_head(head, config.window, head_file)
        made = _trunks(run, learnt_from, precision, Path(part))
        model = SelectorModel(
            name=name,
            trunk=next(iter(made.values())),
            head=head_file,
            image_size=config.image_size,
            window=config.window,
            stride=config.stride,
            tasks=tuple(run.tasks),
            keyframes={task.name: task.keyframes for task in learnt},
            thresholds={},
            instructions={task.name: task.instructions for task in learnt},
            cameras=run.cameras,
        )
        released = _choose(model, made, judged, config.speeds)
        folder = models / name
        folder.mkdir(exist_ok=True)
        files = {"trunk": made[released.precision], "head": head_file}
        for role, file in files.items():
            copy_whole(file, folder / f"{role}.onnx")
    thresholds = {task: threshold for task, (threshold, _) in released.chosen.items()}
    entry = {
        "kind": KIND,
        "settings": {
            "image_size": model.image_size,
            "window": model.window,
            "stride": model.stride,
            "precision": released.precision,
            "cameras": [str(camera) for camera in model.cameras],
            "rate": common_rate(learnt_from),
            "order": list(model.tasks),
            "tasks": {name: {**row, "threshold": thresholds[name]} for name, row in tasks_as_dict(learnt).items()},
        },
        "source": _source(run),
        "metrics": {"validation_f1": {task: round(f1, 4) for task, (_, f1) in released.chosen.items()}},
    }
    register(models, name, entry, {role: f"{name}/{role}.onnx" for role in files})
    return released


def _source(run: SelectorRun) -> dict[str, Any]:
    """Return how it was made; the model that it began with, if any, by the digests of its files."""
    begun = {key: value for key, value in run.data.items() if key.startswith("init")}
    training = config_as_dict(run.config)
    if "init_trunk" in begun:
        del training["init"]  # what it says was not taken
    return {"method": run.method, **begun, "training": training}


def _trunks(run: SelectorRun, learnt_from: Sequence[LabeledEpisode], precision: str, folder: Path) -> dict[str, Path]:
    """Return the file of the backbone in each precision that comes into question."""
    made = {each: folder / f"{each}.onnx" for each in ("int8", "fp32")}
    if run.frozen_trunk.exists():
        own = "int8" if is_quantized(run.frozen_trunk) else "fp32"
        if precision in ("auto", own):  # the head has learnt with it as it is
            return {own: run.frozen_trunk}
        if own == "int8":
            raise LearningError(f"{run.folder} has kept the backbone of a model, which is int8: leave out --precision")
        made["fp32"] = run.frozen_trunk
    else:
        export_trunk(trained_trunk(run), run.config.image_size, made["fp32"], len(run.cameras))
    if precision != "fp32":
        shown = sample_pictures(learnt_from, run.config.image_size, _CALIBRATION)
        quantize_pictures(made["fp32"], [picture[None] for picture in shown], made["int8"])
    return made if precision == "auto" else {precision: made[precision]}


def _choose(
    model: SelectorModel, made: Mapping[str, Path], recordings: Sequence[LabeledEpisode], speeds: Sequence[float]
) -> Released:
    """Return the thresholds, and of several precisions the smaller one unless it finds less on `recordings`."""
    chosen = {p: _choose_thresholds(replace(model, trunk=file), recordings, p, speeds) for p, file in made.items()}
    if len(chosen) == 1:
        ((precision, only),) = chosen.items()
        return Released(only, precision)
    exact, small = (float(np.mean([f1 for _, f1 in chosen[p].values()])) for p in ("fp32", "int8"))
    if small < exact - 1e-9:
        lost = f"F1 on the validation episodes {100 * small:.1f} % in 8 bits, {100 * exact:.1f} % in float32"
        return Released(chosen["fp32"], "fp32", f"{lost}: the trunk stays in float32, which is slower on a CPU")
    return Released(chosen["int8"], "int8")


def _choose_thresholds(
    model: SelectorModel, recordings: Sequence[LabeledEpisode], precision: str, speeds: Sequence[float]
) -> Chosen:
    """Return the threshold and F1 of each task, of the network as it will run, at all `speeds` together."""
    rows = scores_by_task(SelectorNetwork(model, "cpu"), recordings, f"thresholds, {precision}", speeds)
    return {task: best_threshold(rows[task], model.phases(task)) for task in sorted(rows)}
