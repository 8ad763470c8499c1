"""What furniture is: fixed pieces, pieces that slide or turn, lamps, and the spaces for things in and on it.

The frame of a piece of furniture stands on the worktop in the middle of its footprint; its front looks along -x, its
width is along y. All that moves is given as it is when closed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.kitchen.bodies import Colour, Part, Solid, Vector
from kc_vla_sim.kitchen.meshes import box

Pieces = tuple[list[Part], list[Solid]]


@dataclass(frozen=True)
class Moving:
    """A drawer or a door.

    Attributes:
        name: of the object that it opens: "drawer_1", "cupboard".
        object_type: of that.
        parts: what is drawn.
        solids: what is touched.
        travel: how far it opens, m or rad.
        low: least corner of it when closed, m.
        high: greatest corner.
        handle: middle of its handle when closed, m.
        pivot: x, y of the hinge's axis, m; None for a drawer, which slides along -x.
        turn: +1 or -1, about z, of a hinge.
        lit: what shines on it while the furniture is on.
    """

    name: str
    object_type: str
    parts: tuple[Part, ...]
    solids: tuple[Solid, ...]
    travel: float
    low: Vector
    high: Vector
    handle: Vector
    pivot: tuple[float, float] | None = None
    turn: int = 1
    lit: tuple[Part, ...] = ()

    def place(self, opening: float) -> tuple[Vector, Rotation]:
        """Return where the frame of this piece is in that of the furniture at an `opening` in m or rad."""
        if self.pivot is None:
            return (-opening, 0.0, 0.0), Rotation.identity()
        turned = Rotation.from_euler("z", self.turn * opening)
        x, y, _ = (self.pivot_point - turned.apply(self.pivot_point)).tolist()
        return (x, y, 0.0), turned

    @property
    def pivot_point(self) -> NDArray[np.float64]:
        """Return a point on the hinge's axis (3,), m; the origin for a drawer."""
        return np.zeros(3) if self.pivot is None else np.array([*self.pivot, 0.0])

    def handle_at(self, opening: float) -> NDArray[np.float64]:
        """Return the middle of its handle (3,), m, in the frame of the furniture."""
        position, turn = self.place(opening)
        place: NDArray[np.float64] = np.add(position, turn.apply(self.handle))
        return place


@dataclass(frozen=True)
class StorageSpace:
    """Where things can be placed in or on furniture.

    Attributes:
        kind: of `kc_vla_sim.kitchen.kinds`: "drawer", "tray".
        holder: name of the object that holds them: "drawer_1".
        relation: "in" or "on".
        low: least corner, m; things stand at its height.
        high: greatest corner.
        moving: name of the piece that it moves with; empty where it is fixed.
        door: name of the piece that closes it; empty where it is always open.
        middles: x between which the middles of things are that were put there, m, and things lie along x, as cutlery
            does; None: anywhere and any way.
        beside: room beside each of them along y, m.
    """

    kind: str
    holder: str
    relation: str
    low: Vector
    high: Vector
    moving: str = ""
    door: str = ""
    middles: tuple[float, float] | None = None
    beside: float = 0.0

    @property
    def extent(self) -> Vector:
        """Return its size along x, y, z, m."""
        x, y, z = (np.array(self.high) - self.low).tolist()
        return x, y, z


@dataclass(frozen=True)
class PushSwitch:
    """What switches furniture on, and off again, when a finger presses it.

    Attributes:
        solid: what is touched, fixed to the furniture.
        place: middle of the side that is pressed (3,), m.
        normal: unit vector out of that side (3,).
    """

    solid: Solid
    place: Vector
    normal: Vector


@dataclass(frozen=True)
class Furniture:
    """A piece of furniture.

    Attributes:
        name: its id.
        object_type: type of the object.
        parts: what is drawn of what does not move.
        solids: what is touched of that.
        size: depth, width and height along x, y, z, m.
        moving: drawers and doors.
        spaces: where things can be.
        lit: what shines while it is on, beside that on its door.
        swing: how far in front of it nothing may stand, m ...
        aside: ... and how far beside it there, m: the handle of an opened door is there.
        colour: name of its color.
        switch: what switches it; None where it cannot be on.
    """

    name: str
    object_type: str
    parts: tuple[Part, ...]
    solids: tuple[Solid, ...]
    size: Vector
    moving: tuple[Moving, ...] = ()
    spaces: tuple[StorageSpace, ...] = ()
    lit: tuple[Part, ...] = ()
    swing: float = 0.0
    aside: float = 0.0
    colour: str = ""
    switch: PushSwitch | None = None

    @property
    def switched(self) -> bool:
        """Return whether it can be on."""
        return bool(self.lit or any(each.lit for each in self.moving))

    def piece(self, name: str) -> Moving:
        """Return its drawer or door of that name, which it must have."""
        return next(each for each in self.moving if each.name == name)


@dataclass
class Pile:
    """Collects boxes that are drawn and touched."""

    parts: list[Part] = field(default_factory=list)
    solids: list[Solid] = field(default_factory=list)

    def add(self, low: Vector, high: Vector, colour: Colour, solid: bool = True) -> None:
        """Add a box between two corners, m."""
        size, middle = np.subtract(high, low), np.add(high, low) / 2
        self.parts.append(Part(box(size).moved(middle), colour))
        if solid:
            x, y, z = size.tolist()
            at_x, at_y, at_z = middle.tolist()
            self.solids.append(Solid("box", (x, y, z), (at_x, at_y, at_z)))

    def cabinet(self, size: Vector, wall: float, colour: Colour, inside: Colour) -> None:
        """Add five sides of a cabinet that is open in front; the floor and the back have the color of its inside."""
        depth, width, height = size
        front, back, side = -depth / 2, depth / 2, width / 2
        self.add((front, -side, 0), (back, -side + wall, height), colour)
        self.add((front, side - wall, 0), (back, side, height), colour)
        self.add((front, -side + wall, height - wall), (back, side - wall, height), colour)
        self.add((front + 0.001, -side + wall, 0), (back - wall, side - wall, wall), inside)
        self.add((back - wall, -side + wall, 0), (back, side - wall, height - wall), colour)
        self.add((back - wall - 0.001, -side + wall, wall), (back - wall, side - wall, height - wall), inside, False)

    def bar(self, middle: Vector, length: float, upright: bool, front: float, colour: Colour) -> None:
        """Add a handle: a bar along y or z that two posts hold before a front at x = `front`."""
        x, y, z = middle
        half, thick = length / 2, 0.006
        along = (thick, thick, half) if upright else (thick, half, thick)
        self.add((x - thick, y - along[1], z - along[2]), (x + thick, y + along[1], z + along[2]), colour)
        for end in (-half + thick, half - thick):
            a, b = (y, z + end) if upright else (y + end, z)
            self.add((x, a - thick, b - thick), (front, a + thick, b + thick), colour)
