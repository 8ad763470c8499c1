"""A trained policy as a model that the stack runs: its files in a folder of models, and its entry in the registry."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kc_vla.core.files import copy_whole
from kc_vla.inference.models import register, require_free
from kc_vla.learning.policy.config import as_dict
from kc_vla.learning.policy.export import ACTS, REMEMBERS, SEES, export_policy
from kc_vla.learning.policy.run import PolicyRun, trained_policy
from kc_vla.policy.model import KIND

_FILES = {"stem": SEES, "memory": REMEMBERS, "chunk": ACTS}


def release_policy(run: PolicyRun, models: Path, name: str, replace_it: bool = False) -> None:
    """Add the policy of a run to a folder of models.

    Args:
        run: that has come to a checkpoint.
        models: folder; a registry is made where there is none.
        name: of the model there.
        replace_it: it may take the place of another model.

    Raises:
        LearningError: the run has no checkpoint yet.
        ModelError: no folder can have the name, or there is such a model.
    """
    require_free(models, name, replace_it)
    stem, policy, scale = trained_policy(run)
    config, log = run.config, run.read_log()
    models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models, prefix=f".{name}.", suffix=".part") as part:
        export_policy(stem, policy, scale, config.image_size, Path(part))
        (models / name).mkdir(exist_ok=True)
        for file in _FILES.values():
            copy_whole(Path(part) / file, models / name / file)
    entry = {
        "kind": KIND,
        "settings": {
            "robot": run.robot,
            "action": run.action.name.lower(),
            "views": list(run.views),
            "image_size": config.image_size,
            "slots": policy.sizes.slots,
            "horizon": policy.sizes.horizon,
            "instructions": list(run.instructions),
        },
        "source": {"training": as_dict(config)},
        "metrics": {key: value for key, value in (log[-1] if log else {}).items() if key.endswith(("_m", "_rad"))},
    }
    register(models, name, entry, {role: f"{name}/{file}" for role, file in _FILES.items()})
