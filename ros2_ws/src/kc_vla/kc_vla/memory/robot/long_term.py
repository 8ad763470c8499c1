"""The long-term memory as a part of a robot's: the scene graph of one map, which outlives the process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from kc_vla.memory.episodic.linked import LinkedKeyframe, LinkedKeyframes
from kc_vla.memory.long_term import looks
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area, SceneObject, Vector
from kc_vla.memory.long_term.query import MOST_TEXT, Query, find
from kc_vla.memory.long_term.relations import told_place
from kc_vla.memory.references.fits import fitting
from kc_vla.memory.references.naming import Named
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.robot.interface import Refusals, SceneObservation
from kc_vla.memory.things import KnownThing, ObservedThing

_LEAST, _MOST_OF_A_TYPE = 0.15, 200
"""Confidence of what is recalled: a thing that four looks at its place did not find is not."""


class SceneMemory(Protocol):
    """One map of a long-term memory, in this process or behind the services of a node."""

    def graph(self) -> SceneGraph:
        """Return the map, to be looked at."""
        ...

    def enter(self, areas: Mapping[str, Area]) -> None:
        """Begin with a robot that can go to these areas; see `looks.enter`."""
        ...

    def look(self, seen: SceneObservation) -> Refusals:
        """Begin to take in what is seen at once; see `looks.look`."""
        ...

    def miss(self, object_id: str, now_s: float) -> None:
        """Note that a thing was looked for at its place; see `looks.miss`."""
        ...

    def describe(self, most_tokens: int, text: str, near: Vector | None) -> str:
        """Return the map as text for a planner; see `LongTermMemory.describe`."""
        ...

    def linked(self) -> LinkedKeyframes:
        """Return the keyframes of the map."""
        ...

    def keep(self, keyframe: LinkedKeyframe) -> str:
        """Have the buffer keep a keyframe for a policy; return why that cannot be, empty where it is kept."""
        ...


class OwnScene:
    """A map of a long-term memory in this process, as a `SceneMemory`."""

    def __init__(self, memory: LongTermMemory, map_id: str) -> None:
        """Go to a map; the caller closes the store of the memory."""
        self._memory, self._map_id = memory, map_id

    def graph(self) -> SceneGraph:
        """Return the map, to be looked at."""
        return self._memory.graph(self._map_id)

    def enter(self, areas: Mapping[str, Area]) -> None:
        """Begin with a robot that can go to these areas; see `looks.enter`."""
        looks.enter(self._memory, self._map_id, areas)

    def look(self, seen: SceneObservation) -> Refusals:
        """Take in what is seen at once; see `looks.look`."""
        refused = looks.look(self._memory, self._map_id, seen.seen, seen.at, round(seen.now_s * 1e9))[1]
        return lambda: refused

    def miss(self, object_id: str, now_s: float) -> None:
        """Note that a thing was looked for at its place; see `looks.miss`."""
        looks.miss(self._memory, self._map_id, object_id, round(now_s * 1e9))

    def describe(self, most_tokens: int, text: str, near: Vector | None) -> str:
        """Return the map as text for a planner; see `LongTermMemory.describe`."""
        return self._memory.describe(self._map_id, most_tokens, text, near).text

    def linked(self) -> LinkedKeyframes:
        """Return the keyframes of the map."""
        return self._memory.linked(self._map_id)

    def keep(self, keyframe: LinkedKeyframe) -> str:
        """Return that no keyframe buffer is asked from here."""
        return f"{keyframe} is not kept for a policy: this memory has no keyframe buffer"


class LongTermPart:
    """The long-term memory of one map as a `MemoryPart` of what a robot remembers."""

    name = "long-term"

    def __init__(self, scene: SceneMemory) -> None:
        """Take the map that the robot is in as a part."""
        self._scene = scene
        self._at = ""

    @property
    def graph(self) -> SceneGraph:
        """Return the map, to be looked at."""
        return self._scene.graph()

    @property
    def latest_s(self) -> float:
        """Return when the newest of what it knows was seen, s; 0 where nothing was."""
        return max((each.last_seen_ns for each in self.graph.objects.values()), default=0) / 1e9

    def begin(self) -> None:
        """Do nothing: the graph stays."""

    def observe(self, look: SceneObservation) -> Refusals:
        """Update the graph with an observation; what belongs to the area and was not seen loses confidence."""
        self._at = look.at
        return self._scene.look(look)

    def handled(self, seen: ObservedThing, now_s: float) -> Refusals:
        """Do nothing: the graph does not remember what the robot did."""
        return lambda: ()

    def linked(self) -> LinkedKeyframes:
        """Return the keyframes of the map."""
        return self._scene.linked()

    def keep(self, keyframe: LinkedKeyframe) -> str:
        """Have the buffer keep a keyframe for a policy; return why that cannot be, empty where it is kept."""
        return self._scene.keep(keyframe)

    def confirm(self, object_id: str) -> None:
        """Do nothing: the look that found the thing has said so already."""

    def refute(self, object_id: str, look: SceneObservation) -> None:
        """Lower the confidence of a thing that was not found at its place, by more than a glance there does."""
        self._scene.miss(object_id, look.now_s)

    def things(self) -> Iterator[KnownThing]:
        """Iterate over all things of the graph with enough confidence."""
        graph = self.graph
        return iter(self._known(graph, list(graph.known(_LEAST))))

    def thing(self, object_id: str) -> KnownThing | None:
        """Return the thing with this id, the body's or the graph's; None for one that is unknown or unsure."""
        graph = self.graph
        found = graph.named(object_id) or graph.objects.get(object_id)
        return None if found is None or found.forgotten or found.confidence < _LEAST else self._known(graph, [found])[0]

    def types(self) -> Iterable[str]:
        """Return the types of all things of the graph with enough confidence."""
        return (each.object_type for each in self.graph.known(_LEAST))

    def recall(self, reference: Reference, named: Named, loose: bool = False) -> Sequence[KnownThing]:
        """Return the things of the graph that a reference means, the surest first."""
        graph = self.graph
        queries = (Query(object_type=name, least=_LEAST, limit=_MOST_OF_A_TYPE) for name in named.types)
        found = (each for query in queries for each in find(graph, query))
        ordered = sorted(found, key=lambda each: (-each.thing.confidence, -each.thing.last_seen_ns, each.thing.id))
        return fitting(self._known(graph, [each.thing for each in ordered]), reference, named, loose)

    def describe(self, instruction: str, most_tokens: int) -> str:
        """Describe the map for a planner, with more detail near the place of the last observation."""
        area = self.graph.areas.get(self._at)
        return self._scene.describe(most_tokens, instruction[:MOST_TEXT], None if area is None else area.position)

    def _known(self, graph: SceneGraph, things: Sequence[SceneObject]) -> list[KnownThing]:
        """Return some objects as a robot knows them; which areas they are in is asked of the graph at once."""
        areas = graph.areas_at([_carrier(graph, thing).position for thing in things])
        return [self._known_in(graph, thing, area) for thing, area in zip(things, areas, strict=True)]

    def _known_in(self, graph: SceneGraph, thing: SceneObject, area: str) -> KnownThing:
        relation, container = told_place(thing.attributes) or ("", "")
        if not container and (holder := graph.objects.get(thing.holder)) is not None:
            relation, container = thing.placed, holder.source_id or holder.id
        return KnownThing(
            thing.object_type,
            thing.source_id or thing.id,
            thing.position,
            area or thing.area,
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


def _carrier(graph: SceneGraph, thing: SceneObject) -> SceneObject:
    """Return what an object stands on or in at last; itself where nothing holds it."""
    top, seen = thing, {thing.id}
    while (holder := graph.objects.get(top.holder)) is not None and holder.id not in seen:
        top = holder
        seen.add(top.id)
    return top
