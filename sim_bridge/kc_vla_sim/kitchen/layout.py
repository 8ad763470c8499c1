"""Draws a kitchen from a seed: which furniture stands where, and what is in and on it.

Positions are in the frame of the arm's base: x ahead, y to the left, z up from the worktop, m. A straight row of tall
furniture stands ahead of the arm and looks at it; a stove, a sink and a tray stand to its sides. Everything is placed
by the reach of the arm alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kc_vla_sim.kitchen import furnishings
from kc_vla_sim.kitchen.bodies import ShapedBody, Vector
from kc_vla_sim.kitchen.footprints import Footprint
from kc_vla_sim.kitchen.furniture import Furniture, StorageSpace
from kc_vla_sim.kitchen.kinds import (
    CUPBOARD,
    DRAWER,
    KINDS,
    MICROWAVE,
    SCALES,
    SINK,
    STOVE,
    TOP,
    TRAY,
    WORKTOP,
    ThingKind,
)

REACH = 0.7
"""How far from its base's axis the arm works on the table, m."""
LEAST_REACH, MOST_REACH = 0.69, 0.78
"""Between these the furniture has its place, m."""
FEWEST_THINGS = 13
"""Within `REACH`; less room may have fewer."""
MARGIN = 0.012
"""Between two things, and between a thing and furniture beside it, m."""
_ROW_FRONT, _WING = 0.2, 0.1
"""The row's front, and the middle of what stands at the sides, are by so much nearer than the reach, m."""
_WING_PLACES = (0.31, -0.015)
"""x of what stands at the sides, m."""
_NEAREST = 0.28
"""Nothing stands nearer to the base's axis, m."""
_OFTEN_CLOSED, _OFTEN_USUAL, _OFTEN_OFF = 0.7, 0.35, 0.6
_OFTEN_TO_THE_RIGHT = 0.6
"""Doors that turn to the right show a camera at the left of the arm what is behind them."""
_NUMBERS = {TRAY: (1, 3), DRAWER: (1, 2), CUPBOARD: (1, 2), MICROWAVE: (0, 1), SINK: (1, 2), STOVE: (0, 1), TOP: (0, 1)}
"""How many things are in or on each space of a kind, at least and at most."""
_ON_WORKTOP = (3, 6)
_SMALL, _SMALL_ONES = ("apple", "orange", "tomato", "egg", "sponge"), 2
"""So many of these are on every worktop: an arm can take them, and they go into a drawer."""
_KINDS_TRIED, _SPOTS_TRIED = 10, 25
_STREAM = 0x6B697463
"""Beside the episode's seed, what seeds the kitchen."""
Choice = tuple[ThingKind, str, str, float]
"""A thing before it has a place: its kind, color, state and scale."""
_PAINT = ("white", "cream", "gray", "blue", "green", "yellow", "red")


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


def draw_layout(seed: int, reach: float = REACH) -> KitchenLayout:
    """Draw the kitchen of the episode with `seed` for an arm of that reach (m).

    Raises:
        ValueError: the furniture has no place within such a reach.
    """
    if not LEAST_REACH <= reach <= MOST_REACH:
        raise ValueError(f"no kitchen for a reach of {reach:g} m: choose {LEAST_REACH:g} to {MOST_REACH:g} m")
    chance = np.random.default_rng((_STREAM, seed))
    furniture = (*_row(chance, reach), *_sides(chance, reach))
    return KitchenLayout(furniture, tuple(_Stocking(chance, furniture, reach).things), reach)


def _row(chance: np.random.Generator, reach: float) -> Iterator[PlacedFurniture]:
    """Yield the tall furniture ahead of the arm, from left to right."""
    body, front = (str(each) for each in chance.choice(_PAINT, 2, replace=False))
    other = str(chance.choice([each for each in _PAINT if each != body]))
    turn = 1 if chance.random() < _OFTEN_TO_THE_RIGHT else -1  # of all doors, which would meet otherwise
    pieces = (
        furnishings.drawers(body, front),
        furnishings.cupboard(body, other, turn),
        furnishings.microwave(str(chance.choice(["white", "silver", "black", "red"])), turn),
    )
    row = [pieces[which] for which in chance.permutation(3)]
    gaps = chance.uniform(0.018, 0.026, 2)
    left = (sum(each.size[1] for each in row) + gaps.sum()) / 2 + chance.uniform(-0.005, 0.005)
    for each, gap in zip(row, (*gaps, 0.0), strict=True):
        yield _placed(chance, each, reach - _ROW_FRONT + each.size[0] / 2, left - each.size[1] / 2, 0.0)
        left -= each.size[1] + gap


