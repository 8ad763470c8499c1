"""Where a robot can go: the areas of its map and the ways between them, whatever it remembers of what is there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import networkx as nx

from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.short_term.unit import spoken


class NavigationMap:
    """The map that a robot navigates by: areas and the ways between them.

    Attributes:
        areas: by their ids.
    """

    def __init__(self, areas: Iterable[Area]) -> None:
        """Connect the areas of a map.

        Args:
            areas: at least one, as the long-term memory has them; `name` is that of the room.

        Raises:
            GraphError: there are none.
        """
        self.areas: Mapping[str, Area] = {area.id: area for area in areas}
        if not self.areas:
            raise GraphError("a robot without areas cannot go anywhere: give it those of its map")
        self._network: nx.Graph = nx.Graph()
        self._network.add_nodes_from(self.areas)
        for area in self.areas.values():
            ways = ((area.id, other, way_m) for other, way_m in area.adjacent.items() if other in self.areas)
            self._network.add_weighted_edges_from(ways)
        self._far: dict[str, Mapping[str, float]] = {}

    def distance(self, start: str, end: str) -> float:
        """Return the length of the shortest way, m: 0 from or to an unknown area, infinite where there is no way."""
        if start not in self.areas or end not in self.areas:
            return 0.0
        if start not in self._far:
            self._far[start] = nx.single_source_dijkstra_path_length(self._network, start)
        return self._far[start].get(end, math.inf)

    def nearest(self, areas: Iterable[str], start: str) -> str:
        """Return the one of some areas that is nearest to another; empty where there are none."""
        return min(areas, key=lambda each: (self.distance(start, each), each), default="")

    def called(self, name: str, start: str) -> str:
        """Return the area of that id, or the nearest one of the room or floor of that name.

        Raises:
            GraphError: there is none.
        """
        if name in self.areas:
            return name
        wanted = spoken(name).removeprefix("the ")
        found = [each.id for each in self.areas.values() if each.name and spoken(each.name) == wanted]
        if not found:
            raise GraphError(f"there is no area or room {told(name)}")
        return self.nearest(found, start)
