"""A map as the JSON of spark_dsg, which Hydra and its tools read; where that package is installed.

Objects are its objects, areas its rooms, floors its buildings. What of ours it has no place for is in the metadata of
its nodes and of the graph, so that what we wrote comes back; from what others wrote the rest is taken. Without rooms
its places are the areas. The format has no storeys: a gap of 1.5 m between the heights of areas begins another floor,
and an edge between two floors stays a way of unknown kind. Objects are of the class that their label means in the label
space of the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kc_vla.core.files import write_whole
from kc_vla.core.untrusted import read_text
from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type, upright_size
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.fields import from_whole_fields, to_whole_fields
from kc_vla.memory.long_term.graph import ADJACENT, CONTAINS, SceneGraph, whole_graph
from kc_vla.memory.long_term.label_spaces import LabelSpaces, class_in_words
from kc_vla.memory.long_term.nodes import MOST_EXTENT_M, MOST_NAME, Area, Connection, Floor, Node, SceneObject, Vector
from kc_vla.memory.long_term.tokens import shown

_OURS = "kc_vla"
_LETTERS = {Floor: "B", Area: "R", SceneObject: "O"}
_LAYERS = {Floor: "BUILDINGS", Area: "ROOMS", SceneObject: "OBJECTS"}
_FLOOR = "floor"
"""The id of the lowest floor, where none is known."""
_STOREY_M = 1.5
"""Between the heights of the areas of two floors, at least."""


def write_spark_dsg(graph: SceneGraph, path: Path) -> None:
    """Write a map; GraphError if the package is missing."""
    dsg = _package()
    out = dsg.DynamicSceneGraph()
    connections = [to_whole_fields(each) for each in graph.connections.values()]
    out.metadata.set({_OURS: {"map_id": graph.map_id, "number": graph.number, "connections": connections}})
    symbols = {}
    for number, node in enumerate(graph.nodes()):
        if isinstance(node, Connection):
            continue
        symbols[node.id] = dsg.NodeSymbol(_LETTERS[type(node)], number).value
        out.add_node(_LAYERS[type(node)], symbols[node.id], _attributes(dsg, graph, node))
    for one, other, kind in graph.network.edges(data="kind"):
        if kind == CONTAINS or (kind == ADJACENT and one < other):
            out.insert_edge(symbols[one], symbols[other])
    with TemporaryDirectory(prefix="kc_vla-") as folder:
        made = Path(folder) / "graph.json"
        out.save(str(made), False)
        write_whole(path, made.read_text())


def read_spark_dsg(path: Path, map_id: str) -> SceneGraph:
    """Read a map; GraphError if the package is missing, or the file is not of that form."""
    dsg = _package()
    try:
        text = read_text(path)
        with TemporaryDirectory(prefix="kc_vla-") as folder:
            copy = Path(folder) / "graph.json"  # by its ending it is told from the binary form
            copy.write_text(text)
            found = dsg.DynamicSceneGraph.load(str(copy))
        ours = found.metadata.get().get(_OURS, {})
        nodes = [*_nodes(found), *(from_whole_fields("connection", each) for each in ours.get("connections", ()))]
        number = ours.get("number")
        name = map_id or str(ours.get("map_id", "")) or path.stem
        return whole_graph(name, nodes, number if type(number) is int else 1)
    except (ValueError, RuntimeError, IndexError, TypeError, AttributeError, KeyError, GraphError) as error:
        raise GraphError(f"{path} is no scene graph of spark_dsg: {' '.join(str(error).split())[:300]}") from error


def _package() -> Any:
    try:
        import spark_dsg
    except ImportError:
        raise GraphError(
            "the package spark_dsg is not installed: pip install spark-dsg, or choose another form"
        ) from None
    return spark_dsg


def _attributes(dsg: Any, graph: SceneGraph, node: Floor | Area | SceneObject) -> Any:
    if isinstance(node, Floor):
        made = dsg.NodeAttributes()
        made.position = np.array([0.0, 0.0, node.height_m])
    elif isinstance(node, Area):
        made = dsg.RoomNodeAttributes()
        made.position, made.name = np.array(node.position), node.name or node.id
    else:
        made = dsg.ObjectNodeAttributes()
        made.position, made.name = np.array(node.position), node.object_type
        made.bounding_box = dsg.BoundingBox(
            dsg.BoundingBoxType.AABB, np.array(node.size, np.float32), np.array(node.position, np.float32), np.eye(3)
        )
        made.last_update_time_ns = node.last_seen_ns
    kind = {Floor: "floor", Area: "area", SceneObject: "object"}[type(node)]
    made.metadata.set({_OURS: {"kind": kind, "fields": to_whole_fields(node)}})
    return made


def _nodes(found: Any) -> Iterator[Node]:
    """Yield the stack's own nodes where the metadata has them; else objects, rooms or places, buildings."""
    objects, places, rooms, buildings = (
        list(found.get_layer(name).nodes) if found.has_layer(name) else []
        for name in ("OBJECTS", "PLACES", "ROOMS", "BUILDINGS")
    )
    areas = rooms or places
    known = [*buildings, *areas, *objects]
    ours = [each.attributes.metadata.get().get(_OURS) for each in known]
    if known and all(isinstance(each, dict) for each in ours):
        yield from (from_whole_fields(each["kind"], each["fields"]) for each in ours)
        return
    floors = _floors([float(each.attributes.position[2]) for each in areas])
    yield from floors
    ids = {each.id.value: each.id.str(True) for each in areas}
    spaces = LabelSpaces(found.metadata.get())
    for each in areas:
        place = _vector(each.attributes.position)
        beside = [other for other in each.siblings() if other in ids]
        ways = {ids[other]: math.dist(place, _vector(found.get_node(other).attributes.position)) for other in beside}
        own, label = getattr(each.attributes, "name", ""), getattr(each.attributes, "semantic_label", -1)
        name = (spaces.called(own, ids[each.id.value], *_layer_of(each), label) or own)[:MOST_NAME]
        floor = [floor.id for floor in floors if floor.height_m <= place[2]][-1]
        yield Area(ids[each.id.value], floor, place, ways, name)
    for each in objects:
        yield _object(found, each, ids, spaces)


