"""Where one can walk and what walls are in the way: the part of a world that never changes."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
Vector = tuple[float, float, float]
Wall = tuple[Point, Point]
"""From one end to the other, m."""


@dataclass(frozen=True, slots=True)
class FloorArea:
    """A place to stand, and what belongs to it.

    Attributes:
        id: "area_3".
        room: "kitchen".
        position: in the map, m.
        adjacent: areas that a straight way leads to.
    """

    id: str
    room: str
    position: Vector
    adjacent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """Areas and walls of a home.

    Attributes:
        areas: by their ids.
        walls: nothing is seen through one, and nobody walks through.
    """

    areas: Mapping[str, FloorArea]
    walls: Sequence[Wall]
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

    def nearest(self, point: Sequence[float]) -> str:
        """Return the area that a place belongs to: the nearest one that no wall lies before.

        If walls are everywhere, it is the nearest of all.

        Args:
            point: x and y, m; what follows is not looked at.
        """
        spot = (point[0], point[1])
        there = sorted((math.dist(area.position[:2], spot), area.id) for area in self.areas.values())
        return next((name for _, name in there if self.clear(self.areas[name].position, spot)), there[0][1])

    def clear(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Return whether no wall is between two places."""
        start, end = (one[0], one[1]), (other[0], other[1])
        return not any(_cross(start, end, *wall) for wall in self.walls)

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
                here = self.areas[name].position
                for other in self.areas[name].adjacent:
                    heapq.heappush(waiting, (far + math.dist(here, self.areas[other].position), other, name))
            self._ways[start] = found
        return self._ways[start]


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Return whether two segments cross; ends that only touch do not."""

    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
