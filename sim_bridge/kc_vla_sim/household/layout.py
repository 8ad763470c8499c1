"""Rooms by written rules: how large they are, where their furniture stands, where one can walk.

A room is a rectangle. What stands along a wall goes around the left, the back and the right wall, one beside the other
in its order, as far apart as they can, up to 1 m; what hangs above or is built in under it does so at its own height.
What stands free is in rows in the middle, a way all around it. The room is 4.4 m deep, a bathroom 2.8 m, or as much
more as that takes, and wider by a fifth. The door is in the front wall; of several rooms, side by
side, the doors lead to a hall. Areas to stand in are on a grid, about 1.3 m apart, where nothing stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kc_vla_sim.household.floor_plan import GROUND, FloorArea, FloorPlan, Point, Vector, Wall
from kc_vla_sim.household.types import ThingType

_DEEP_M, _STAND_M, _AISLE_M, _FRONT_M = 0.75, 0.4, 0.35, 0.6
"""Depths of furniture at walls, of the place to stand, of the aisle to free furniture, and at the front wall."""
_GAPS_M, _DOOR_M, HALL_M, _SPACING_M = (1.0, 0.8, 0.6, 0.4, 0.2, 0.1), 1.0, 1.6, 1.3
HALL = "hall"
_LEAST_DEEP_M = {"bathroom": 2.8}
_USUAL_DEEP_M, _WIDER = 4.4, 1.2
_HEIGHTS_M = {"wall": 0.0, "free": 0.0, "above": 1.4, "under": 0.4}


@dataclass(frozen=True)
class RoomPlan:
    """A room and its furniture, but for what stands on other furniture.

    Attributes:
        name: "kitchen".
        furniture: for each kind that was given, the middle of its foot, m, and its size along the axes, m.
        entrance: the area inside of the door.
    """

    name: str
    furniture: Sequence[tuple[ThingType, Vector, Vector]]
    entrance: str


def lay_out(
    rooms: Sequence[tuple[str, Sequence[ThingType]]], floor: str = GROUND, height_m: float = 0.0, first: int = 0
) -> tuple[FloorPlan, list[RoomPlan]]:
    """Lay out the rooms of a floor side by side.

    Args:
        rooms: name and furniture of each, in the order in which it is to stand.
        floor: on which they are.
        height_m: of its ground.
        first: number of its first area.
    """
    areas: dict[str, FloorArea] = {}
    walls: list[Wall] = []
    plans = []
    hall: list[str] = []
    left = 0.0
    for name, furniture in rooms:
        room = _Room(name, furniture, left)
        points, door = room.points(), room.door()
        names = {cell: f"area_{first + len(areas) + number}" for number, cell in enumerate(points)}
        entrance = names[door]
        outside = f"area_{first + len(areas) + len(points)}" if len(rooms) > 1 else ""
        for cell, spot in points.items():
            ways = [names[other] for other in room.beside(cell, points)]
            ways += [outside] if outside and cell == door else []
            areas[names[cell]] = FloorArea(names[cell], name, (*spot, height_m), tuple(ways), floor)
        at = points[door][0]
        if outside:
            near = (*hall[-1:], entrance)
            areas[outside] = FloorArea(outside, HALL, (at, -HALL_M / 2, height_m), near, floor)
            if hall:
                before = areas[hall[-1]]
                areas[before.id] = replace(before, adjacent=(*before.adjacent, outside))
            hall.append(outside)
        walls += room.walls(at)
        raised = [(kind, (x, y, z + height_m), size) for kind, (x, y, z), size in room.furniture]
        plans.append(RoomPlan(name, raised, entrance))
        left += room.width
    if hall:
        walls += [((0.0, 0.0), (0.0, -HALL_M)), ((0.0, -HALL_M), (left, -HALL_M)), ((left, -HALL_M), (left, 0.0))]
    return FloorPlan(areas, {floor: walls}), plans


class _Room:
    """A room whose left wall is at `left`, m, and whose front wall is at y = 0."""

    def __init__(self, name: str, kinds: Sequence[ThingType], left: float) -> None:
        deep = _LEAST_DEEP_M.get(name.partition(" ")[0], _USUAL_DEEP_M)
        while True:
            self.width, self.deep, self.left = round(_WIDER * deep, 2), round(deep, 2), left
            found = self._placed(kinds)
            if found is not None:
                self.furniture = found
                return
            deep += 0.2

    def points(self) -> dict[tuple[int, int], Point]:
        """Return where one can stand, by column and row of the grid."""
        low, high = (self.left + _DEEP_M + _STAND_M, _FRONT_M), self._ring_end()
        columns, rows = (max(2, round((b - a) / _SPACING_M) + 1) for a, b in zip(low, high, strict=True))
        free = {}
        for column in range(columns):
            for row in range(rows):
                spot = _between(low[0], high[0], column, columns), _between(low[1], high[1], row, rows)
                if not self._in_the_way(spot, spot):
                    free[column, row] = spot
        reached, left = set[tuple[int, int]](), [(0, 0)]  # the outer ones are always free
        while left:
            cell = left.pop()
            if cell not in reached:
                reached.add(cell)
                left += self.beside(cell, free)
        return {cell: free[cell] for cell in sorted(reached)}

    def beside(self, cell: tuple[int, int], points: dict[tuple[int, int], Point]) -> list[tuple[int, int]]:
        """Return the cells next to one that a straight way leads to."""
        column, row = cell
        around = ((column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1))
        return [other for other in around if other in points and not self._in_the_way(points[cell], points[other])]

    def door(self) -> tuple[int, int]:
        """Return the cell inside of the door."""
        front = [cell for cell in self.points() if cell[1] == 0]
        return front[len(front) // 2]

    def walls(self, door: float) -> list[Wall]:
        """Return all four, with a gap for the door, whose middle is at x = `door`."""
        left, right, back = self.left, self.left + self.width, self.deep
        return [
            ((left, 0.0), (left, back)),
            ((left, back), (right, back)),
            ((right, back), (right, 0.0)),
            ((left, 0.0), (door - _DOOR_M / 2, 0.0)),
            ((door + _DOOR_M / 2, 0.0), (right, 0.0)),
        ]

    def _ring_end(self) -> Point:
        return self.left + self.width - _DEEP_M - _STAND_M, self.deep - _DEEP_M - _STAND_M

    def _placed(self, kinds: Sequence[ThingType]) -> list[tuple[ThingType, Vector, Vector]] | None:
        """Return where everything stands, or None where the room is too small."""
        found: list[tuple[ThingType, Vector, Vector]] = []
        for how, height in _HEIGHTS_M.items():
            some = [kind for kind in kinds if kind.stands == (how,)]
            tries = [self._in_rows(some)] if how == "free" else [self._at_walls(some, height, gap) for gap in _GAPS_M]
            placed = next((each for each in tries if each is not None), None)
            if placed is None:
                return None
            found += placed
        return found

    def _at_walls(
        self, kinds: Sequence[ThingType], height: float, gap: float
    ) -> list[tuple[ThingType, Vector, Vector]] | None:
        lengths = [self.deep - _DEEP_M, self.width, self.deep - _DEEP_M]
        found: list[tuple[ThingType, Vector, Vector]] = []
        side, along = 0, gap / 2
        for kind in kinds:
            width, depth, tall = kind.size
            while along + width > lengths[side]:
                side, along = side + 1, gap / 2
                if side == len(lengths):
                    return None
            middle = along + width / 2
            x, y = (
                (depth / 2, middle),
                (middle, self.deep - depth / 2),
                (self.width - depth / 2, lengths[2] - middle),
            )[side]
            size = (width, depth, tall) if side == 1 else (depth, width, tall)
            found.append((kind, (self.left + x, y, height), size))
            along += width + gap
        return found

    def _in_rows(self, kinds: Sequence[ThingType]) -> list[tuple[ThingType, Vector, Vector]] | None:
        inset = _DEEP_M + _STAND_M + _AISLE_M
        low, high = (self.left + inset, _FRONT_M + _AISLE_M), (self.left + self.width - inset, self.deep - inset)
        x, y = low
        tallest = 0.0
        found: list[tuple[ThingType, Vector, Vector]] = []
        for kind in kinds:
            width, depth, _ = kind.size
            if x + width > high[0]:
                x, y, tallest = low[0], y + tallest + 2 * _AISLE_M, 0.0
            if x + width > high[0] or y + depth > high[1]:
                return None
            found.append((kind, (x + width / 2, y + depth / 2, 0.0), kind.size))
            x, tallest = x + width + 2 * _AISLE_M, max(tallest, depth)
        return found

    def _in_the_way(self, start: Point, end: Point) -> bool:
        """Return whether something stands free on a segment, or nearer to it than one can walk."""
        for kind, (x, y, _), (width, depth, _) in self.furniture:
            if kind.stands != ("free",):
                continue
            for part in range(9):
                at = _between(start[0], end[0], part, 9), _between(start[1], end[1], part, 9)
                if abs(at[0] - x) < width / 2 + 0.2 and abs(at[1] - y) < depth / 2 + 0.2:
                    return True
        return False


def _between(low: float, high: float, part: int, parts: int) -> float:
    return round(low + (high - low) * part / (parts - 1), 3) if not math.isclose(low, high) else low
