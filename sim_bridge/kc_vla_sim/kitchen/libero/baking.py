"""A light copy of a surface: few triangles, and a small texture that is made for them.

Textures of scans are cut into thousands of pieces, so a mesh with fewer triangles cannot keep its place in them. Each
triangle gets a piece of a new texture, and each texel the color of the nearest points of the surface that face the
same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import fast_simplification
import numpy as np
import trimesh
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kc_vla_sim.kitchen.bodies import Skin
from kc_vla_sim.kitchen.libero.surface import ColouredSurface
from kc_vla_sim.kitchen.meshes import Mesh

CREASE_ANGLE = np.radians(40)
"""Edges sharper than this (rad) stay sharp in the shading."""
_WELD_M = 1e-5
_FACING_M = 0.006
"""A normal that is turned away by 1 counts as so much distance, m: walls are thinner than that."""
_AVERAGED = 4
_WORKERS = 2
_BORDER = 1
"""Texels around each piece."""
_FEWEST, _MOST = 3, 160
"""Texels along an edge of a piece, without its border."""


def bake(surface: ColouredSurface, triangles: int, texel_m: float) -> tuple[Mesh, Skin]:
    """Return a light copy of a surface.

    Args:
        surface: to copy.
        triangles: about so many, if its shape allows it.
        texel_m: how large a texel is on the surface, m.
    """
    corners, normals = _simplified(surface.corners, triangles)
    pieces = _Pieces.of(corners, texel_m)
    nearest = cKDTree(np.concatenate([surface.points, _FACING_M * surface.normals], axis=1))
    image = np.zeros((*pieces.shape, 3), np.uint8)
    rows, columns, points, facing = pieces.texels(corners)
    _, found = nearest.query(np.concatenate([points, _FACING_M * facing], axis=1), k=_AVERAGED, workers=_WORKERS)
    image[rows, columns] = np.rint(surface.colours[found].mean(axis=1))
    count = 3 * len(corners)
    mesh = Mesh(
        corners.reshape(-1, 3).astype(np.float32),
        np.arange(count, dtype=np.uint32).reshape(-1, 3),
        normals.reshape(-1, 3).astype(np.float32),
    )
    return mesh, Skin(pieces.uvs.reshape(-1, 2).astype(np.float32), image)


def _simplified(corners: NDArray[np.float64], wanted: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners (T, 3, 3) of about so many triangles, ordered by their shape, and the normals there."""
    keys, inverse = np.unique(np.rint(corners.reshape(-1, 3) / _WELD_M).astype(np.int64), axis=0, return_inverse=True)
    faces = inverse.reshape(-1, 3)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    vertices, faces = keys * _WELD_M, faces[whole]
    if len(faces) > wanted:
        vertices, faces = fast_simplification.simplify(
            vertices.astype(np.float32), faces.astype(np.int32), target_count=wanted, agg=4
        )
    light = trimesh.Trimesh(vertices, faces, process=False)
    light.update_faces(light.nondegenerate_faces())
    shaded = trimesh.graph.smooth_shade(light, angle=CREASE_ANGLE)
    corners, normals = np.array(shaded.triangles), np.array(shaded.vertex_normals)[shaded.faces]
    sides = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    first = (np.argmax(sides, axis=1)[:, None] + 2 + np.arange(3)) % 3  # begin at the corner opposite the longest side
    return (
        np.take_along_axis(corners, first[..., None], axis=1),
        np.take_along_axis(normals, first[..., None], axis=1),
    )


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Where the pieces of a texture are: rectangles, of which each triangle takes half.

    Attributes:
        low: (T, 2), column and row of the first texel of each, with its border.
        size: (T, 2), columns and rows without the border.
        shape: rows and columns of the texture.
    """

    low: NDArray[np.int64]
    size: NDArray[np.int64]
    shape: tuple[int, int]

    @classmethod
    def of(cls, corners: NDArray[np.float64], texel_m: float) -> _Pieces:
        """Find a place for the piece of each triangle, in rows, the highest first."""
        lengths = np.linalg.norm(corners[:, 1:] - corners[:, :1], axis=2)
        size = np.clip(np.ceil(lengths / texel_m), _FEWEST, _MOST).astype(np.int64)
        outer = size + 2 * _BORDER
        width = max(int(np.ceil(np.sqrt(1.1 * outer.prod(axis=1).sum()))), int(outer[:, 0].max()))
        low, column, row, height = np.zeros_like(size), 0, 0, 0
        for each in np.argsort(-outer[:, 1], kind="stable"):
            if column + outer[each, 0] > width:
                column, row = 0, row + height
            if column == 0:
                height = int(outer[each, 1])
            low[each] = column, row
            column += int(outer[each, 0])
        return cls(low, size, (row + height, width))

    @property
    def uvs(self) -> NDArray[np.float64]:
        """Return where each corner of each triangle is (T, 3, 2): share of the width and of the height."""
        at = np.stack([self.low, self.low + self.size * (1, 0), self.low + self.size * (0, 1)], axis=1) + _BORDER
        uvs: NDArray[np.float64] = at / (self.shape[1], self.shape[0])
        return uvs

    def texels(
        self, corners: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Return rows and columns (N,) of all texels of pieces, where they are (N, 3), m, and the normals there."""
        outer = self.size + 2 * _BORDER
        counts = outer.prod(axis=1)
        which = np.repeat(np.arange(len(counts)), counts)
        number = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        inside = np.stack([number % outer[which, 0], number // outer[which, 0]], axis=1)
        share = (inside + 0.5 - _BORDER) / self.size[which]
        over = np.maximum(share.sum(axis=1, keepdims=True), 1.0)  # beyond the longest side its color goes on
        share = np.clip(share, 0.0, 1.0) / over
        edges = corners[:, 1:] - corners[:, :1]
        points = corners[which, 0] + np.einsum("nk,nkd->nd", share, edges[which])
        across = np.cross(edges[:, 0], edges[:, 1])
        across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
        at = self.low[which] + inside
        return at[:, 1], at[:, 0], points, across[which]
