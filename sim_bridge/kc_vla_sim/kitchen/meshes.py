"""Meshes of few triangles, of which the things and the furniture of the kitchen are made. Meters, z up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

SEGMENTS = 14
"""Sides of a round thing."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles with a normal at each vertex.

    Attributes:
        vertices: (V, 3) float32, m.
        triangles: (T, 3) uint32, counterclockwise as seen from outside.
        normals: (V, 3) float32, unit length.
    """

    vertices: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    normals: NDArray[np.float32]

    def moved(self, position: ArrayLike = (0, 0, 0), turn: Rotation | None = None) -> Mesh:
        """Return the mesh turned about the origin, then moved."""
        matrix = np.eye(3) if turn is None else turn.as_matrix()
        vertices = (self.vertices @ matrix.T + np.asarray(position)).astype(np.float32)
        return Mesh(vertices, self.triangles, (self.normals @ matrix.T).astype(np.float32))

    def stretched(self, factors: ArrayLike) -> Mesh:
        """Return the mesh with its extents along x, y, z multiplied by `factors` (3,), all above 0."""
        scale = np.asarray(factors, float)
        normals = self.normals / scale
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return Mesh((self.vertices * scale).astype(np.float32), self.triangles, normals.astype(np.float32))


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Return one mesh of all `meshes`."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate(
            [mesh.triangles + np.uint32(start) for mesh, start in zip(meshes, starts, strict=True)], dtype=np.uint32
        ),
        np.concatenate([mesh.normals for mesh in meshes]),
    )


def box(size: ArrayLike) -> Mesh:
    """Return a box around the origin of `size` (3,), m."""
    unit = _unit_box()
    return Mesh((unit.vertices * np.asarray(size, float)).astype(np.float32), unit.triangles, unit.normals)


@cache
def _unit_box() -> Mesh:
    faces = []
    for axis in range(3):
        for sign in (-0.5, 0.5):
            middle = np.zeros(3)
            middle[axis] = sign
            one, other = np.roll(np.eye(3), 1, axis=0)[axis], np.roll(np.eye(3), 2, axis=0)[axis]
            corners = [middle + a * one + b * other for a, b in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))]
            faces.append(_polygon(np.array(corners), 2 * middle))
    return joined(faces)


def lathe(
    profile: Sequence[tuple[float, float]], span: float = 2 * np.pi, segments: int = SEGMENTS, smooth: bool = False
) -> Mesh:
    """Return what `profile` sweeps when it is turned about the z axis from the x axis.

    Args:
        profile: radius and height of each of its points, m, with the inside of the body on the left: upwards on the
            outside, downwards on the inside.
        span: rad; less than a full turn leaves the sides open, see `cut_face`.
        segments: sides of a full turn.
        smooth: shade the edges between the bands away.
    """
    points = np.array(profile, float)
    steps = max(2, round(segments * span / (2 * np.pi)))
    angles = np.linspace(0, span, steps + 1)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    along = np.diff(points, axis=0)
    outwards = np.stack([along[:, 1], -along[:, 0]], axis=1)
    outwards /= np.linalg.norm(outwards, axis=1, keepdims=True)
    at_points = np.concatenate([outwards[:1], outwards[:-1] + outwards[1:], outwards[-1:]])
    at_points /= np.linalg.norm(at_points, axis=1, keepdims=True)
    bands = [
        _band(points[k : k + 2], at_points[k : k + 2] if smooth else outwards[[k, k]], around)
        for k in range(len(along))
    ]
    return joined(bands)


def cut_face(profile: Sequence[tuple[float, float]]) -> Mesh:
    """Return the flat face in the plane y = 0 that closes a half turn of a `profile` which begins and ends at radius 0.

    It looks along -y: the half turn lies on the other side.
    """
    points = np.array(profile, float)
    right = np.stack([points[:, 0], np.zeros(len(points)), points[:, 1]], axis=1)
    left = right * (-1, 1, 1)
    return _polygon(np.concatenate([right, left[-2:0:-1]]), np.array([0.0, -1.0, 0.0]))


def ball(radius: float, bands: int = 8) -> list[tuple[float, float]]:
    """Return the profile of a ball around the origin."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, bands + 1)
    return [(round(radius * float(np.cos(a)), 12), radius * float(np.sin(a))) for a in angles]


def pillar(radius: float, height: float, bottom: float = 0.0) -> list[tuple[float, float]]:
    """Return the profile of an upright cylinder, closed at both ends, that begins at the height `bottom`."""
    return [(0.0, bottom), (radius, bottom), (radius, bottom + height), (0.0, bottom + height)]


def ring(radius: float, thickness: float, turn: Rotation | None = None, span: float = 2 * np.pi) -> Mesh:
    """Return a bent bar around the origin in the plane x, z, of square cross-section; a handle."""
    inner, outer, half = radius - thickness / 2, radius + thickness / 2, thickness / 2
    square = [(inner, half), (inner, -half), (outer, -half), (outer, half), (inner, half)]
    flat = lathe(square, span, segments=10)
    upright = flat.moved(turn=Rotation.from_euler("x", np.pi / 2))
    return upright if turn is None else upright.moved(turn=turn)


def _band(ends: NDArray[np.float64], outwards: NDArray[np.float64], around: NDArray[np.float64]) -> Mesh:
    """Return one band of a lathe between two points of its profile, without triangles that have no area."""
    count = len(around)
    rows = [np.concatenate([radius * around, np.full((count, 1), height)], axis=1) for radius, height in ends]
    normals = [np.concatenate([out[0] * around, np.full((count, 1), out[1])], axis=1) for out in outwards]
    index = np.arange(count - 1)
    lower = np.stack([index, index + 1, index + 1 + count], axis=1)
    upper = np.stack([index, index + 1 + count, index + count], axis=1)
    triangles = [part for part, end in ((lower, ends[0]), (upper, ends[1])) if end[0] > 0]
    return Mesh(
        np.concatenate(rows).astype(np.float32),
        np.concatenate(triangles).astype(np.uint32),
        np.concatenate(normals).astype(np.float32),
    )


def _polygon(corners: NDArray[np.float64], normal: NDArray[np.float64]) -> Mesh:
    """Return a flat convex face, whichever way its corners run."""
    run = sum(np.cross(corners[k] - corners[0], corners[k + 1] - corners[0]) for k in range(1, len(corners) - 1))
    ordered = corners if float(np.dot(np.asarray(run), normal)) > 0 else corners[::-1]
    index = np.arange(1, len(ordered) - 1)
    triangles = np.stack([np.zeros_like(index), index, index + 1], axis=1)
    return Mesh(
        ordered.astype(np.float32), triangles.astype(np.uint32), np.tile(normal, (len(ordered), 1)).astype(np.float32)
    )
