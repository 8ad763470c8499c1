"""Moves, scales and mirrors the pieces of a model to where furniture has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from kc_vla_sim.kitchen.bodies import Part, Solid, Vector
from kc_vla_sim.kitchen.meshes import Mesh


@dataclass(frozen=True)
class PieceFit:
    """From the frame of a model to that of furniture: moved, then scaled, then mirrored.

    Attributes:
        origin: what of the model comes to the middle of the footprint at the height of the worktop, m.
        scale: of it.
        mirrored: whether left and right are exchanged.
    """

    origin: Vector
    scale: float
    mirrored: bool = False

    def point(self, x: float, y: float, z: float) -> Vector:
        """Return where a point of the model is."""
        x, y, z = (self.scale * np.subtract((x, y, z), self.origin)).tolist()
        return x, -y if self.mirrored else y, z

    def box(self, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        """Return least and greatest corner of a box of the model."""
        ends = np.array([self.point(*low), self.point(*high)])
        (a, b, c), (x, y, z) = ends.min(axis=0).tolist(), ends.max(axis=0).tolist()
        return (a, b, c), (x, y, z)

    def solids(self, boxes: Iterable[tuple[Vector, Vector]]) -> tuple[Solid, ...]:
        """Return boxes of the model, given by their corners, as what is touched."""
        return tuple(solid_between(*self.box(*each)) for each in boxes)

    def part(self, part: Part) -> Part:
        """Return a part of the model."""
        return replace(part, mesh=self._mesh(part.mesh))

    def _mesh(self, mesh: Mesh) -> Mesh:
        moved = mesh.moved(np.negative(self.origin)).stretched((self.scale,) * 3)
        if not self.mirrored:
            return moved
        flip = np.array([1, -1, 1], np.float32)
        return Mesh(moved.vertices * flip, moved.triangles[:, ::-1].copy(), moved.normals * flip)


def solid_between(low: Vector, high: Vector) -> Solid:
    """Return a box between two corners."""
    x, y, z = np.subtract(high, low).tolist()
    at_x, at_y, at_z = (np.add(high, low) / 2).tolist()
    return Solid("box", (x, y, z), (at_x, at_y, at_z))


def drawn_out(handle: Part, front: float, bar_from: float, standoff: float, raised: float = 0.0) -> Part:
    """Return a handle that is further from its front, and higher: its bar as it is, its posts longer.

    Args:
        handle: in the frame of the furniture.
        front: x of the front that it is on, m.
        bar_from: x of the bar's side towards the front, m.
        standoff: from the front to the middle of the bar then, m.
        raised: by so much, m.
    """
    vertices = handle.mesh.vertices.astype(float)
    low = vertices[:, 0].min()
    off = (front - standoff) - (low + bar_from) / 2
    share = np.clip((front - vertices[:, 0]) / (front - bar_from), 0.0, 1.0)
    vertices[:, 0] += off * share
    vertices[:, 2] += raised
    return replace(handle, mesh=Mesh(vertices.astype(np.float32), handle.mesh.triangles, handle.mesh.normals))
