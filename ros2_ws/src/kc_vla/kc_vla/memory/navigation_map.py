"""Where a robot can go: areas, the ways between them and between floors, whatever it remembers of what is there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kc_vla.memory.floors import floor_words, floors_called, floors_of, without_floor
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.nodes import Area, Connection
from kc_vla.memory.short_term.unit import spoken

if TYPE_CHECKING:
    import networkx as nx


class AreaName(NamedTuple):
    """What people call an area: "bedroom", "second floor"; the room is empty where it has no name."""

    room: str
    floor: str


class NavigationMap:
    """The map that a robot navigates by: areas and the ways between them.

    Attributes:
        areas: by their ids.
        floors: the lowest first; a floor is as high as its lowest area.
    """

    def __init__(self, areas: Iterable[Area], connections: Iterable[Connection] = ()) -> None:
        """Connect the areas of a map.

        Args:
            areas: at least one, as the long-term memory has them; `name` is that of the room.
            connections: between its floors, beside ways that areas themselves have.

        Raises:
            GraphError: there are no areas.
        """
        self.areas: Mapping[str, Area] = {area.id: area for area in areas}
        if not self.areas:
            raise GraphError("a robot without areas cannot go anywhere: give it those of its map")
        import networkx as nx  # half a second, which a node that reads no map is spared

        self._network: nx.Graph = nx.Graph()
        self._network.add_nodes_from(self.areas)
        for area in self.areas.values():
            ways = ((area.id, other, way_m) for other, way_m in area.adjacent.items() if other in self.areas)
            self._network.add_weighted_edges_from(ways)
        for each in connections:
            one, other = each.areas
            cost_m = min(
                each.length_m + each.wait_m, self._network.get_edge_data(one, other, {}).get("weight", math.inf)
            )
            if not each.forgotten and one in self.areas and other in self.areas:
                self._network.add_edge(one, other, weight=cost_m)
        self.floors = floors_of(self.areas.values())
        self._far: dict[str, Mapping[str, float]] = {}

    def distance(self, start: str, end: str) -> float:
        """Return the length of the shortest way, m: 0 from or to an unknown area, infinite where there is no way."""
        if start not in self.areas or end not in self.areas:
            return 0.0
        if start not in self._far:
            import networkx as nx

            self._far[start] = nx.single_source_dijkstra_path_length(self._network, start)
        return self._far[start].get(end, math.inf)

    def area_names(self) -> Mapping[str, AreaName]:
        """Return what people call each area, by its id."""
        words = floor_words(self.floors)
        return {each.id: AreaName(spoken(each.name), words[each.floor]) for each in self.areas.values()}

    def nearest(self, areas: Iterable[str], start: str) -> str:
        """Return the one of some areas that is nearest to another; empty where there are none."""
        return min(areas, key=lambda each: (self.distance(start, each), each), default="")

    def on_floor(self, floor: str, start: str) -> frozenset[str]:
        """Return the areas of the floors that words mean.

        Args:
            floor: "upstairs", "second floor", or an id.
            start: the area from which upstairs and downstairs are seen; empty: the ground floor.

        Raises:
            GraphError: there is no such floor.
        """
        here = self.areas[start].floor if start in self.areas else ""
        floors = floors_called(floor, self.floors, here)
        if not floors:
            raise GraphError(f"there is no floor {told(floor)}")
        return frozenset(each.id for each in self.areas.values() if each.floor in floors)

    def called(self, name: str, start: str, seen_from: str | None = None) -> str:
        """Return the area of that id, or the nearest one of the room or floor of that name.

        Args:
            name: an id, or words such as "kitchen", "bathroom upstairs" or "the second floor".
            start: the area from which the nearest is sought.
            seen_from: the area from which upstairs and downstairs are seen; None: the same.

        Raises:
            GraphError: there is none.
        """
        if name in self.areas:
            return name
        room, floor = without_floor(name)
        allowed = self.on_floor(floor, start if seen_from is None else seen_from) if floor else frozenset(self.areas)
        wanted = spoken(room).removeprefix("the ")
        found = [each for each in sorted(allowed) if spoken(self.areas[each].name) == wanted and wanted]
        if not found and not (floor and not wanted):
            raise GraphError(f"there is no area or room {told(name)}")
        return self.nearest(found or allowed, start)
