"""What a person puts right in a graph. Detections leave it as it is, and say where they see something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph, new_id, number_after
from kc_vla.memory.long_term.nodes import BY_HAND, MOST_EXTENT_M, Area, Connection, Floor, SceneObject
from kc_vla.memory.long_term.relations import stand, without_place

_SETTABLE = (BY_HAND | {"placed"}) - {"forgotten"}


def upsert(graph: SceneGraph, object_id: str, values: Mapping[str, Any], most_objects: int) -> tuple[GraphChange, str]:
    """Put an object in, as a person says it is; one that is there gets these values.

    Args:
        graph: as it is.
        object_id: of the object; empty: a new one, which gets an id.
        values: as for `edit`; a new object needs `object_type` and `position`.
        most_objects: that the map can have.

    Returns:
        the change, and the id of the object.

    Raises:
        GraphError: a value cannot be, or there is no room.
    """
    if object_id in graph.objects:
        return edit(graph, object_id, values), object_id
    if object_id in graph:
        raise GraphError(f"{told(object_id)} is no object: its name can be edited")
    if len(graph.objects) >= most_objects:
        raise GraphError(f"map {told(graph.map_id)} holds {most_objects} objects, the most it can: forget some first")
    _check_names(values)
    missing = [name for name in ("object_type", "position") if name not in values]
    if missing:
        raise GraphError(f"a new object needs {' and '.join(missing)}")
    given = _plain(values)
    name = object_id or new_id(given["object_type"], graph.number)
    number = max(graph.number, number_after(name))
    fresh = SceneObject(name, **{**given, "confidence": given.get("confidence", 1.0)})
    return GraphChange((_settled(graph, replace(fresh, by_hand=_locked(given) | {"confidence"})),), (), number), name


def edit(graph: SceneGraph, node_id: str, values: Mapping[str, Any]) -> GraphChange:
    """Set fields of an object, or the name of an area or a floor.

    Args:
        graph: as it is.
        node_id: of the node.
        values: by the names of `nodes.BY_HAND`; `holder` with `placed`, both empty for something that stands nowhere.

    Raises:
        GraphError: there is no such node, field or value.
    """
    node = graph.get(node_id)
    if not values:
        raise GraphError(f"nothing is said of {told(node_id)}: name the fields to set, or the name of an area or floor")
    if isinstance(node, (Area, Floor)):
        if set(values) != {"name"}:
            raise GraphError(f"of {told(node_id)}, no object, only the name can be edited")
        return GraphChange((replace(node, name=values["name"]),))
    if isinstance(node, Connection):
        raise GraphError(f"{told(node_id)} is a connection: remove it (disconnect), and connect the areas anew")
    _check_names(values)
    given = _plain(values)
    if "position" in given and "attributes" not in given:  # nobody has told where that is
        given["attributes"] = without_place(node.attributes)
    after = replace(node, **given, by_hand=node.by_hand | _locked(values), forgotten=False)
    return GraphChange((_settled(graph, after),))


def forget(graph: SceneGraph, object_id: str) -> GraphChange:
    """Remove an object that is not there.

    What detectors see there is taken for the same error from now on, until they have looked there often and seen
    nothing.
    """
    known = graph.object(object_id)
    shadow = replace(known, forgotten=True, confidence=1.0, by_hand=frozenset(), placed="", holder="", area="")
    return GraphChange((shadow, *graph.removal([object_id]).put))


def release(graph: SceneGraph, object_id: str) -> GraphChange:
    """Leave an object to the detections again; one that was forgotten is gone for good."""
    known = graph.object(object_id)
    if known.forgotten:
        return graph.removal([object_id])
    return GraphChange((replace(known, by_hand=frozenset()),))


def _check_names(values: Mapping[str, Any]) -> None:
    unknown = sorted(set(values) - _SETTABLE)
    if unknown == ["name"]:
        raise GraphError(
            "an object has no name, only areas and floors do: say what it is with object_type or attributes"
        )
    if unknown:
        raise GraphError(f"{told(', '.join(unknown))} cannot be set: choose of {', '.join(sorted(_SETTABLE))}")
    if ("holder" in values) != ("placed" in values):
        raise GraphError("holder and placed are set together: on or in what?")


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, with the vectors as they are in a node."""
    names = {each.name for each in fields(SceneObject)}
    given = {name: value for name, value in values.items() if name in names}
    for name in ("position", "size"):
        if isinstance(given.get(name), list):
            given[name] = tuple(given[name])
    if isinstance(given.get("attributes"), Mapping):
        given["attributes"] = dict(given["attributes"])
    return given


def _locked(given: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(given) & BY_HAND


def _settled(graph: SceneGraph, thing: SceneObject) -> SceneObject:
    """Return a thing with its area and what it stands on."""
    holder = graph.objects.get(thing.holder)
    if thing.holder == thing.id:
        raise GraphError(f"{told(thing.id)} cannot be on or in itself")
    if thing.holder and (holder is None or holder.forgotten):
        raise GraphError(f"there is no object {told(thing.holder)} that {told(thing.id)} could be on or in")
    around = graph.near(thing.position, min(thing.diagonal_m + graph.largest_m, MOST_EXTENT_M))
    return stand(replace(thing, area=graph.area_at(thing.position)), around, graph.named)
