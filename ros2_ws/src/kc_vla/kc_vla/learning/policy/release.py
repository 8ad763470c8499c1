"""A trained policy as a model that the stack runs: its files in a folder of models, and its entry in the registry."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.files import copy_whole
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.inference.models import register, require_free
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.policy.config import as_dict
from kc_vla.learning.policy.event_keyframes import EventKeyframes
from kc_vla.learning.policy.export import ACTS, CONDENSES, REMEMBERS, SEES, export_policy
from kc_vla.learning.policy.material import find_material
from kc_vla.learning.policy.run import CHECKPOINT, HOW, PolicyRun, trained_policy
from kc_vla.learning.policy.samples import pictures_of
from kc_vla.policy.model import EVENTS, KIND

_FILES = {"stem": SEES, "memory": REMEMBERS, "condense": CONDENSES, "chunk": ACTS}
_CALIBRATION = 256
"""Images that give the ranges of 8-bit numbers."""


def release_policy(run: PolicyRun, models: Path, name: str, precision: str, replace_it: bool = False) -> int:
    """Add the policy of a run to a folder of models; return the steps that it has learned for.

    Args:
        run: that has come to a checkpoint.
        models: folder; a registry is made where there is none.
        name: of the model there.
        precision: of what looks at the images, one of `config.PRECISIONS`: "int8" takes less than half the time on a
            CPU, and needs the episodes that were learned from.
        replace_it: it may take the place of another model.

    Raises:
        LearningError: the run has no checkpoint yet, or, in 8 bits, what it learned from is not there any more.
        ModelError: no folder can have the name, or there is such a model.
    """
    steps = int(run.need(CHECKPOINT, HOW)["step"])
    require_free(models, name, replace_it)
    stem, policy, scale = trained_policy(run)
    shown = _shown(run) if precision == "int8" else ()
    config, log = run.config, run.read_log()
    models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models, prefix=f".{name}.", suffix=".part") as part:
        export_policy(stem, policy, scale, config.image_size, Path(part), shown)
        (models / name).mkdir(exist_ok=True)
        files = {role: file for role, file in _FILES.items() if (Path(part) / file).exists()}
        for file in files.values():
            copy_whole(Path(part) / file, models / name / file)
    entry = {
        "kind": KIND,
        "settings": {
            "robot": run.robot,
            "action": run.action.name.lower(),
            "views": list(run.views),
            "image_size": config.image_size,
            "precision": precision,
            "slots": policy.sizes.slots,
            "history": config.history,
            "keyframes": config.keyframes,
            "horizon": policy.sizes.horizon,
            "instructions": list(run.instructions),
        },
        "source": {"training": as_dict(config), "steps": steps},
        "metrics": {key: value for key, value in (log[-1] if log else {}).items() if key.endswith(("_m", "_rad"))},
    }
    register(models, name, entry, {role: f"{name}/{file}" for role, file in files.items()})
    return steps


def _shown(run: PolicyRun) -> list[NDArray[np.uint8]]:
    """Return images (V, size, size, 3) of what was learned from."""
    try:
        events = EventKeyframes() if run.config.keyframes == EVENTS else None
        folders = [Path(folder) for folder in run.data["train"]]
        material = find_material(folders, events=events, cameras=run.cameras)
    except (DataError, DataSetError) as error:
        raise DataError(
            f"8 bits need the episodes that {run.folder} was trained on, or --precision fp32: {error}"
        ) from error
    pictures = np.stack(pictures_of(material, run.config.image_size, _CALIBRATION))
    views = len(run.views)
    return list(pictures[: len(pictures) // views * views].reshape(-1, views, *pictures.shape[1:]))
