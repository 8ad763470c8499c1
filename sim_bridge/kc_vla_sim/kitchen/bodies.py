"""A body as it is drawn and as it is touched, and the colors that bodies come in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.kitchen.meshes import Mesh, joined

Colour = tuple[float, float, float]
Vector = tuple[float, float, float]

COLOURS: dict[str, Colour] = {
    "red": (0.62, 0.03, 0.03),
    "orange": (0.85, 0.28, 0.02),
    "yellow": (0.85, 0.62, 0.03),
    "green": (0.06, 0.36, 0.06),
    "blue": (0.03, 0.12, 0.55),
    "purple": (0.25, 0.06, 0.38),
    "pink": (0.8, 0.28, 0.4),
    "white": (0.85, 0.85, 0.82),
    "black": (0.03, 0.03, 0.035),
    "gray": (0.38, 0.39, 0.41),
    "silver": (0.55, 0.57, 0.6),
    "brown": (0.28, 0.13, 0.05),
    "cream": (0.82, 0.7, 0.5),
}
"""Linear red, green, blue of each color by its name."""


@dataclass(frozen=True, eq=False)
class Skin:
    """The texture of a mesh.

    Attributes:
        uvs: (V, 2) float32, where each vertex is in the image: share of its width, and of its height from above.
        image: (H, W, 3) uint8, sRGB.
    """

    uvs: NDArray[np.float32]
    image: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of one color, or with a texture.

    Attributes:
        mesh: in the frame of the body.
        colour: linear red, green, blue, 0..1; the texture counts where there is one.
        glows: whether it shines by itself.
        skin: its texture, by the vertices of the mesh in their order.
    """

    mesh: Mesh
    colour: Colour
    glows: bool = False
    skin: Skin | None = None


@dataclass(frozen=True)
class Solid:
    """A convex piece that is touched.

    Attributes:
        shape: "box", "cylinder" (upright) or "sphere".
        size: extent along x, y, z, m.
        position: of its middle in the frame of the body, m.
        turn: about the body's axes, rotation vector, rad.
    """

    shape: Literal["box", "cylinder", "sphere"]
    size: Vector
    position: Vector = (0.0, 0.0, 0.0)
    turn: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class ShapedBody:
    """What a thing or a piece of furniture is made of; its frame is in the middle of its `size`.

    Attributes:
        parts: what is drawn.
        solids: what is touched.
        size: extent along x, y, z, m.
    """

    parts: tuple[Part, ...]
    solids: tuple[Solid, ...]
    size: Vector

    def scaled(self, scale: float) -> ShapedBody:
        """Return the body, `scale` times as large."""
        x, y, z = self.size
        return ShapedBody(
            tuple(replace(part, mesh=part.mesh.stretched((scale,) * 3)) for part in self.parts),
            tuple(
                replace(
                    each,
                    size=_vector(scale * np.array(each.size)),
                    position=_vector(scale * np.array(each.position)),
                )
                for each in self.solids
            ),
            (scale * x, scale * y, scale * z),
        )

    def merged(self) -> tuple[Part, ...]:
        """Return the parts with all of one color as one mesh: what counts is how many pieces are drawn."""
        groups: dict[tuple[Colour, bool], list[Mesh]] = {}
        for part in self.parts:
            if part.skin is None:
                groups.setdefault((part.colour, part.glows), []).append(part.mesh)
        plain = (Part(joined(meshes), colour, glows) for (colour, glows), meshes in groups.items())
        return (*(part for part in self.parts if part.skin is not None), *plain)


def centred(parts: Sequence[Part], solids: Sequence[Solid]) -> ShapedBody:
    """Return a body of parts and solids, moved so that its origin is in the middle of all that is drawn."""
    points = np.concatenate([part.mesh.vertices for part in parts])
    low, high = points.min(axis=0).astype(float), points.max(axis=0).astype(float)
    middle = (low + high) / 2
    return ShapedBody(
        tuple(replace(part, mesh=part.mesh.moved(-middle)) for part in parts),
        tuple(replace(each, position=_vector(np.array(each.position) - middle)) for each in solids),
        _vector(high - low),
    )


def _vector(values: NDArray[np.float64]) -> Vector:
    x, y, z = values.tolist()
    return x, y, z


def turn_of(solid: Solid) -> Rotation:
    """Return how a solid is turned."""
    return Rotation.from_rotvec(solid.turn)
