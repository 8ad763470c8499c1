"""Puts things into a kitchen: which of them, in which state, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kc_vla_sim.kitchen.bodies import Vector
from kc_vla_sim.kitchen.footprints import Footprint
from kc_vla_sim.kitchen.furniture import StorageSpace
from kc_vla_sim.kitchen.kinds import (
    CUPBOARD,
    DRAWER,
    MICROWAVE,
    SCALES,
    SINK,
    STOVE,
    TOP,
    TRAY,
    WORKTOP,
    ThingKind,
)
from kc_vla_sim.kitchen.placed import PlacedFurniture, PlacedThing

FEWEST_THINGS = 13
"""Within the usual reach; less room may have fewer."""
MARGIN = 0.012
"""Between two things, and between a thing and furniture beside it, m."""
_NEAREST = 0.28
"""Nothing stands nearer to the base's axis, m."""
_FARTHEST_BACK = -0.1
"""Nor further behind it, m."""
_OFTEN_USUAL = 0.35
_NUMBERS = {TRAY: (1, 3), DRAWER: (1, 2), CUPBOARD: (1, 2), MICROWAVE: (0, 1), SINK: (1, 2), STOVE: (0, 1), TOP: (0, 1)}
"""How many things are in or on each space of a kind, at least and at most."""
_ON_WORKTOP = (3, 6)
_SMALL_ONES = 2
"""So many small things are on every worktop: an arm can take them, and they go into a drawer."""
_KEPT_IN_DRAWERS = (0.085, 0.085, 0.05)
"""Room in every drawer for one of them, m."""
_ALONG = 0.1
"""What lies along a drawer is turned from that by no more than this, rad."""
_KINDS_TRIED, _SPOTS_TRIED = 10, 25
Choice = tuple[ThingKind, str, str, float]
"""A thing before it has a place: its kind, color, state and scale."""


class Stocking:
    """Puts things into a kitchen."""

    def __init__(
        self,
        chance: np.random.Generator,
        furniture: tuple[PlacedFurniture, ...],
        reach: float,
        row_front: float,
        kinds: Mapping[str, ThingKind],
        small: tuple[str, ...],
    ) -> None:
        """Put them there.

        Args:
            chance: that decides.
            furniture: that is there.
            reach: of the arm, m.
            row_front: how far ahead of the base furniture closes the worktop, m.
            kinds: of things, by their names.
            small: names of those that an arm can take and that go into a drawer.
        """
        self._chance = chance
        self._furniture = furniture
        self._reach, self._row_front = reach, row_front
        self._kinds, self._small = kinds, small
        self._unused = [str(name) for name in chance.permutation(list(kinds))]
        self._counts: dict[str, int] = {}
        self.things: list[PlacedThing] = []
        for placed in furniture:
            for space in placed.furniture.spaces:
                self._fill(placed, space)
        self._cover_worktop()

    def _fill(self, placed: PlacedFurniture, space: StorageSpace) -> None:
        low, high = _NUMBERS[space.kind]
        here: list[Footprint] = []
        if space.kind == DRAWER and (kept := self._spot(space, _KEPT_IN_DRAWERS)) is not None:
            here.append(kept)
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
        kind, colour, state, scale = made
        size = kind.size(colour, state, scale)
        for _ in range(_SPOTS_TRIED):
            spot = self._spot(space, size)
            if spot is None or spot.overlaps_any(each.grown(max(MARGIN, space.beside)) for each in taken):
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
        beside = np.array([0.0, space.beside])
        low, high = low + beside, high - beside
        yaw = float(self._chance.uniform(-np.pi, np.pi))
        if space.middles is not None:
            turn = _ALONG if max(size[:2]) < space.extent[0] - 0.03 else 0.1 * _ALONG
            yaw = float(self._chance.choice([0, 2])) * np.pi / 2 + float(self._chance.uniform(-turn, turn))
            yaw += np.pi / 2 if size[1] > size[0] else 0.0
        elif min(space.extent[:2]) < 1.3 * max(size[:2]):
            yaw = float(self._chance.choice([0, 1, 2, 3])) * np.pi / 2 + float(self._chance.uniform(-0.1, 0.1))
        x, y = self._chance.uniform(low, high)
        if space.middles is not None:
            x = self._chance.uniform(*space.middles)
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
        kind, colour, state, scale = made
        x, y, yaw = self._place(placed, space, spot)
        z = space.low[2] + kind.size(colour, state, scale)[2] / 2
        self._take(made, (x, y, z), yaw, space.relation, space.holder)

    def _cover_worktop(self) -> None:
        blocked = [each.kept_free.grown(MARGIN) for each in self._furniture]
        wanted = int(self._chance.integers(_ON_WORKTOP[0], _ON_WORKTOP[1] + 1))
        first = wanted = max(wanted, FEWEST_THINGS - len(self.things))
        for _ in range(wanted * _KINDS_TRIED):
            made = self._next(WORKTOP, self._small if wanted > first - _SMALL_ONES else None)
            if wanted == 0 or made is None:
                return
            kind, colour, state, scale = made
            size = kind.size(colour, state, scale)
            spot = next((each for each in self._on_worktop(size) if not each.overlaps_any(blocked)), None)
            if spot is not None:
                blocked.append(spot.grown(MARGIN))
                self._take(made, (spot.x, spot.y, size[2] / 2), spot.yaw, "on", WORKTOP)
                wanted -= 1

    def _on_worktop(self, size: Vector) -> Iterator[Footprint]:
        """Yield places on the worktop within reach."""
        for _ in range(_SPOTS_TRIED):
            x, y = self._chance.uniform((_FARTHEST_BACK, -self._reach), (self._row_front, self._reach))
            spot = Footprint(float(x), float(y), size[0], size[1], float(self._chance.uniform(-np.pi, np.pi)))
            if np.hypot(x, y) < self._reach - 0.02 and np.linalg.norm(spot.corners, axis=1).min() > _NEAREST:
                yield spot

    def _next(self, place: str, among: tuple[str, ...] | None = None) -> Choice | None:
        """Draw a thing for a kind of place, or one of certain kinds, first of the kinds that are not there yet."""
        fitting = [
            name for name, kind in self._kinds.items() if place in kind.places and (among is None or name in among)
        ]
        names = [name for name in self._unused if name in fitting] or fitting
        if not names:
            return None
        kind = self._kinds[str(self._chance.choice(names))]
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
