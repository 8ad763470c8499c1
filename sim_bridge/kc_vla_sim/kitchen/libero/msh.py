"""Reads MuJoCo's own files of meshes, .msh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.errors import AssetsError

_HEADER = 16
"""Bytes of the four counts."""
_NUMBERS = (3, 3, 2, 3)
"""Numbers of each vertex, normal, texture coordinate and triangle."""


@dataclass(frozen=True, eq=False)
class TexturedMesh:
    """Triangles as a file has them.

    Attributes:
        vertices: (V, 3), in the file's unit.
        triangles: (T, 3), indices of vertices.
        uvs: (V, 2), share of the texture's width, and of its height from above; None where the file has none.
    """

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    uvs: NDArray[np.float64] | None = None


def read_msh(path: Path) -> TexturedMesh:
    """Read a .msh file: four counts, then vertices, normals, texture coordinates and triangles, little endian.

    Raises:
        AssetsError: the file is cut off, longer than its counts say, or has indices of no vertex.
    """
    content = path.read_bytes()
    counts = [0] * 4 if len(content) < _HEADER else np.frombuffer(content, "<i4", 4).tolist()
    length = _HEADER + 4 * sum(count * each for count, each in zip(counts, _NUMBERS, strict=True))
    if min(counts) < 0 or len(content) != length:
        raise AssetsError(f"{path} is no whole .msh file: install its package again")
    numbers, normals, corners, faces = counts
    floats = np.frombuffer(content, "<f4", 3 * numbers + 3 * normals + 2 * corners, _HEADER)
    triangles = np.frombuffer(content, "<i4", 3 * faces, _HEADER + 4 * len(floats)).reshape(-1, 3).astype(np.int64)
    if faces and not 0 <= int(triangles.min()) <= int(triangles.max()) < numbers:
        raise AssetsError(f"{path} has a triangle of a vertex that there is not: install its package again")
    uvs = floats[len(floats) - 2 * corners :].reshape(-1, 2).astype(float) if corners == numbers else None
    return TexturedMesh(floats[: 3 * numbers].reshape(-1, 3).astype(float), triangles, uvs)