def _floors(heights: Sequence[float]) -> list[Floor]:
    """Return the floors of areas at such heights, m, the lowest first; one where there are no areas."""
    ordered = sorted(heights) or [0.0]
    grounds = [ordered[0], *(high for low, high in pairwise(ordered) if high - low >= _STOREY_M)]
    return [Floor(f"{_FLOOR}_{at + 1}" if at else _FLOOR, height) for at, height in enumerate(grounds)]


def _layer_of(node: Any) -> tuple[int, int]:
    """Return the number of a node's layer, and its partition in there."""
    key = node.layer
    return (key, 0) if isinstance(key, int) else (int(key.layer), int(key.partition))


def _area_of(found: Any, node: Any, areas: Mapping[int, str]) -> str:
    """Return the area that a node is in, empty if none.

    A node with several parents has several, of which the nearest counts.
    """
    known, level = {node.id.value}, [node]
    while level:
        above = sorted({parent for each in level for parent in each.parents()} - known)
        if inside := [parent for parent in above if parent in areas]:
            place = _vector(node.attributes.position)
            away = {each: math.dist(place, _vector(found.get_node(each).attributes.position)) for each in inside}
            return areas[min(inside, key=lambda each: (away[each], each))]
        known |= set(above)
        level = [found.get_node(parent) for parent in above]
    return ""


def _object(found: Any, node: Any, areas: Mapping[int, str], spaces: LabelSpaces) -> SceneObject:
    said = node.attributes
    area = _area_of(found, node, areas)
    box = said.bounding_box
    size = (
        upright_size(np.asarray(box.world_R_center, float), _vector(box.dimensions)) if box.is_valid() else (0.0,) * 3
    )
    symbol = shown(node.id.str(True)).strip('"')
    called = spaces.called(said.name, symbol, *_layer_of(node), said.semantic_label)
    object_type = (called or class_in_words(said.semantic_label))[:MOST_NAME]
    stamp_ns = int(said.last_update_time_ns)
    return SceneObject(
        symbol,
        object_type,
        _vector(said.position),
        tuple(min(max(extent, 0.0), MOST_EXTENT_M) for extent in size),  # type: ignore[arg-type]
        area,
        movable=plain_type(object_type) not in IMMOVABLE,
        first_seen_ns=stamp_ns,
        last_seen_ns=stamp_ns,
        sightings=1,
    )


def _vector(values: Any) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z
