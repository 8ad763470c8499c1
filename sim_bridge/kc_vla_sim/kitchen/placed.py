"""Furniture and things in their places, as an episode begins with them. In the frame of the arm's base, m."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kc_vla_sim.kitchen.bodies import ShapedBody
from kc_vla_sim.kitchen.footprints import Footprint
from kc_vla_sim.kitchen.furniture import Furniture, StorageSpace
from kc_vla_sim.kitchen.kinds import ThingKind


@dataclass(frozen=True, eq=False)
class PlacedFurniture:
    """A piece of furniture in its place, and how it is at the beginning.

    Attributes:
        furniture: what it is.
        x: of the middle of its footprint, m.
        y: of that, m.
        yaw: of its x axis, rad.
        openings: of each of its drawers and doors by name, m or rad.
        on: whether it is switched on.
    """

    furniture: Furniture
    x: float
    y: float
    yaw: float
    openings: dict[str, float]
    on: bool = False

    @cached_property
    def footprint(self) -> Footprint:
        """Return what it covers."""
        depth, width, _ = self.furniture.size
        return Footprint(self.x, self.y, depth, width, self.yaw)

    @cached_property
    def kept_free(self) -> Footprint:
        """Return its footprint and what its drawers, doors and handles pass over in front of it."""
        depth, width, _ = self.furniture.size
        x, y = self.point(-self.furniture.swing / 2, 0.0)
        return Footprint(x, y, depth + self.furniture.swing, width + 2 * self.furniture.aside, self.yaw)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the furniture's frame is in that of the base."""
        c, s = float(np.cos(self.yaw)), float(np.sin(self.yaw))
        return self.x + c * x - s * y, self.y + s * x + c * y


@dataclass(frozen=True, eq=False)
class PlacedThing:
    """A thing in its place.

    Attributes:
        thing_id: "mug_1".
        kind: what it is.
        colour: name of its color.
        state: of `kind.states`.
        scale: of its size.
        x: of its middle, m.
        y: of that, m.
        z: of that, m.
        yaw: rad.
        relation: "in" or "on".
        holder: id of what holds it, or "worktop".
    """

    thing_id: str
    kind: ThingKind
    colour: str
    state: str
    scale: float
    x: float
    y: float
    z: float
    yaw: float
    relation: str
    holder: str

    @cached_property
    def body(self) -> ShapedBody:
        """Return what it is made of, in its state."""
        return self.kind.made(self.colour, self.state, self.scale)

    @property
    def footprint(self) -> Footprint:
        """Return what it covers."""
        return Footprint(self.x, self.y, self.body.size[0], self.body.size[1], self.yaw)


@dataclass(frozen=True, eq=False)
class KitchenLayout:
    """A kitchen as an episode begins with it."""

    furniture: tuple[PlacedFurniture, ...]
    things: tuple[PlacedThing, ...]
    reach: float

    def __getitem__(self, name: str) -> PlacedFurniture:
        """Return the furniture of that name."""
        return next(each for each in self.furniture if each.furniture.name == name)

    def spaces(self) -> Iterator[tuple[PlacedFurniture, StorageSpace]]:
        """Yield every space of the furniture."""
        for placed in self.furniture:
            for space in placed.furniture.spaces:
                yield placed, space
