"""The policy that comes with the stack once more, as one that was taught otherwise: for who goes by how it was."""

from __future__ import annotations

import shutil
from pathlib import Path

from kc_vla.inference.models import find_model, register, shipped_models
from kc_vla.policy.model import KIND


def write_taught_policy(models: Path, name: str, **settings: str) -> None:
    """Write it into a folder of models, with these settings in the registry besides its own."""
    shipped = find_model(shipped_models(), "policy", KIND)
    (models / name).mkdir(parents=True)
    files = {role: f"{name}/{Path(shutil.copy(file, models / name)).name}" for role, file in shipped.files.items()}
    entry = {"kind": KIND, "settings": {**shipped.settings, **settings}, "source": {}, "metrics": {}}
    register(models, name, entry, files)
