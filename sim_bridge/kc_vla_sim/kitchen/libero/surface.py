"""The surface of a model as it is drawn: its triangles, and points of it with their colors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import trimesh
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.errors import AssetsError
from kc_vla_sim.kitchen.libero.mjcf import Visual
from kc_vla_sim.kitchen.libero.msh import TexturedMesh, read_msh

POINTS = 120_000
"""Points of a surface whose color is taken."""
_LEAST_OPACITY = 0.22
"""What is clearer than this is left out; the rest is opaque, as the closed window of a microwave."""
_LARGEST_TEXTURE = 1024
_BALL_DETAIL = 2


@dataclass(frozen=True, eq=False)
class ColouredSurface:
    """A surface.

    Attributes:
        corners: (T, 3, 3), the corners of its triangles, m.
        points: (N, 3), points spread over it, m.
        normals: (N, 3), there, unit length.
        colours: (N, 3), there, sRGB, 0..255.
    """

    corners: NDArray[np.float64]
    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    colours: NDArray[np.float64]


def surface_of(visuals: Sequence[Visual], turn: Rotation, scale: float) -> ColouredSurface:
    """Return the surface of some visuals, in a frame that is turned and scaled against that of their model.

    Raises:
        AssetsError: a mesh or a texture cannot be read, or nothing is drawn.
    """
    opaque = [each for each in visuals if each.colour[3] >= _LEAST_OPACITY]
    meshes = [_mesh_of(each) for each in opaque]
    corners = [_corners(each, mesh, turn, scale) for each, mesh in zip(opaque, meshes, strict=True)]
    areas = [_areas(each) for each in corners]
    total = sum(float(each.sum()) for each in areas)
    if not total > 0:
        raise AssetsError("a model of the assets 'libero' draws nothing: install its package again")
    chance = np.random.default_rng(0)
    drawn = [
        _sampled(chance, visual, mesh, triangles, area, max(64, round(POINTS * float(area.sum()) / total)))
        for visual, mesh, triangles, area in zip(opaque, meshes, corners, areas, strict=True)
    ]
    points, normals, colours = (np.concatenate(each) for each in zip(*drawn, strict=True))
    return ColouredSurface(np.concatenate(corners), points, normals, colours)


def _mesh_of(visual: Visual) -> TexturedMesh:
    if visual.mesh is not None and visual.mesh.suffix == ".msh":
        return read_msh(visual.mesh)
    try:
        made = _primitive(visual) if visual.mesh is None else trimesh.load_mesh(visual.mesh, process=False)
    except (OSError, ValueError) as error:
        raise AssetsError(f"{visual.mesh} cannot be read: {error}: install its package again") from error
    uvs = getattr(made.visual, "uv", None)
    turned = None if uvs is None else np.stack([uvs[:, 0], 1 - uvs[:, 1]], axis=1)  # .obj counts from below
    return TexturedMesh(np.asarray(made.vertices, float), np.asarray(made.faces, np.int64), turned)


def _primitive(visual: Visual) -> trimesh.Trimesh:
    radius, half = visual.size[0], visual.size[1] if len(visual.size) > 1 else 0.0
    made: trimesh.Trimesh
    if visual.shape == "box":
        made = trimesh.creation.box(2 * np.array(visual.size))
    elif visual.shape == "capsule":
        made = trimesh.creation.capsule(2 * half, radius, count=[12, 12])
    elif visual.shape == "cylinder":
        made = trimesh.creation.cylinder(radius, 2 * half, sections=20)
    else:
        made = trimesh.creation.icosphere(_BALL_DETAIL, radius)
    return made


def _corners(visual: Visual, mesh: TexturedMesh, turn: Rotation, scale: float) -> NDArray[np.float64]:
    stretched = mesh.vertices * (visual.size if visual.mesh is not None else (1.0, 1.0, 1.0))
    placed = stretched @ visual.pose[:3, :3].T + visual.pose[:3, 3]
    corners: NDArray[np.float64] = scale * turn.apply(placed)[mesh.triangles]
    return corners


def _areas(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    areas: NDArray[np.float64] = np.linalg.norm(_across(corners), axis=1) / 2
    return areas


def _across(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    across: NDArray[np.float64] = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return across


def _sampled(
    chance: np.random.Generator,
    visual: Visual,
    mesh: TexturedMesh,
    corners: NDArray[np.float64],
    areas: NDArray[np.float64],
    count: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return points, normals and colors of one visual."""
    which = chance.choice(len(corners), count, p=areas / areas.sum())
    one, two = chance.random((2, count))
    folded = one + two > 1
    one, two = np.where(folded, 1 - one, one), np.where(folded, 1 - two, two)
    weights = np.stack([1 - one - two, one, two], axis=1)
    points = np.einsum("nk,nkd->nd", weights, corners[which])
    across = _across(corners)[which]
    normals = across / np.linalg.norm(across, axis=1, keepdims=True)
    own = np.array(visual.colour[:3])
    if visual.texture is None:
        return points, normals, np.tile(255 * own, (count, 1))
    image = _texture(visual.texture)
    if mesh.uvs is None:
        return points, normals, np.tile(own * image.reshape(-1, 3).mean(axis=0), (count, 1))
    u, v = np.einsum("nk,nkd->nd", weights, mesh.uvs[mesh.triangles[which]]).T % 1.0
    height, width = image.shape[:2]
    rows, columns = (v * height).astype(int) % height, (u * width).astype(int) % width
    return points, normals, own * image[rows, columns]


@lru_cache(maxsize=8)
def _texture(path: Path) -> NDArray[np.float64]:
    """Return an image (H, W, 3), RGB."""
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if image is None:
        raise AssetsError(f"{path} cannot be read as an image: install its package again")
    height, width = image.shape[:2]
    share = _LARGEST_TEXTURE / max(height, width)
    if share < 1:
        image = cv2.resize(image, (round(width * share), round(height * share)), interpolation=cv2.INTER_AREA)
    return image[..., ::-1].astype(float)