def _sides(chance: np.random.Generator, reach: float) -> Iterator[PlacedFurniture]:
    """Yield stove, sink and tray at three of the four places at the sides."""
    pieces = (
        furnishings.stove(str(chance.choice(["white", "silver", "gray"]))),
        furnishings.sink(str(chance.choice(["silver", "white", "gray"]))),
        furnishings.tray(str(chance.choice(["brown", "blue", "red", "green", "gray"]))),
    )
    places = [(x, side) for x in _WING_PLACES for side in (1, -1)]
    for piece, place in zip(pieces, chance.permutation(4), strict=False):
        x, side = places[place]
        stray = chance.uniform(-0.008, 0.008, 2)
        y = side * (reach - _WING + abs(float(stray[1])))
        yield _placed(chance, piece, x + float(stray[0]), y, side * np.pi / 2)


def _placed(chance: np.random.Generator, furniture: Furniture, x: float, y: float, yaw: float) -> PlacedFurniture:
    """Return furniture in its place, opened and switched on by chance."""
    openings = {
        each.name: 0.0 if chance.random() < _OFTEN_CLOSED else each.travel * float(chance.uniform(0.6, 1.0))
        for each in furniture.moving
    }
    on = bool(chance.random() > _OFTEN_OFF) and furniture.switched and not any(openings.values())
    return PlacedFurniture(furniture, float(x), float(y), float(yaw), openings, on)


