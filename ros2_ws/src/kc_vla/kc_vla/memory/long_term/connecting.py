"""Connections of floors: by hand, by what a detector sees on two floors, and kept when a floor gets other areas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from kc_vla.memory.long_term.detections import plain_type
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph
from kc_vla.memory.long_term.nodes import Area, Connection, ConnectionKind, SceneObject, Vector
from kc_vla.memory.long_term.ways import areas_called

LIFT_WAIT_M = 10.0
"""What a lift costs each time, where nobody says: 20 s at 0.5 m/s, as m of level walking."""
SEEN_AS: Mapping[str, ConnectionKind] = {
    **dict.fromkeys(("stairs", "stair", "staircase", "stairway", "stairwell"), "stairs"),
    **dict.fromkeys(("lift", "elevator"), "lift"),
    "ramp": "ramp",
}
"""The classes of objects that connect floors, and how."""
_LEAST = 0.5
"""Confidence of each of both objects."""
_ONE_M = 2.0
"""Two ends of one kind on one floor that are nearer are of one connection, besides the size of what is seen."""
_TOUCH_M = 0.5


def connected(
    graph: SceneGraph, one: str, other: str, kind: str, length_m: float, wait_m: float | None = None
) -> GraphChange:
    """Work out a connection of two areas of different floors, whose id is the next one of the map.

    Args:
        graph: as it is.
        one: id or name of the area at one end; of a room whose name several areas have, an id.
        other: of the area at the other end.
        kind: stairs, lift or ramp.
        length_m: of the way from one to the other; 0: the straight line between the middles of both areas.
        wait_m: fixed cost of each use; None: 10 m of a lift, else 0.

    Raises:
        GraphError: there is no such area, both are on one floor, or a value cannot be.
    """
    ends = _area(graph, one), _area(graph, other)
    if graph.floor_of(ends[0]) == graph.floor_of(ends[1]):
        raise GraphError(f"{told(one)} and {told(other)} are on one floor: a connection joins areas of two floors")
    name = f"{kind}_{graph.number}"
    places = graph.areas[ends[0]].position, graph.areas[ends[1]].position
    wait = _wait_m(kind) if wait_m is None else wait_m
    length_m = length_m or math.dist(*places)
    return GraphChange((Connection(name, kind, ends, places, length_m, wait),), (), graph.number + 1)  # type: ignore[arg-type]


def disconnected(graph: SceneGraph, connection_id: str) -> GraphChange:
    """Work out that there is no such connection: no way goes over it, and no detector makes it again.

    Raises:
        GraphError: there is none of that id.
    """
    if connection_id not in graph.connections:
        there = ", ".join(sorted(each.id for each in graph.connections.values() if not each.forgotten)) or "none"
        raise GraphError(f"there is no connection {told(connection_id)} in map {told(graph.map_id)}: there are {there}")
    return GraphChange((replace(graph.connections[connection_id], forgotten=True),))


class WaysAcross(NamedTuple):
    """The ways that areas themselves have from a floor with new areas to other floors.

    Attributes:
        of_floor: by the id of a new area, the ways to areas of other floors, m.
        others: areas of other floors, with their ways to the new ones, by their ids.
    """

    of_floor: Mapping[str, Mapping[str, float]]
    others: Mapping[str, Area]


def ways_across(graph: SceneGraph, floor: str, nearest: Callable[[Vector], str]) -> WaysAcross:
    """Return the ways from a floor to others, as imported maps have them, with each end in the nearest new area.

    Args:
        graph: as it is.
        floor: id of the floor that gets new areas.
        nearest: gives the id of the new area that is nearest to a place.
    """
    of_floor: dict[str, dict[str, float]] = {}
    others: dict[str, Area] = {}
    for area in graph.areas.values():
        leaving = {each for each in area.adjacent if each in graph.areas and graph.areas[each].floor != area.floor}
        if area.floor == floor and leaving:
            of_floor.setdefault(nearest(area.position), {}).update((each, area.adjacent[each]) for each in leaving)
        elif any(graph.areas[each].floor == floor for each in leaving):
            ways: dict[str, float] = {}
            for each, way_m in area.adjacent.items():
                there = graph.areas.get(each)
                name = nearest(there.position) if there is not None and there.floor == floor else each
                ways[name] = min(way_m, ways.get(name, way_m))
            others[area.id] = replace(area, adjacent=ways)
    return WaysAcross(of_floor, others)


def kept(after: SceneGraph, before: SceneGraph, floor: str) -> Iterator[Connection]:
    """Yield the connections of a floor that has got other areas, each with the new area nearest to its end."""
    for each in before.connections.values():
        ends = []
        for area, place in zip(each.areas, each.places, strict=True):
            was_on = before.floor_of(area)
            if not was_on:  # a damaged store has lost it
                ends.append(after.area_at(place))
            else:
                ends.append(after.area_on(floor, place) if was_on == floor else area)
        if tuple(ends) != each.areas:
            yield replace(each, areas=(ends[0], ends[1]))


def proposed(graph: SceneGraph, put: Iterable[SceneObject], number: int) -> list[Connection]:
    """Return the connections that objects show which were just seen, numbered from `number` on.

    Two objects of one kind show one where they are at the same x and y, within their sizes, on two floors. Stairs and
    ramps lead to the next floor, lifts to every floor. What is known already, or was forgotten, is not found again.

    Args:
        graph: as it was before.
        put: objects as they are now.
        number: of the map's next node.
    """
    seen = {each.id: each for each in put}
    fresh = [each for each in seen.values() if _kind(graph, each) is not None]
    found: list[Connection] = []
    for one in fresh:
        reach_m = _heights(graph) + one.diagonal_m + graph.largest_m
        around = {other.id: seen.get(other.id, other) for other in graph.near(one.position, reach_m)}
        around |= {other.id: other for other in fresh}
        for other in sorted(around.values(), key=lambda each: each.id):
            kind = _kind(graph, one)
            if kind is None or _kind(graph, other) != kind or not _above(graph, one, other, kind):
                continue
            made = _between(graph, one, other, kind, f"{kind}_{number + len(found)}")
            if not any(_same(graph, made, known, one) for known in (*graph.connections.values(), *found)):
                found.append(made)
    return found


def withdrawn(graph: SceneGraph, change: GraphChange) -> GraphChange:
    """Return a change that also takes the connections away that rest on objects which it takes away.

    A connection that a detector made needs an object of its kind at both ends. One that a person made stays, and so
    does one that a person took out: detectors do not make it again.

    Args:
        graph: as it is before.
        change: that removes, forgets or renames objects.
    """
    after = {each.id: each for each in change.put if isinstance(each, SceneObject)}
    gone = set(change.removed)
    lost = [
        before
        for name in (*gone, *after)
        if (before := graph.objects.get(name)) is not None
        and (kind := _is_way(before)) is not None
        and (name in gone or _is_way(after[name]) != kind)
    ]
    made = (each for each in graph.connections.values() if each.detected and not each.forgotten) if lost else ()
    without = tuple(each.id for each in made if any(_leaves(graph, each, one, gone, after) for one in lost))
    return replace(change, removed=(*change.removed, *without)) if without else change


def _is_way(each: SceneObject) -> ConnectionKind | None:
    """Return how an object connects floors, if it is one that does and nobody says that it is not there."""
    return None if each.forgotten else SEEN_AS.get(plain_type(each.object_type))


def _leaves(
    graph: SceneGraph, made: Connection, lost: SceneObject, gone: set[str], after: Mapping[str, SceneObject]
) -> bool:
    """Return whether an object was at an end of a connection, and no other one of that kind is."""
    if _is_way(lost) != made.kind:
        return False
    for area, place in zip(made.areas, made.places, strict=True):
        if graph.floor_of(lost.area) != graph.floor_of(area) or not _at(lost, place):
            continue
        around = graph.near(lost.position, _ONE_M + lost.diagonal_m + graph.largest_m)
        others = (after.get(each.id, each) for each in around if each.id not in gone and each.id != lost.id)
        fresh = (each for each in after.values() if each.id not in graph.objects)
        rest = (each for each in (*others, *fresh) if graph.floor_of(each.area) == graph.floor_of(area))
        return not any(_is_way(each) == made.kind and _at(each, place) for each in rest)
    return False


def _at(each: SceneObject, place: Vector) -> bool:
    """Return whether an object is at an end of a connection, as its place was taken from one."""
    return all(abs(each.position[axis] - place[axis]) <= max(each.size[axis] / 2, _TOUCH_M) for axis in (0, 1))


def _area(graph: SceneGraph, name: str) -> str:
    areas = areas_called(graph, name)
    if len(areas) > 1:
        listed = ", ".join(sorted(areas)[:8])
        raise GraphError(f"{told(name)} has {len(areas)} areas: name the one at the end of the way: {listed}")
    return next(iter(areas))


def _wait_m(kind: str) -> float:
    return LIFT_WAIT_M if kind == "lift" else 0.0


def _heights(graph: SceneGraph) -> float:
    heights = [floor.height_m for floor in graph.floors.values()] or [0.0]
    return max(heights) - min(heights)


def _kind(graph: SceneGraph, each: SceneObject) -> ConnectionKind | None:
    if each.area not in graph.areas or each.forgotten or each.confidence < _LEAST:
        return None
    return SEEN_AS.get(plain_type(each.object_type))


def _above(graph: SceneGraph, one: SceneObject, other: SceneObject, kind: ConnectionKind) -> bool:
    """Return whether two objects are one above the other, on floors that such a thing can connect."""
    order = [each.id for each in sorted(graph.floors.values(), key=lambda floor: (floor.height_m, floor.id))]
    floors = [graph.floor_of(each.area) for each in (one, other)]
    if one.id == other.id or floors[0] == floors[1] or not set(floors) <= set(order):
        return False
    if kind != "lift" and abs(order.index(floors[0]) - order.index(floors[1])) > 1:
        return False
    return all(
        abs(one.position[axis] - other.position[axis]) <= max((one.size[axis] + other.size[axis]) / 2, _TOUCH_M)
        for axis in (0, 1)
    )


def _between(graph: SceneGraph, one: SceneObject, other: SceneObject, kind: ConnectionKind, name: str) -> Connection:
    """Return the connection that two objects show; of stairs and ramps the length is that of the slope."""
    low, high = sorted((one, other), key=lambda each: graph.floors[graph.floor_of(each.area)].height_m)
    heights = [graph.floors[graph.floor_of(each.area)].height_m for each in (low, high)]
    rise_m = heights[1] - heights[0]
    run_m = 0.0 if kind == "lift" else max(*low.size[:2], *high.size[:2])
    places: list[Vector] = [(*each.position[:2], height) for each, height in zip((low, high), heights, strict=True)]
    length_m = math.hypot(rise_m, run_m)
    return Connection(name, kind, (low.area, high.area), (places[0], places[1]), length_m, _wait_m(kind), detected=True)


def _same(graph: SceneGraph, made: Connection, known: Connection, seen: SceneObject) -> bool:
    """Return whether a connection is known already: one of its kind, of these floors, whose end is near."""

    def ends(connection: Connection) -> dict[str, Vector]:
        ends = zip(connection.areas, connection.places, strict=True)
        return {graph.floor_of(area) or graph.floor_at(place[2], graph.floors): place for area, place in ends}

    mine, others = ends(made), ends(known)
    near_m = _ONE_M + seen.diagonal_m
    return (
        made.kind == known.kind
        and set(mine) == set(others)
        and any(math.dist(place[:2], others[floor][:2]) <= near_m for floor, place in mine.items())
    )
