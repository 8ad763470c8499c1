"""The long-term memory: the scene graphs of some maps, each change committed to the store before it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kc_vla.memory.episodic.linked import LinkedKeyframe, LinkedKeyframes
from kc_vla.memory.long_term import connecting, corrections
from kc_vla.memory.long_term.building import Observed, observe
from kc_vla.memory.long_term.describe import Description, describe
from kc_vla.memory.long_term.detections import Detection, FusionSettings
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph
from kc_vla.memory.long_term.nodes import MOST_EDGE, Area, Connection, Floor, Node, SceneObject, Vector
from kc_vla.memory.long_term.query import FoundObject, Query, QueryAnswer, find
from kc_vla.memory.long_term.spreading import Spread
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.tokens import CountTokens, estimated_tokens
from kc_vla.memory.long_term.views import RegionView
from kc_vla.memory.long_term.words import Embed, Words
from kc_vla.memory.searching.graph_search import GraphSearch

MOST_MAPS = 100
"""That are kept."""


class LongTermMemory:
    """Scene graphs by `map_id`, for one thread at a time; a call that raises has changed nothing."""

    def __init__(self, store: Store, settings: FusionSettings | None = None, embed: Embed | None = None) -> None:
        """Open it.

        Args:
            store: which stays the caller's to close.
            settings: how detections become objects.
            embed: for questions whose words nothing has; None: by words alone.
        """
        self._store = store
        self._settings = settings or FusionSettings()
        self._embed = embed
        self._words: dict[str, Words] = {}
        self._searches: dict[str, GraphSearch] = {}
        self._graphs: dict[str, SceneGraph] = {}
        self._linked: dict[str, LinkedKeyframes] = {}
        self._listeners: list[Callable[[str, GraphChange], None]] = []

    def listen(self, listener: Callable[[str, GraphChange], None]) -> None:
        """Call back with the id of a map and each change of it that is committed from now on."""
        self._listeners.append(listener)

    def maps(self) -> list[str]:
        """Return the maps that are known, by name."""
        return self._store.maps()

    def graph(self, map_id: str) -> SceneGraph:
        """Return the graph of a map, to be looked at; an empty one if the map is new."""
        if (graph := self._graphs.get(map_id)) is None:
            graph = self._store.load(map_id)
            if len(graph):  # what somebody only asked for is not kept
                self._graphs[map_id] = graph
        return graph

    def set_areas(self, map_id: str, floor: Floor, found: Spread) -> None:
        """Add a floor with its areas, or replace the areas of a floor.

        The objects of the floor belong to the new areas then. The floor keeps its name, and the nearest new area gets
        the name of a former area. Connections to other floors then end in the nearest new area.
        """
        graph = self.graph(map_id)
        if floor.id in graph and floor.id not in graph.floors:
            raise GraphError(f"{told(floor.id)} is not a floor: give it another id")
        if not floor.name and floor.id in graph.floors:
            floor = replace(floor, name=graph.floors[floor.id].name)
        removed = [area for area in graph.areas.values() if area.floor == floor.id]
        called = {_nearest(found, area.position): area.name for area in removed if area.name}
        names = [f"node_{graph.number + place}" for place in range(len(found.positions))]
        beside: dict[str, dict[str, float]] = {name: {} for name in names}
        for (one, other), way_m in found.ways.items():
            beside[names[one]][names[other]] = beside[names[other]][names[one]] = float(way_m)
        across = connecting.ways_across(graph, floor.id, lambda position: names[_nearest(found, position)])
        for name, others in across.of_floor.items():
            beside[name] |= others
        edges: Sequence[ArrayLike] = found.edges or [()] * len(names)
        areas = [
            Area(name, floor.id, (float(x), float(y), float(z)), beside[name], called.get(place, ""), _edge(edge))
            for place, (name, (x, y, z), edge) in enumerate(zip(names, found.positions, edges, strict=True))
        ]
        kept = [across.others.get(area.id, area) for area in graph.areas.values() if area.floor != floor.id]
        floors = [each for each in graph.floors.values() if each.id != floor.id]
        after = SceneGraph(map_id, [*floors, floor, *kept, *areas])
        moved = (replace(each, area=after.area_at(each.position)) for each in graph.known())
        objects = [each for each in moved if each.area != graph.objects[each.id].area]
        joined, number = list(connecting.kept(after, graph, floor.id)), graph.number + len(names)
        seen = connecting.proposed(_with(after, graph, joined), objects, number)
        put: tuple[Node, ...] = (floor, *areas, *across.others.values(), *joined, *seen, *objects)
        self._commit(graph, GraphChange(put, tuple(area.id for area in removed), number + len(seen)))

    def connect(
        self, map_id: str, one: str, other: str, kind: str, length_m: float, wait_m: float | None = None
    ) -> str:
        """Connect areas of two floors; return the id of the connection. See `connecting.connected`."""
        graph = self.graph(map_id)
        change = connecting.connected(graph, one, other, kind, length_m, wait_m)
        self._commit(graph, change)
        return change.put[0].id

    def disconnect(self, map_id: str, connection_id: str) -> None:
        """Say that there is no such connection; see `connecting.disconnected`."""
        self._correct(map_id, lambda graph: connecting.disconnected(graph, connection_id))

    def observe(
        self,
        map_id: str,
        detections: Iterable[Detection],
        stamp_ns: int,
        view: RegionView | None = None,
        now_ns: int | None = None,
    ) -> Observed:
        """Take in the detections of one moment; see `building.observe`, and `connecting` for stairs."""
        graph = self.graph(map_id)
        change, told_of = observe(graph, detections, stamp_ns, view, self._settings, now_ns)
        number = graph.number if change.number is None else change.number
        things = (each for each in change.put if isinstance(each, SceneObject))
        if found := connecting.proposed(graph, things, number):
            change = replace(change, put=(*change.put, *found), number=number + len(found))
        self._commit(graph, connecting.withdrawn(graph, change))
        return told_of

    def upsert(self, map_id: str, object_id: str = "", **values: Any) -> str:
        """Put an object in by hand, or set fields of one; return its id. See `corrections.upsert`."""
        graph = self.graph(map_id)
        change, name = corrections.upsert(graph, object_id, values, self._settings.most_objects)
        self._commit(graph, connecting.withdrawn(graph, change))
        return name

    def edit(self, map_id: str, node_id: str, **values: Any) -> None:
        """Set fields of a node by hand; see `corrections.edit`."""
        self._correct(map_id, lambda graph: corrections.edit(graph, node_id, values))

    def forget(self, map_id: str, object_id: str) -> None:
        """Say that there is no such object; see `corrections.forget`."""
        self._correct(map_id, lambda graph: corrections.forget(graph, object_id))

    def release(self, map_id: str, object_id: str) -> None:
        """Leave an object to the detections again; see `corrections.release`."""
        self._correct(map_id, lambda graph: corrections.release(graph, object_id))

    def take(self, graph: SceneGraph, replace_known: bool = False) -> None:
        """Put a whole map in, e.g. an imported one; GraphError if there is one of that name already.

        With `replace_known` that one is given up for it, in one step: whatever ends the process, one of both is there.
        """
        known = self.graph(graph.map_id)
        if len(known) and not replace_known:
            raise GraphError(
                f"map {told(graph.map_id)} is there already: take another name, or say that it replaces that (replace, "
                "--replace)"
            )
        gone = tuple(node.id for node in known.nodes() if node.id not in graph)
        self._commit(known, GraphChange(tuple(graph.nodes()), gone, graph.number))
        self._graphs[graph.map_id] = graph

    def link(self, map_id: str, keyframe: LinkedKeyframe) -> None:
        """Remember a keyframe with what it shows, in place of what was remembered of it; the oldest one leaves.

        Raises:
            StoreError: it could not be written.
        """
        self._check_room(map_id)
        self._store.link(map_id, keyframe)
        self._linked.pop(map_id, None)

    def linked(self, map_id: str) -> LinkedKeyframes:
        """Return the keyframes of a map, the oldest first."""
        if map_id not in self._linked:
            self._linked = {map_id: self._store.linked(map_id)}
        return self._linked[map_id]

    def drop(self, map_id: str) -> None:
        """Forget a map with all that is in it."""
        self._store.drop(map_id)
        self._linked.pop(map_id, None)
        self._graphs.pop(map_id, None)
        self._words.pop(map_id, None)
        self._searches.pop(map_id, None)

    def objects(self, map_id: str) -> list[SceneObject]:
        """Return the objects of a map that are believed to be there."""
        return list(self.graph(map_id).known())

    def query(self, map_id: str, query: Query) -> list[FoundObject]:
        """Return the objects that fit, the best first; see `answer`."""
        return list(self.answer(map_id, query).found)

    def answer(self, map_id: str, query: Query) -> QueryAnswer:
        """Return the objects that fit, and how sure it is that the first one is what the text means.

        Raises:
            GraphError: what is named is not there, or the text needs a viewpoint: "left of the mug".
        """
        graph = self.graph(map_id)
        if not query.text.strip():
            found = tuple(find(graph, query))
            return QueryAnswer(found, found[0].thing.confidence if found else 0.0)
        search = self._searches.get(map_id) or GraphSearch(self._embed)
        if len(graph):
            self._searches[map_id] = search
        meant = search.answer(graph, query.text, query.viewpoint)
        scores = {each.thing.object_id: each.score for each in meant.matches}
        found = tuple(find(graph, query, scores))
        # The calibration holds for the first match of the text; a filter may have left it out.
        share = found[0].score / meant.matches[0].score if found else 0.0
        return QueryAnswer(found, meant.confidence * share, meant.note)

    def describe(
        self,
        map_id: str,
        budget: int = 4000,
        text: str = "",
        near: Vector | None = None,
        count: CountTokens = estimated_tokens,
    ) -> Description:
        """Return a map as text for a planner that is asked `text`; see `describe.describe`."""
        return describe(self.graph(map_id), budget, self._scores(map_id, text), near, count)

    def _scores(self, map_id: str, text: str) -> dict[str, float] | None:
        if not text.strip():
            return None
        graph = self.graph(map_id)
        words = self._words.get(map_id) or Words(self._embed)
        if len(graph):
            self._words[map_id] = words
        return words.scores(graph.objects, text)

    def _check_room(self, map_id: str) -> None:
        maps = self.maps()
        if len(maps) >= MOST_MAPS and map_id not in maps:
            raise GraphError(f"{MOST_MAPS} maps are kept, the most there can be: drop one first")

    def _correct(self, map_id: str, work_out: Callable[[SceneGraph], GraphChange]) -> None:
        graph = self.graph(map_id)
        self._commit(graph, connecting.withdrawn(graph, work_out(graph)))

    def _commit(self, graph: SceneGraph, change: GraphChange) -> None:
        if not change and change.number is None:
            return
        if not len(graph):
            self._check_room(graph.map_id)
        self._store.write(graph.map_id, change)
        graph.apply(change)
        self._graphs[graph.map_id] = graph
        for listener in self._listeners:
            listener(graph.map_id, change)


def _with(after: SceneGraph, before: SceneGraph, moved: Sequence[Connection]) -> SceneGraph:
    """Return the areas of one graph with the connections and objects of another one, some of which have moved."""
    now = {each.id: each for each in moved}
    connections = [now.get(each.id, each) for each in before.connections.values()]
    after.apply(GraphChange((*connections, *before.objects.values())))
    return after


def _nearest(found: Spread, position: Vector) -> int:
    return int(np.linalg.norm(found.positions - position, axis=1).argmin())


def _edge(places: ArrayLike) -> bytes:
    """Return the bytes that an area keeps; of one that is too large every so many-th place."""
    every = -(-8 * len(np.asarray(places)) // MOST_EDGE) or 1
    return np.ascontiguousarray(np.asarray(places, np.float32)[::every]).tobytes()
