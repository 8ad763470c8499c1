"""What is asked of a scene graph: objects by what they are and where, and what is beside what."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kc_vla.memory.floors import floors_called, without_floor
from kc_vla.memory.long_term.detections import plain_type
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.graph import ADJACENT, CONTAINS, IN, ON, SceneGraph
from kc_vla.memory.long_term.nodes import CONNECTION_KINDS, MOST_DISTANCE_M, SceneObject, Vector
from kc_vla.memory.long_term.relations import NEXT_TO_M, is_next_to
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.short_term.unit import spoken

NEXT_TO = "next to"
RELATIONS = (ON, IN, NEXT_TO)
MOST_TEXT = 10_000


@dataclass(frozen=True)
class Query:
    """What an object must be; what is left empty is not asked for.

    Attributes:
        text: that it fits, see `TextSearch`: a name, states, what is not meant, a purpose, a relation.
        object_type: its class.
        area: id or name of its area, or of its floor; or words: "upstairs", "the first floor", "bathroom upstairs".
            Upstairs is as seen from `viewpoint`, else from `near`, else from the ground floor.
        near: a place, m; the results are in the order of the distance if no text is given.
        radius_m: from `near`.
        relation: `on`, `in` or `next to`.
        other: id of the object that it stands in that relation to.
        least: confidence.
        limit: results at most.
        viewpoint: where a text is said from, which "left of" and the like need: a pose, or the id or name of an object
            or an area. A text that names a viewpoint itself, such as "seen from the door", needs none.
    """

    text: str = ""
    object_type: str = ""
    area: str = ""
    near: Vector | None = None
    radius_m: float | None = None
    relation: str = ""
    other: str = ""
    least: float = 0.2
    limit: int = 20
    viewpoint: Viewpoint | str | None = None

    def __post_init__(self) -> None:
        if len(self.text) > MOST_TEXT:
            raise GraphError(f"a question of {len(self.text)} letters: {MOST_TEXT} are the most")
        if bool(self.relation) != bool(self.other) or self.relation not in ("", *RELATIONS):
            raise GraphError(f"a relation is one of {', '.join(RELATIONS)}, and to an object")
        if self.radius_m is not None and (self.near is None or not 0 <= self.radius_m <= MOST_DISTANCE_M):
            raise GraphError(f"a radius of {told(self.radius_m)} m: it must be a length, around a place")
        if self.near is not None and (len(self.near) != 3 or not all(map(math.isfinite, self.near))):
            raise GraphError(f"{told(self.near)} is no place: it must be x, y, z in m")
        if not 0.0 <= self.least <= 1.0:
            raise GraphError(f"a confidence of {told(self.least)}: it must be from 0 to 1")
        if self.limit < 1:
            raise GraphError(f"a limit of {self.limit}: it must be at least 1")


@dataclass(frozen=True)
class FoundObject:
    """An object, how well it fits the text (0..1; 1 without one), and how far it is from the place, m, if there is
    one."""

    thing: SceneObject
    score: float
    distance_m: float | None


@dataclass(frozen=True)
class QueryAnswer:
    """What a scene graph answers.

    Attributes:
        found: the objects, the best first; empty where nothing fits.
        confidence: share of the answers this sure whose first object is what the text means, 0..1; without a text, that
            the first object is there.
        note: which part of a relation is not known, where nothing fits for that; else empty.
    """

    found: tuple[FoundObject, ...]
    confidence: float
    note: str = ""


def find(graph: SceneGraph, query: Query, scores: Mapping[str, float] | None = None) -> list[FoundObject]:
    """Return the objects that fit, the best first.

    Args:
        graph: to look in.
        query: what is asked.
        scores: above 0 of each object that fits the text of the query, by its id; None where none is asked for.

    Raises:
        GraphError: an area or object is named that there is not.
    """
    found: list[FoundObject] = []
    inside = _inside(graph, query) if query.area else None
    kind = plain_type(query.object_type) if query.object_type else None
    for each in _around(graph, query, scores):
        if each.forgotten or each.confidence < query.least or (kind and plain_type(each.object_type) != kind):
            continue
        if inside is not None and each.area not in inside:
            continue
        score = 1.0 if scores is None else scores.get(each.id, 0.0)
        if score > 0.0:
            far_m = None if query.near is None else math.dist(each.position, query.near)
            found.append(FoundObject(each, score, far_m))
    found.sort(key=lambda one: (-one.score, one.distance_m or 0.0, -one.thing.confidence, one.thing.id))
    return found[: query.limit]


def neighbours(graph: SceneGraph, node_id: str) -> list[tuple[str, str]]:
    """Return what is beside a node: pairs of the relation, as seen from the node, and an id.

    Of an object: `on` or `in` its holder, `holds` what is on or in it, `next to`, `area`. Of an area: `adjacent`,
    `floor`, `contains`, and `stairs`, `lift` or `ramp` of a connection, which has the same of its areas. Of a floor:
    `contains`.

    Raises:
        GraphError: there is no such node.
    """
    graph.get(node_id)
    found = [(data["kind"], other) for _, other, data in graph.network.out_edges(node_id, data=True)]
    for other, _, data in graph.network.in_edges(node_id, data=True):
        if data["kind"] == CONTAINS:
            found.append(("area" if other in graph.areas else "floor", other))
        elif data["kind"] not in (ADJACENT, *CONNECTION_KINDS):
            found.append(("holds", other))
    if (thing := graph.objects.get(node_id)) is not None:
        found += [(NEXT_TO, each.id) for each in _next_to(graph, thing)]
    return sorted(pair for pair in found if pair[1] not in graph.objects or not graph.objects[pair[1]].forgotten)


def _around(graph: SceneGraph, query: Query, scores: Mapping[str, float] | None) -> Iterable[SceneObject]:
    """Return the objects that the relation, else the radius, else the text leave."""
    if query.relation:
        other = graph.object(query.other)
        if query.relation == NEXT_TO:
            related = _next_to(graph, other)
        else:
            related = [each for each in graph.held_by(other.id) if each.placed == query.relation]
        if query.near is None or query.radius_m is None:
            return related
        return [each for each in related if math.dist(each.position, query.near) <= query.radius_m]
    if query.near is not None and query.radius_m is not None:
        return graph.near(query.near, query.radius_m)
    return graph.objects.values() if scores is None else [graph.objects[name] for name in scores]


def _next_to(graph: SceneGraph, thing: SceneObject) -> list[SceneObject]:
    radius_m = (thing.diagonal_m + graph.largest_m) / 2 + NEXT_TO_M
    return [each for each in graph.near(thing.position, radius_m) if not each.forgotten and is_next_to(each, thing)]


def areas_named(graph: SceneGraph, name: str, here: str = "") -> set[str]:
    """Return the ids of the areas that a name means: an area, all of a room, of floors, or of a room on a floor.

    It is empty where there are none of that name.

    Args:
        graph: of the map.
        name: an id or a name, in capitals or not, with or without words for a floor.
        here: id of the floor from which upstairs and downstairs are seen; empty: the ground floor.

    Raises:
        GraphError: the words are for a floor that the map has not.
    """
    areas = graph.areas.values()
    wanted = spoken(name).removeprefix("the ")
    found = {each.id for each in areas if name in (each.id, each.name)} or {
        each.id for each in areas if wanted in (spoken(each.id), spoken(each.name))
    }
    if found:
        return found
    floors = list(graph.floors.values())
    if on := floors_called(name, floors, here):
        return {area.id for area in graph.areas.values() if area.floor in on}
    room, floor = without_floor(name)
    if not floor or not room:
        return set()
    on = floors_called(floor, floors, here)
    return {each for each in areas_named(graph, room) if graph.floor_of(each) in on}


def floor_seen_from(graph: SceneGraph, viewpoint: Viewpoint | str | None) -> str:
    """Return the id of the floor of a viewpoint: a pose, or the id or name of a thing or area; empty where unknown."""
    if isinstance(viewpoint, Viewpoint):
        return graph.floor_at(viewpoint.position[2], graph.floors)
    thing = graph.objects.get(viewpoint or "")
    area = thing.area if thing is not None else min(areas_named(graph, viewpoint), default="") if viewpoint else ""
    return graph.floor_of(area)


def _inside(graph: SceneGraph, query: Query) -> set[str]:
    """Return the areas in which a query looks."""
    here = floor_seen_from(graph, query.viewpoint)
    if query.viewpoint is None and query.near is not None:
        here = graph.floor_at(query.near[2], graph.floors)
    found = areas_named(graph, query.area, here)
    if not found and not floors_called(query.area, list(graph.floors.values())):
        raise GraphError(f"there is no area or floor {told(query.area)} in map {told(graph.map_id)}")
    return found
