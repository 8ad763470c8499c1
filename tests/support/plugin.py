"""Another package on the path, with entry points as its installation would leave them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest


def install(
    folder: Path, patch: pytest.MonkeyPatch, group: str, rows: Mapping[str, str], package: str = "elsewhere"
) -> None:
    """Write the metadata of a package into a folder, and put that on the path, that of processes to come too.

    Args:
        folder: which may have the package's modules, too.
        patch: undoes it.
        group: of the entry points.
        rows: "module:attribute" by name.
        package: its name.
    """
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = "\n".join(f"{name} = {value}" for name, value in rows.items())
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{lines}\n")
    patch.syspath_prepend(str(folder))
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH")))))