class _Stocking:
    """Puts things into a kitchen."""

    def __init__(self, chance: np.random.Generator, furniture: tuple[PlacedFurniture, ...], reach: float) -> None:
        self._chance = chance
        self._furniture = furniture
        self._reach = reach
        self._unused = [str(name) for name in chance.permutation(list(KINDS))]
        self._counts: dict[str, int] = {}
        self.things: list[PlacedThing] = []
        for placed in furniture:
            for space in placed.furniture.spaces:
                self._fill(placed, space)
        self._cover_worktop()

    def _fill(self, placed: PlacedFurniture, space: StorageSpace) -> None:
        low, high = _NUMBERS[space.kind]
        here: list[Footprint] = []
        for _ in range(int(self._chance.integers(low, high + 1))):
            for _ in range(_KINDS_TRIED):
                made = self._next(space.kind)
                spot = None if made is None else self._free_spot(placed, space, made, here)
                if made is not None and spot is not None:
                    here.append(spot)
                    self._add(made, placed, space, spot)
                    break

    def _free_spot(
        self, placed: PlacedFurniture, space: StorageSpace, made: Choice, taken: list[Footprint]
    ) -> Footprint | None:
        """Draw a place beside what is in the space already, within reach; None where there is hardly one."""
        kind, _, state, scale = made
        size = kind.size(state, scale)
        for _ in range(_SPOTS_TRIED):
            spot = self._spot(space, size)
            if spot is None or spot.overlaps_any(each.grown(MARGIN) for each in taken):
                continue
            x, y, yaw = self._place(placed, space, spot)
            covered = Footprint(x, y, spot.length, spot.width, yaw)
            others = (each.kept_free for each in self._furniture if each is not placed)
            if np.hypot(x, y) <= self._reach and not covered.overlaps_any(others):
                return spot
        return None

    def _spot(self, space: StorageSpace, size: Vector) -> Footprint | None:
        """Draw a place in a space, in the frame of its furniture; None where the thing is not within it."""
        if size[2] > space.extent[2] - 0.004:
            return None
        low, high = np.array(space.low[:2]), np.array(space.high[:2])
        if space.kind == TOP:  # it may not stick out, and needs no more room than it covers
            low, high = low + 0.005, high - 0.005
        yaw = float(self._chance.uniform(-np.pi, np.pi))
        if min(space.extent[:2]) < 1.3 * max(size[:2]):
            yaw = float(self._chance.choice([0, 1, 2, 3])) * np.pi / 2 + float(self._chance.uniform(-0.1, 0.1))
        x, y = self._chance.uniform(low, high)
        spot = Footprint(float(x), float(y), size[0], size[1], yaw)
        return spot if spot.within((low[0], low[1]), (high[0], high[1])) else None

    def _place(self, placed: PlacedFurniture, space: StorageSpace, spot: Footprint) -> tuple[float, float, float]:
        """Return x, y and yaw of a place in a space, in the frame of the base."""
        x, y, yaw = spot.x, spot.y, spot.yaw
        if space.moving:
            position, turn = placed.furniture.piece(space.moving).place(placed.openings[space.moving])
            x, y, _ = (turn.apply([x, y, 0.0]) + position).tolist()
            yaw += float(turn.as_rotvec()[2])
        return (*placed.point(x, y), placed.yaw + yaw)

    def _add(self, made: Choice, placed: PlacedFurniture, space: StorageSpace, spot: Footprint) -> None:
        kind, _, state, scale = made
        x, y, yaw = self._place(placed, space, spot)
        z = space.low[2] + kind.size(state, scale)[2] / 2
        self._take(made, (x, y, z), yaw, space.relation, space.holder)

    def _cover_worktop(self) -> None:
        blocked = [each.kept_free.grown(MARGIN) for each in self._furniture]
        wanted = int(self._chance.integers(_ON_WORKTOP[0], _ON_WORKTOP[1] + 1))
        first = wanted = max(wanted, FEWEST_THINGS - len(self.things))
        for _ in range(wanted * _KINDS_TRIED):
            made = self._next(WORKTOP, _SMALL if wanted > first - _SMALL_ONES else None)
            if wanted == 0 or made is None:
                return
            kind, _, state, scale = made
            size = kind.size(state, scale)
            spot = next((each for each in self._on_worktop(size) if not each.overlaps_any(blocked)), None)
            if spot is not None:
                blocked.append(spot.grown(MARGIN))
                self._take(made, (spot.x, spot.y, size[2] / 2), spot.yaw, "on", WORKTOP)
                wanted -= 1

    def _on_worktop(self, size: Vector) -> Iterator[Footprint]:
        """Yield places on the worktop within reach."""
        for _ in range(_SPOTS_TRIED):
            x, y = self._chance.uniform((-0.1, -self._reach), (self._reach - _ROW_FRONT, self._reach))
            spot = Footprint(float(x), float(y), size[0], size[1], float(self._chance.uniform(-np.pi, np.pi)))
            if np.hypot(x, y) < self._reach - 0.02 and np.linalg.norm(spot.corners, axis=1).min() > _NEAREST:
                yield spot

    def _next(self, place: str, among: tuple[str, ...] | None = None) -> Choice | None:
        """Draw a thing for a kind of place, or one of certain kinds, first of the kinds that are not there yet."""
        fitting = [name for name, kind in KINDS.items() if place in kind.places and (among is None or name in among)]
        names = [name for name in self._unused if name in fitting] or fitting
        if not names:
            return None
        kind = KINDS[str(self._chance.choice(names))]
        colour = str(self._chance.choice(kind.colours))
        usual = self._chance.random() < _OFTEN_USUAL
        state = kind.states[0] if usual else str(self._chance.choice(kind.states))
        return kind, colour, state, float(self._chance.uniform(*SCALES))

    def _take(
        self,
        made: Choice,
        place: tuple[float, float, float],
        yaw: float,
        relation: str,
        holder: str,
    ) -> None:
        kind, colour, state, scale = made
        if kind.name in self._unused:
            self._unused.remove(kind.name)
        self._counts[kind.name] = self._counts.get(kind.name, 0) + 1
        name = f"{kind.name}_{self._counts[kind.name]}"
        self.things.append(PlacedThing(name, kind, colour, state, scale, *place, float(yaw), relation, holder))
