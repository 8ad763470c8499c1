"""Bodies around meshes: what is touched of them, what fills them, and dirt on them. Meters, z up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import trimesh
from numpy.typing import NDArray

from kc_vla_sim.kitchen.bodies import Colour, Part, ShapedBody, Solid, centred
from kc_vla_sim.kitchen.meshes import Mesh, lathe

BOX, ROUND, NECKED, HANDLED = "box", "round", "necked", "handled"
"""Shapes of solids: a box, an upright cylinder, one with a narrower one on it, one with a handle at its side."""
_NARROW = 0.75
"""A neck is narrower than this share of the greatest radius."""
_BINS = 24
_LIFT = 0.0012
"""Dirt is so far above the surface, m."""
_SPECK_M = 0.006
"""Longest side of the triangles of dirt, m."""
_INTO_WALL = 0.002
"""What fills a vessel ends so far inside of its outer wall, m."""

Points = NDArray[np.float64]
Place = Callable[[Points], NDArray[np.bool_]]


def standing(part: Part, shape: str, *more: Part) -> ShapedBody:
    """Return the body of a part with solids of a shape around it, and of `more` that is drawn alone."""
    return centred([part, *more], _solids(part.mesh, shape))


def _solids(mesh: Mesh, shape: str) -> list[Solid]:
    points = mesh.vertices.astype(float)
    low, high = points.min(axis=0), points.max(axis=0)
    size, middle = high - low, (high + low) / 2
    if shape == BOX:
        return [_solid("box", size, middle)]
    if shape == ROUND:
        return [_solid("cylinder", size, middle)]
    if shape == NECKED:
        return _necked(points, low, high)
    x, y, radius = core(mesh)
    rest = [_solid("cylinder", np.array([2 * radius, 2 * radius, size[2]]), np.array([x, y, middle[2]]))]
    away = points[np.hypot(points[:, 0] - x, points[:, 1] - y) > 1.05 * radius]
    if len(away):
        ends = away.min(axis=0), away.max(axis=0)
        rest.append(_solid("box", np.maximum(ends[1] - ends[0], 0.008), (ends[0] + ends[1]) / 2))
    return rest


def _necked(points: Points, low: Points, high: Points) -> list[Solid]:
    middle = (low + high) / 2
    away = np.hypot(*(points[:, :2] - middle[:2]).T)
    broad = points[away > _NARROW * away.max(), 2].max()
    neck = 2 * float(away[points[:, 2] > broad].max(initial=0.3 * away.max()))
    width, depth, _ = high - low
    return [
        _solid(
            "box", np.array([0.9 * width, 0.9 * depth, broad - low[2]]), np.array([*middle[:2], (broad + low[2]) / 2])
        ),
        _solid(
            "box", np.array([0.8 * neck, 0.8 * neck, high[2] - broad]), np.array([*middle[:2], (broad + high[2]) / 2])
        ),
    ]


def _solid(shape: str, size: Points, position: Points) -> Solid:
    x, y, z = size.tolist()
    at_x, at_y, at_z = position.tolist()
    return Solid("box" if shape == "box" else "cylinder", (x, y, z), (at_x, at_y, at_z))


def core(mesh: Mesh, height: float | None = None) -> tuple[float, float, float]:
    """Return middle and radius of what is round about a mesh, without its handle, m.

    Args:
        mesh: that stands upright.
        height: of the cut at which it is measured, above its underside, m; None for all of it together.
    """
    points = mesh.vertices.astype(float)
    if height is not None:
        cut = trimesh.Trimesh(points, mesh.triangles, process=False).section(
            (0, 0, 1), (0, 0, points[:, 2].min() + height)
        )
        points = points if cut is None else np.asarray(cut.vertices, float)
    x, y = np.median(points[:, 0]), np.median(points[:, 1])
    radii = np.zeros(_BINS)
    for _ in range(3):  # the middle of the round part is where opposite sides are equally far
        gaps = points[:, :2] - (x, y)
        away, bins = np.hypot(*gaps.T), ((np.arctan2(gaps[:, 1], gaps[:, 0]) + np.pi) / (2 * np.pi) * _BINS).astype(int)
        radii = np.array([away[bins % _BINS == each].max(initial=0.0) for each in range(_BINS)])
        usual = radii <= 1.15 * np.median(radii)
        angles = (np.arange(_BINS) + 0.5) / _BINS * 2 * np.pi - np.pi
        pairs = usual & np.roll(usual, _BINS // 2)
        if pairs.any():
            x += float((radii * np.cos(angles))[pairs].mean())
            y += float((radii * np.sin(angles))[pairs].mean())
    return float(x), float(y), float(np.median(radii))


def filled(mesh: Mesh, share: float, colour: Colour) -> Part:
    """Return the level of what a vessel is filled with, to a share of its height."""
    low, high = float(mesh.vertices[:, 2].min()), float(mesh.vertices[:, 2].max())
    level = share * (high - low)
    x, y, radius = core(mesh, level)
    disc = lathe([(radius - _INTO_WALL, low + level - 0.001), (radius - _INTO_WALL, low + level), (0.0, low + level)])
    return Part(disc.moved((x, y, 0.0)), colour)


def dirt(mesh: Mesh, where: Place, colour: Colour) -> Part:
    """Return what covers the places of a surface for which `where` is true of their points (N, 3)."""
    vertices, triangles = trimesh.remesh.subdivide_to_size(
        mesh.vertices.astype(float), mesh.triangles.astype(np.int64), _SPECK_M, max_iter=12
    )
    fine = trimesh.Trimesh(vertices, triangles, process=False)
    fine.update_faces(where(fine.triangles_center))
    fine.update_faces(fine.nondegenerate_faces())
    corners, normals = fine.triangles, np.repeat(fine.face_normals[:, None], 3, axis=1)
    count = 3 * len(corners)
    covering = Mesh(
        (corners + _LIFT * normals).reshape(-1, 3).astype(np.float32),
        np.arange(count, dtype=np.uint32).reshape(-1, 3),
        normals.reshape(-1, 3).astype(np.float32),
    )
    return Part(covering, colour)
