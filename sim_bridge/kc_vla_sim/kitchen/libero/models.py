"""The models of LIBERO that a kitchen uses, and their light copies in the user's cache."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from tqdm import tqdm

from kc_vla.core.home import cache_home
from kc_vla_sim.errors import AssetsError
from kc_vla_sim.kitchen.bodies import Part, Skin
from kc_vla_sim.kitchen.libero.baking import CREASE_ANGLE, bake
from kc_vla_sim.kitchen.libero.mjcf import Visual, read_model
from kc_vla_sim.kitchen.libero.source import assets_folder
from kc_vla_sim.kitchen.libero.surface import POINTS, surface_of
from kc_vla_sim.kitchen.meshes import Mesh

FIXED = ""
"""Key of the piece of a model that does not move."""
_HANDLE = "handle"
_RECIPE = f"1 {POINTS} {CREASE_ANGLE:.4f}"
"""How light copies are made: another one is another file."""
_WHITE = (1.0, 1.0, 1.0)

Pieces = Mapping[str, Part]
"""Parts of a model by the name of the body that moves them, `FIXED`, and those with a handle of their own that."""


@dataclass(frozen=True)
class LiberoModel:
    """A model, and how it is copied.

    Attributes:
        file: below the folder of the assets.
        turn: about x, then y, then z, degrees: after it z is up, and furniture looks along -x.
        triangles: of each piece of the copy.
        texel_m: how large a texel is on its surface, m.
        handles: whether handles become pieces of their own, "<body>/handle".
    """

    file: str
    turn: tuple[float, float, float] = (0.0, 0.0, 0.0)
    triangles: int = 450
    texel_m: float = 0.0012
    handles: bool = False

    @property
    def name(self) -> str:
        """Return what its file is called."""
        return Path(self.file).stem


def load_pieces(model: LiberoModel) -> Pieces:
    """Return the light copy of a model, made if it is not in the cache.

    Raises:
        AssetsError: its packages are not installed, a file of them is damaged, or the cache cannot be written.
    """
    return _loaded(model, assets_folder())


@cache
def _loaded(model: LiberoModel, folder: Path) -> Pieces:
    path = _stored(model, folder)
    if not path.is_file():
        _make(model, folder, path)
    try:
        with np.load(path, allow_pickle=False) as content:
            return {name: _part(content, number) for number, name in enumerate(content["names"].tolist())}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise AssetsError(f"{path} cannot be read: {error}: delete it, the next start makes it again") from error


def prepare_models(models: Iterable[LiberoModel]) -> None:
    """Make what the cache does not have of these models, and show how far that is.

    Raises:
        AssetsError: as `load_pieces`.
    """
    folder = assets_folder()
    paths = {model: _stored(model, folder) for model in models}
    missing = [model for model, path in paths.items() if not path.is_file()]
    if missing:
        print(f"kc_vla_sim: making light kitchen meshes in {paths[missing[0]].parent} (once) ...", file=sys.stderr)
        for model in tqdm(missing, desc="light meshes", unit="model", file=sys.stderr):
            _make(model, folder, paths[model])


def _stored(model: LiberoModel, folder: Path) -> Path:
    """Return the file of a light copy, whether it is there or not."""
    try:
        source = (folder / model.file).read_bytes()
        home = cache_home()
    except OSError as error:
        raise AssetsError(f"the assets 'libero' cannot be used: {error}: install their packages again") from error
    key = hashlib.sha256(f"{_RECIPE} {model}".encode() + source).hexdigest()[:16]
    return home / "kc_vla" / "kitchen" / f"{model.name}-{key}.npz"


def _make(model: LiberoModel, folder: Path, path: Path) -> None:
    """Write a light copy, whole or not at all: several processes may do so at the same time."""
    turn = Rotation.from_euler("xyz", model.turn, degrees=True)
    pieces: dict[str, list[Visual]] = {}
    for each in read_model(folder / model.file).visuals:
        pieces.setdefault(_piece_of(each, model), []).append(each)
    content: dict[str, NDArray[Any]] = {"names": np.array(list(pieces))}
    for number, visuals in enumerate(pieces.values()):
        mesh, skin = bake(surface_of(visuals, turn, 1.0), model.triangles, model.texel_m)
        arrays: tuple[NDArray[Any], ...] = (mesh.vertices, mesh.triangles, mesh.normals, skin.uvs, skin.image)
        content.update({f"{number}_{kind}": array for kind, array in zip(_KINDS, arrays, strict=True)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".making-") as work:
            made = Path(work) / path.name
            np.savez_compressed(made, allow_pickle=False, **content)
            made.replace(path)
    except OSError as error:
        raise AssetsError(
            f"cannot store light kitchen meshes in {path.parent}: {error.strerror or error}; "
            "free some space or set XDG_CACHE_HOME to a folder that can be written"
        ) from error


_KINDS = ("vertices", "triangles", "normals", "uvs", "image")


def _piece_of(visual: Visual, model: LiberoModel) -> str:
    named = visual.shape == "capsule" if visual.mesh is None else _HANDLE in visual.mesh.stem
    return f"{visual.body}/{_HANDLE}" if model.handles and named else visual.body


def _part(content: Mapping[str, NDArray[Any]], number: int) -> Part:
    vertices, triangles, normals, uvs, image = (np.asarray(content[f"{number}_{kind}"]) for kind in _KINDS)
    mesh = Mesh(vertices.astype(np.float32), triangles.astype(np.uint32), normals.astype(np.float32))
    return Part(mesh, _WHITE, skin=Skin(uvs.astype(np.float32), image.astype(np.uint8)))
