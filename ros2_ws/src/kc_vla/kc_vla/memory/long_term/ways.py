"""The shortest way between two places of a map, over areas and over what connects its floors.

A place is an id of an area, object or floor, or a name: of a room, of a floor, or of the only object of a class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kc_vla.memory.floors import DOWN, UP, floors_called, without_floor
from kc_vla.memory.long_term.detections import plain_type
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.short_term.unit import spoken

_MOST_TOLD = 6
"""Places of one name that an error tells."""


@dataclass(frozen=True)
class Way:
    """A way through areas.

    Attributes:
        areas: from the first to the last one, both with it.
        length_m: of the way.
        cost_m: by which it is the shortest: its length, and what each use of a connection costs beside.
        over: ids of the connections that it goes over, in their order.
    """

    areas: tuple[str, ...]
    length_m: float
    cost_m: float = 0.0
    over: tuple[str, ...] = ()


def way(graph: SceneGraph, begin: str, end: str) -> Way:
    """Return the shortest way between two places; of a room or floor the nearest area counts.

    Args:
        graph: to walk in.
        begin: an id or a name; "upstairs" is as seen from the end.
        end: the same; "upstairs" is as seen from the beginning.

    Raises:
        GraphError: there is no such place, its name is ambiguous, an object is in no area, or no way is known.
    """
    import networkx as nx  # half a second, which most who load this are spared

    if begin == end:
        return Way((sorted(areas_called(graph, begin))[0],), 0.0)
    if _is_relative(begin) and _is_relative(end):
        raise GraphError(f"{told(begin)} and {told(end)}: name a floor or an area for one of both")
    if _is_relative(begin):
        ends = areas_called(graph, end)
        begins = areas_called(graph, begin, _floor_of(graph, ends))
    else:
        begins = areas_called(graph, begin)
        ends = areas_called(graph, end, _floor_of(graph, begins))
    walkable = nx.subgraph_view(
        graph.network, filter_node=lambda node: node in graph.areas or node in graph.connections
    )
    costs, ways = nx.multi_source_dijkstra(walkable, begins, weight="way_m")
    reached = sorted((costs[area], area) for area in ends if area in costs)
    if not reached:
        raise GraphError(f"no way is known from {told(begin)} to {told(end)}: connect their floors, or set the areas")
    cost_m, last = reached[0]
    found = ways[last]
    over = tuple(node for node in found if node in graph.connections)
    waits_m = sum(graph.connections[each].wait_m for each in over)
    return Way(tuple(node for node in found if node in graph.areas), float(cost_m) - waits_m, float(cost_m), over)


def areas_called(graph: SceneGraph, name: str, here: str = "") -> set[str]:
    """Return the areas of a place: one, or all of a room or of floors.

    Args:
        graph: of the map.
        name: an id or a name, with or without the floor: "bathroom", "bathroom upstairs", "upstairs", "mug_7", "mug".
        here: id of the floor from which one speaks.

    Raises:
        GraphError: there is no such place, or there are several.
    """
    if name in graph.areas:
        return {name}
    if name in graph.objects:
        return {_area_of(graph, name)}
    floors = floors_called(name, list(graph.floors.values()), here)
    if floors:
        return _not_empty({area.id for area in graph.areas.values() if area.floor in floors}, name)
    words = without_floor(name)
    among: Mapping[str, str] = {area.id: area.floor for area in graph.areas.values()}
    if words.floor:
        allowed = floors_called(words.floor, list(graph.floors.values()), here)
        among = {area: floor for area, floor in among.items() if floor in allowed}
    wanted = spoken(words.rest).removeprefix("the ")
    rooms = _rooms(graph, {each for each in among if spoken(graph.areas[each].name) == wanted})
    if len(rooms) == 1:
        return rooms[0]
    if rooms:
        there = [f"{min(room)} on {told(among[min(room)])}" for room in rooms[:_MOST_TOLD]]
        raise GraphError(f"{told(name)} is the name of {len(rooms)} rooms: say which by its id: {', '.join(there)}")
    kind = plain_type(wanted)
    things = [each for each in graph.known(0.2) if plain_type(each.object_type) == kind and each.area in among]
    if len(things) > 1:
        there = [f"{each.id} in {told(each.area)}" for each in things[:_MOST_TOLD]]
        raise GraphError(f"{told(name)} can be {len(things)} objects: say which by its id: {', '.join(there)}")
    if not things:
        raise GraphError(f"there is no object {told(name)} in map {told(graph.map_id)}, nor an area, room or floor")
    return {_area_of(graph, things[0].id)}


def _rooms(graph: SceneGraph, areas: set[str]) -> list[set[str]]:
    """Return the parts of some areas within which one walks through no other area, on one floor each."""
    import networkx as nx

    level = nx.Graph()
    level.add_nodes_from(areas)
    level.add_edges_from(
        (area, other)
        for area in areas
        for other in graph.areas[area].adjacent
        if other in areas and graph.areas[other].floor == graph.areas[area].floor
    )
    return sorted(map(set, nx.connected_components(level)), key=min)


def _is_relative(name: str) -> bool:
    return without_floor(name).floor in (UP, DOWN)


def _floor_of(graph: SceneGraph, areas: set[str]) -> str:
    return graph.areas[min(areas)].floor


def _area_of(graph: SceneGraph, object_id: str) -> str:
    area = graph.object(object_id).area
    if area not in graph.areas:
        raise GraphError(f"{told(object_id)} is in no area: set areas first, over a grid or points, or import some")
    return area


def _not_empty(areas: set[str], name: str) -> set[str]:
    if not areas:
        raise GraphError(f"{told(name)} has no areas: set areas of it first, or import some")
    return areas
