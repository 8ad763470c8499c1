"""Where one can walk, on which floor, and what walls are in the way: the part of a world that never changes."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.navigation_map import NavigationMap

Point = tuple[float, float]
Vector = tuple[float, float, float]
Wall = tuple[Point, Point]
"""From one end to the other, m."""
GROUND, UPPER = "ground", "upper"
"""The floors of a home; most have only the first one."""
_APART_M = 1.0
"""Between two floors that are drawn side by side."""


class Stairs(NamedTuple):
    """A way between two floors.

    Attributes:
        foot: id of the area at the lower end.
        head: of the area at the upper one.
        length_m: of the way.
    """

    foot: str
    head: str
    length_m: float


@dataclass(frozen=True, slots=True)
class FloorArea:
    """A place to stand, and what belongs to it.

    Attributes:
        id: "area_3".
        room: "kitchen".
        position: in the map, m.
        adjacent: areas that a straight way leads to.
        floor: on which it is.
    """

    id: str
    room: str
    position: Vector
    adjacent: tuple[str, ...]
    floor: str = GROUND


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """Areas and walls of a home.

    Attributes:
        areas: by their ids.
        walls: by the floor; nothing is seen through one, and nobody walks through.
        stairs: between floors.
    """

    areas: Mapping[str, FloorArea]
    walls: Mapping[str, Sequence[Wall]]
    stairs: Sequence[Stairs] = ()
    _ways: dict[str, Mapping[str, tuple[float, str]]] = field(default_factory=dict)

    def distance(self, start: str, end: str) -> float:
        """Return the length of the shortest way between two areas, m."""
        return self._from(start)[end][0]

    def way(self, start: str, end: str) -> list[str]:
        """Return the areas of the shortest way, both ends included."""
        ways, found = self._from(start), [end]
        while found[-1] != start:
            found.append(ways[found[-1]][1])
        return found[::-1]

    def heights(self) -> dict[str, float]:
        """Return the heights of the floors, m, the lowest first."""
        found = {area.floor: area.position[2] for area in self.areas.values()}
        return dict(sorted(found.items(), key=lambda each: each[1]))

    def drawn_at(self) -> dict[str, float]:
        """Return for each floor how far to the right it is drawn, m: the floors are side by side, the lowest first."""
        found, right = dict[str, float](), 0.0
        for floor in self.heights():
            xs = [x for wall in self.walls[floor] for x, _ in wall]
            found[floor] = right - min(xs) if found else 0.0
            right = found[floor] + max(xs) + _APART_M
        return found

    def beside(self, area: str) -> dict[str, float]:
        """Return the areas that a straight way or stairs lead to, with the length of the way, m."""
        here = self.areas[area]
        found = {other: math.dist(here.position, self.areas[other].position) for other in here.adjacent}
        for each in self.stairs:
            if area in (each.foot, each.head):
                found[each.head if area == each.foot else each.foot] = each.length_m
        return found

    def nearest(self, point: Sequence[float], floor: str = GROUND) -> str:
        """Return the area of a floor that a place belongs to: the nearest one that no wall lies before.

        If walls are everywhere, it is the nearest of all.

        Args:
            point: x and y, m; what follows is not looked at.
            floor: on which it is.
        """
        spot = (point[0], point[1])
        on_it = (area for area in self.areas.values() if area.floor == floor)
        there = sorted((math.dist(area.position[:2], spot), area.id) for area in on_it)
        return next((name for _, name in there if self.clear(self.areas[name].position, spot, floor)), there[0][1])

    def clear(self, one: Sequence[float], other: Sequence[float], floor: str = GROUND) -> bool:
        """Return whether no wall is between two places of a floor."""
        start, end = (one[0], one[1]), (other[0], other[1])
        return not any(_cross(start, end, *wall) for wall in self.walls[floor])

    def _from(self, start: str) -> Mapping[str, tuple[float, str]]:
        """Return the distance to each area, and the one before it (Dijkstra)."""
        if start not in self._ways:
            found: dict[str, tuple[float, str]] = {}
            waiting = [(0.0, start, start)]
            while waiting:
                far, name, before = heapq.heappop(waiting)
                if name in found:
                    continue
                found[name] = far, before
                for other, way_m in self.beside(name).items():
                    heapq.heappush(waiting, (far + way_m, other, name))
            self._ways[start] = found
        return self._ways[start]


def navigation_map_of(plan: FloorPlan) -> NavigationMap:
    """Return the areas of a home, with the ways between them, m, stairs included; each has the name of its room."""
    return NavigationMap(
        Area(area.id, area.floor, area.position, plan.beside(area.id), area.room) for area in plan.areas.values()
    )


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Return whether two segments cross; ends that only touch do not."""

    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
