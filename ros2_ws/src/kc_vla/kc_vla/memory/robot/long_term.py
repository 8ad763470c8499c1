"""The long-term memory as a part of a robot's: the scene graph of one map, which outlives the process."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.intake import detection_of
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Floor, SceneObject, Vector
from kc_vla.memory.long_term.query import MOST_TEXT, Query
from kc_vla.memory.long_term.relations import IN_HAND, PLACE, told_place
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.references.fits import fitting
from kc_vla.memory.references.naming import Named
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.robot.interface import SceneObservation
from kc_vla.memory.short_term.unit import states_in
from kc_vla.memory.things import CLOSED, OPENED, KnownThing, ObservedThing, attributes_of

_LEAST, _MOST_OF_A_TYPE = 0.15, 200
"""Confidence of what is recalled: a thing that four looks at its place did not find is not."""
_SAME_M = 0.5
"""Two areas of one name that are further apart are of two homes."""
_REACH_M, _STOREY_M = 6.0, 2.5
"""No place that belongs to an area is further from its middle, or higher above its ground."""


class AreaView:
    """What is nearest to an area, of those of its floor: whoever stands in it sees that, but for what is shut in."""

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


class LongTermPart:
    """The long-term memory of one map as a `MemoryPart` of what a robot remembers."""

    name = "long-term"

    def __init__(self, memory: LongTermMemory, map_id: str, grounds: NavigationMap) -> None:
        """Go to a map; a new one gets the areas.

        Args:
            memory: of some maps.
            map_id: the one that the robot is in.
            grounds: with the ids of areas as the body has them.

        Raises:
            GraphError: the map has other areas, or the memory cannot be written.
        """
        self._memory, self._map_id = memory, map_id
        self._near: Vector | None = None
        graph = memory.graph(map_id)
        if not graph.areas:
            memory.take(_with_areas(graph, grounds), replace_known=True)
        elif not _same_places(graph, grounds):
            raise GraphError(f"map {told(map_id)} has other areas than the robot: give the map_id of this home")
        self._let_go()

    @property
    def graph(self) -> SceneGraph:
        """Return the map, to be looked at."""
        return self._memory.graph(self._map_id)

    @property
    def latest_s(self) -> float:
        """Return when the newest of what it knows was seen, s; 0 where nothing was."""
        return max((each.last_seen_ns for each in self.graph.objects.values()), default=0) / 1e9

    def _let_go(self) -> None:
        """Take what the robot held when it was last on out of its hand: a look has to say anew that it is there."""
        for each in self.graph.known(0.0):
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
                self._memory.observe(self._map_id, [put], each.last_seen_ns + 1)

    def begin(self) -> None:
        """Do nothing: the graph stays."""

    def observe(self, look: SceneObservation) -> Sequence[str]:
        """Update the graph with an observation; what belongs to the area and was not seen loses confidence."""
        refused, detections = [], []
        for each in look.seen:
            try:
                detections.append(self._detection(each))
            except GraphError as error:
                refused.append(str(error))
        graph = self.graph
        view = AreaView(graph, look.at) if look.at in graph.areas else None
        self._near = graph.areas[look.at].position if view is not None else None
        self._memory.observe(self._map_id, detections, round(look.now_s * 1e9), view)
        return refused

    def handled(self, seen: ObservedThing, now_s: float) -> None:
        """Do nothing: the graph does not remember what the robot did."""

    def confirm(self, object_id: str) -> None:
        """Do nothing: the look that found the thing has said so already."""

    def refute(self, object_id: str, look: SceneObservation) -> None:
        """Lower the confidence of a thing that was not found at its place, by more than a glance there does."""
        known = self.graph.named(object_id)
        if known is None or known.last_seen_ns >= round(look.now_s * 1e9):
            return
        self._memory.observe(self._map_id, [], round(look.now_s * 1e9), _Spot(known))

    def things(self) -> Iterator[KnownThing]:
        """Iterate over all things of the graph with enough confidence."""
        return map(self._known, self.graph.known(_LEAST))

    def thing(self, object_id: str) -> KnownThing | None:
        """Return the thing with this id, the body's or the graph's; None for one that is unknown or unsure."""
        found = self.graph.named(object_id) or self.graph.objects.get(object_id)
        return None if found is None or found.forgotten or found.confidence < _LEAST else self._known(found)

    def types(self) -> Iterable[str]:
        """Return the types of all things of the graph with enough confidence."""
        return (each.object_type for each in self.graph.known(_LEAST))

    def recall(self, reference: Reference, named: Named, loose: bool = False) -> Sequence[KnownThing]:
        """Return the things of the graph that a reference means, the surest first."""
        queries = (Query(object_type=name, least=_LEAST, limit=_MOST_OF_A_TYPE) for name in named.types)
        found = (each for query in queries for each in self._memory.query(self._map_id, query))
        ordered = sorted(found, key=lambda each: (-each.thing.confidence, -each.thing.last_seen_ns, each.thing.id))
        return fitting((self._known(each.thing) for each in ordered), reference, named, loose)

    def describe(self, instruction: str, most_tokens: int) -> str:
        """Describe the map for a planner, with more detail near the place of the last observation."""
        return self._memory.describe(self._map_id, most_tokens, instruction[:MOST_TEXT], self._near).text

    def _detection(self, seen: ObservedThing) -> Detection:
        known = self.graph.named(seen.object_id)
        attributes, state = attributes_of(seen), seen.state
        states = states_in(state, attributes)
        for shut in states & {OPENED, CLOSED}:  # whether it hides what is in it counts here
            state = shut
            attributes.pop("also", None)
            if others := states - {shut}:
                attributes["also"] = ", ".join(sorted(others))
        if known is not None:  # what was so and is no more
            attributes |= {name: "" for name, value in known.attributes.items() if value and name not in attributes}
            state = state or ("none" if known.state else "")
        return replace(detection_of(seen), state=state, attributes=attributes)

    def _known(self, thing: SceneObject) -> KnownThing:
        graph, relation, container = self.graph, *(told_place(thing.attributes) or ("", ""))
        top, seen = thing, {thing.id}
        while (holder := graph.objects.get(top.holder)) is not None and holder.id not in seen:
            top = holder
            seen.add(top.id)
        if not container and (holder := graph.objects.get(thing.holder)) is not None:
            relation, container = thing.placed, holder.source_id or holder.id
        return KnownThing(
            thing.object_type,
            thing.source_id or thing.id,
            thing.position,
            graph.area_at(top.position) or thing.area,
            thing.state,
            thing.attributes,
            container,
            relation,
            thing.last_seen_ns / 1e9,
            thing.confidence,
            movable=thing.movable,
            source=self.name,
            size=thing.size,
        )


def _with_areas(graph: SceneGraph, grounds: NavigationMap) -> SceneGraph:
    """Return a map that has none, such as one that was built from bags: what is in it stays."""
    floors = [Floor(name, 0.0) for name in {each.floor: 0 for each in grounds.areas.values()}]
    bare = SceneGraph(graph.map_id, (*floors, *grounds.areas.values()), graph.number)
    objects = (replace(each, area=bare.area_at(each.position)) for each in graph.objects.values())
    return SceneGraph(graph.map_id, (*floors, *grounds.areas.values(), *objects), graph.number)


def _same_places(graph: SceneGraph, grounds: NavigationMap) -> bool:
    """Return whether the areas are those: two homes can call theirs alike."""
    if set(graph.areas) != set(grounds.areas):
        return False
    return all(math.dist(area.position, graph.areas[name].position) < _SAME_M for name, area in grounds.areas.items())


class _Spot:
    """The place of one thing, that was looked at."""

    def __init__(self, thing: SceneObject) -> None:
        self._position, self._radius_m = thing.position, thing.diagonal_m

    def reach(self) -> tuple[Vector, float]:
        return self._position, 0.01

    def holds(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(np.linalg.norm(points - np.array(self._position), axis=1) <= self._radius_m)
