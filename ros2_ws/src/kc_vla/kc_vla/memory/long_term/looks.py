"""What a robot that goes from area to area tells the long-term memory: its map, what it sees, and what it misses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.intake import detection_of
from kc_vla.memory.long_term.building import Observed
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area, Floor, SceneObject, Vector
from kc_vla.memory.long_term.relations import IN_HAND, PLACE
from kc_vla.memory.long_term.views import PointView
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.short_term.unit import states_in
from kc_vla.memory.things import CLOSED, OPENED, ObservedThing

_SAME_M = 0.5
"""Two areas of one name that are further apart are of two homes."""
_REACH_M, _STOREY_M = 6.0, 2.5
"""No place that belongs to an area is further from its middle, or higher above its ground."""


class AreaView(PointView):
    """What is nearest to an area, of those of its floor: who stands in it sees that, but for what is shut in."""

    def __init__(self, graph: SceneGraph, area: str) -> None:
        """Take the place of an area among those of its floor.

        Args:
            graph: with areas.
            area: the id of one.
        """
        here = graph.areas[area]
        self._position = here.position
        self._others = np.array([each.position for each in graph.areas.values() if each.floor == here.floor])

    def reach(self) -> tuple[Vector, float]:
        """Return the middle of the area and 6 m, beyond which no place belongs to it."""
        return self._position, _REACH_M

    def holds(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which of the points (N, 3), m, are nearest to this area of its floor and on its storey: (N,)."""
        nearest = np.linalg.norm(points[:, None, :2] - self._others[None, :, :2], axis=2).min(axis=1)
        far = np.linalg.norm(points[:, :2] - np.array(self._position[:2]), axis=1)
        high = points[:, 2] - self._position[2]
        return np.asarray((far <= nearest + 1e-9) & (high > -_STOREY_M / 4) & (high < _STOREY_M))


def enter(memory: LongTermMemory, map_id: str, areas: Mapping[str, Area]) -> None:
    """Begin with a robot in a map: one without areas gets these, and no hand holds anything any more.

    Args:
        memory: that has the map, or gets it.
        map_id: of the home.
        areas: by their ids, as the robot has them.

    Raises:
        GraphError: the map has other areas: two homes can call theirs alike.
    """
    graph = memory.graph(map_id)
    if not graph.areas:
        memory.take(_with_areas(graph, areas), replace_known=True)
    elif not _same_places(graph, areas):
        raise GraphError(f"map {told(map_id)} has other areas than the robot: give the map_id of this home")
    _let_go(memory, map_id)


def look(
    memory: LongTermMemory, map_id: str, seen: Iterable[ObservedThing], at: str, stamp_ns: int
) -> tuple[Observed, list[str]]:
    """Take in all that is seen at once; what belongs to the area and was not seen loses confidence.

    Args:
        memory: that has the map.
        map_id: the one that the robot is in.
        seen: all of it, in the frame of the map.
        at: the area from which; one that the map does not have says nothing of what was not seen.
        stamp_ns: when, ns; later than every look before.

    Returns:
        What came of it, and of each thing that is left out, why.
    """
    graph, refused, detections = memory.graph(map_id), [], []
    for each in seen:
        try:
            detections.append(_detection(graph, each))
        except GraphError as error:
            refused.append(str(error))
    view = AreaView(graph, at) if at in graph.areas else None
    return memory.observe(map_id, detections, stamp_ns, view), refused


def miss(memory: LongTermMemory, map_id: str, object_id: str, stamp_ns: int) -> None:
    """Lower the confidence of a thing that was looked for at its place, by more than a glance there does.

    A thing that is not known, or was seen at `stamp_ns` (ns) or later, stays as it is.
    """
    known = memory.graph(map_id).named(object_id)
    if known is not None and known.last_seen_ns < stamp_ns:
        memory.observe(map_id, [], stamp_ns, _Spot(known))


def _detection(graph: SceneGraph, seen: ObservedThing) -> Detection:
    """Return what is seen as a detection that says what is so no more, too."""
    detection, known = detection_of(seen), graph.named(seen.object_id)
    state, attributes = detection.state, dict(detection.attributes)
    states = states_in(state, attributes)
    for shut in states & {OPENED, CLOSED}:  # whether it hides what is in it counts here
        state = shut
        attributes.pop("also", None)
        if others := states - {shut}:
            attributes["also"] = ", ".join(sorted(others))
    if known is not None:
        attributes |= {name: "" for name, value in known.attributes.items() if value and name not in attributes}
        state = state or ("none" if known.state else "")
    return replace(detection, state=state, attributes=attributes)


def _let_go(memory: LongTermMemory, map_id: str) -> None:
    """Take what the robot held when it was last on out of its hand: a look has to say anew that it is there."""
    for each in list(memory.graph(map_id).known(0.0)):
        if each.attributes.get(PLACE) == IN_HAND:
            put = Detection(
                each.object_type,
                each.position,
                each.size,
                each.confidence,
                each.state,
                {PLACE: ""},
                each.movable,
                each.source_id,
            )
            memory.observe(map_id, [put], each.last_seen_ns + 1)


def _with_areas(graph: SceneGraph, areas: Mapping[str, Area]) -> SceneGraph:
    """Return a map that has none, such as one that was built from bags: what is in it stays."""
    bare: Sequence[Floor | Area] = (*NavigationMap(areas.values()).floors, *areas.values())
    places = SceneGraph(graph.map_id, bare, graph.number)
    objects = (replace(each, area=places.area_at(each.position)) for each in graph.objects.values())
    return SceneGraph(graph.map_id, (*bare, *objects), graph.number)


def _same_places(graph: SceneGraph, areas: Mapping[str, Area]) -> bool:
    """Return whether the areas of a map are these."""
    if set(graph.areas) != set(areas):
        return False
    return all(math.dist(area.position, graph.areas[name].position) < _SAME_M for name, area in areas.items())


class _Spot(PointView):
    """The place of one thing, that was looked at."""

    def __init__(self, thing: SceneObject) -> None:
        self._position, self._radius_m = thing.position, thing.diagonal_m

    def reach(self) -> tuple[Vector, float]:
        return self._position, 0.01

    def holds(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(np.linalg.norm(points - np.array(self._position), axis=1) <= self._radius_m)
