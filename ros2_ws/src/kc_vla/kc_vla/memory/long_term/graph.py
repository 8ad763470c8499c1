"""The scene graph of one map, on networkx, and the changes that are made to it.

Nodes are floors, areas, connections and objects; an edge has a `kind`: `contains` goes down the hierarchy, `adjacent`
from area to area with the way in m, `on` and `in` from an object to its holder. `stairs`, `lift` and `ramp` join a
connection with the areas at its ends, each with half of its cost in m. A change is worked out first, committed to the
store, and only then applied, so that the graph never knows more than the store does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.nodes import MOST_NAME, Area, Connection, Floor, Node, SceneObject, Vector
from kc_vla.memory.long_term.places import AreaPlaces, NamedPlaces

if TYPE_CHECKING:
    import networkx as nx

CONTAINS, ADJACENT, ON, IN = "contains", "adjacent", "on", "in"
MOST_OBJECTS = 100_000
"""Most objects of one map."""
_MOST_DIGITS = 18
_UNDER_FLOOR_M = 0.3
"""So far below the ground of a floor something still is on it: noise of a pose."""


@dataclass(frozen=True)
class GraphChange:
    """What is done to a graph at once.

    Attributes:
        put: nodes that come, or take the place of those with the same id.
        removed: ids of nodes that go.
        number: the number that the next node of this map gets; None where it stays.
    """

    put: tuple[Node, ...] = ()
    removed: tuple[str, ...] = ()
    number: int | None = None

    def __bool__(self) -> bool:
        return bool(self.put or self.removed)


class SceneGraph:
    """The scene graph of one map, whose nodes are never changed in place."""

    def __init__(self, map_id: str, nodes: Iterable[Node] = (), number: int = 1) -> None:
        """Make a graph of nodes.

        Args:
            map_id: of its map.
            nodes: that it has.
            number: that the next node gets.
        """
        import networkx as nx  # half a second, which whatever only speaks of graphs is spared

        self.map_id = map_id
        self.number = number
        self.network: nx.DiGraph = nx.DiGraph()
        self.floors: dict[str, Floor] = {}
        self.areas: dict[str, Area] = {}
        self.connections: dict[str, Connection] = {}
        self.objects: dict[str, SceneObject] = {}
        self.largest_m = 0.0
        """The diagonal of the largest box that there ever was."""
        self._named: dict[str, str] = {}
        self._places: NamedPlaces | None = None
        self._area_places: AreaPlaces | None = None
        self.apply(GraphChange(tuple(nodes), (), number))

    def __len__(self) -> int:
        return len(self.network)

    def __contains__(self, node_id: str) -> bool:
        return node_id in self.network

    def nodes(self) -> Iterator[Node]:
        """Yield floors, then areas, then connections, then objects."""
        yield from self.floors.values()
        yield from self.areas.values()
        yield from self.connections.values()
        yield from self.objects.values()

    def get(self, node_id: str) -> Node:
        """Return a node by its id; GraphError if there is none."""
        for nodes in (self.objects, self.areas, self.connections, self.floors):
            if node_id in nodes:
                return nodes[node_id]
        raise GraphError(f"there is no node {told(node_id)} in map {told(self.map_id)}")

    def object(self, node_id: str) -> SceneObject:
        """Return an object by its id; GraphError if there is none."""
        if node_id not in self.objects:
            raise GraphError(f"there is no object {told(node_id)} in map {told(self.map_id)}")
        return self.objects[node_id]

    def named(self, source_id: str) -> SceneObject | None:
        """Return the object that a detector calls so, if there is one."""
        return self.objects.get(self._named.get(source_id, ""))

    def known(self, least: float = 0.0) -> Iterator[SceneObject]:
        """Return the objects that are believed to be there, with at least this confidence."""
        return (each for each in self.objects.values() if not each.forgotten and each.confidence >= least)

    def held_by(self, holder: str) -> list[SceneObject]:
        """Return the objects that are on or in another one."""
        found = [self.objects[node] for node in self.network.pred.get(holder, ()) if node in self.objects]
        return [each for each in found if each.holder == holder]

    def near(self, position: Vector, radius_m: float) -> list[SceneObject]:
        """Return the objects whose middle is within a radius, the forgotten ones too; in no order."""
        if self._places is None:
            self._places = NamedPlaces((each.id, each.position) for each in self.objects.values())
        found = (self.objects[name] for name in self._places.around(position, radius_m))
        return [each for each in found if math.dist(each.position, position) <= radius_m]

    def area_at(self, position: Vector) -> str:
        """Return the id of the area that a place belongs to; empty where there are none.

        It is the one that has the nearest place that can be walked on its floor, so that a shelf at a wall is in the
        room that it is taken from; the one with the nearest middle where nobody said how far areas go.
        """
        return self.areas_at([position])[0]

    def areas_at(self, positions: Sequence[Vector]) -> list[str]:
        """Return the id of the area that each of some places belongs to; see `area_at`."""
        found = [""] * len(positions)
        if not self.areas:
            return found
        places = self._places_of_areas()
        of_floor: dict[str, list[int]] = {}
        for at, position in enumerate(positions):
            of_floor.setdefault(self.floor_at(position[2], places.floors), []).append(at)
        for floor, members in of_floor.items():
            for at, area in zip(members, places.nearest(floor, [positions[at] for at in members]), strict=True):
                found[at] = area
        return found

    def floor_of(self, area: str) -> str:
        """Return the id of the floor of an area; empty where there is no such area."""
        return self.areas[area].floor if area in self.areas else ""

    def area_on(self, floor: str, position: Vector) -> str:
        """Return the id of the area of a floor, which has some, that is nearest to a place."""
        return self._places_of_areas().nearest(floor, [position])[0]

    def floor_at(self, height_m: float, among: Iterable[str]) -> str:
        """Return the one of some floors that a height belongs to: the highest one whose ground is not above it."""
        heights = sorted((self.floors[name].height_m, name) for name in among if name in self.floors)
        below = [name for height, name in heights if height <= height_m + _UNDER_FLOOR_M]
        return below[-1] if below else heights[0][1] if heights else min(among, default="")

    def connections_of(self, area: str) -> list[Connection]:
        """Return the connections that begin or end in an area, but for forgotten ones."""
        around = self.network.succ.get(area, ())
        return [self.connections[each] for each in around if each in self.connections]

    def apply(self, change: GraphChange) -> None:
        """Make a change; the caller has committed it."""
        for node_id in change.removed:
            self._remove(self.get(node_id))
        for node in change.put:
            if node.id in self.network:
                self._part(self.get(node.id))
            self._keep(node)
        self.network.add_nodes_from(node.id for node in change.put)
        for node in change.put:  # now that both ends of each edge are there
            self._join(node)
        if change.number is not None:
            self.number = change.number

    def removal(self, node_ids: Iterable[str]) -> GraphChange:
        """Return the change that takes objects away, and releases what is on or in them."""
        gone = set(node_ids)
        held = {each.id: each for node_id in gone for each in self.held_by(node_id) if each.id not in gone}
        freed = (replace(each, placed="", holder="", by_hand=each.by_hand - {"holder"}) for each in held.values())
        return GraphChange(tuple(freed), tuple(sorted(gone)))

    def _places_of_areas(self) -> AreaPlaces:
        if self._area_places is None:
            self._area_places = AreaPlaces(self.areas.values())
        return self._area_places

    def _keep(self, node: Node) -> None:
        if type(node) is SceneObject:
            self.objects[node.id] = node
            self.largest_m = max(self.largest_m, node.diagonal_m)
            if node.source_id:
                self._named[node.source_id] = node.id
            if self._places is not None:
                self._places.put(node.id, node.position)
        elif type(node) is Area:
            self.areas[node.id] = node
            self._area_places = None
        elif type(node) is Connection:
            self.connections[node.id] = node
        elif type(node) is Floor:
            self.floors[node.id] = node

    def _remove(self, node: Node) -> None:
        self.network.remove_node(node.id)
        if type(node) is SceneObject:
            del self.objects[node.id]
            if self._named.get(node.source_id) == node.id:
                del self._named[node.source_id]
            if self._places is not None:
                self._places.remove(node.id)
        elif type(node) is Area:
            del self.areas[node.id]
            self._area_places = None
        elif type(node) is Connection:
            del self.connections[node.id]
        else:
            del self.floors[node.id]

    def _part(self, node: Node) -> None:
        """Take away the edges that a node says, and leave those that others say of it."""
        said: list[tuple[str, str]] = []
        if type(node) is SceneObject:
            if self._named.get(node.source_id) == node.id:
                del self._named[node.source_id]
            said = [(node.area, node.id), (node.id, node.holder)]
        elif type(node) is Area:
            said = [(node.floor, node.id), *((node.id, other) for other in node.adjacent)]
        elif type(node) is Connection:
            said = [end for area in node.areas for end in ((area, node.id), (node.id, area))]
        self.network.remove_edges_from(said)  # those that are not there are passed over

    def _join(self, node: Node) -> None:
        """Draw the edges of a node, to those of its neighbors that are there."""
        network = self.network
        if type(node) is SceneObject:
            if node.area in self.areas:
                network.add_edge(node.area, node.id, kind=CONTAINS)
            if node.holder and node.holder in self.objects:
                network.add_edge(node.id, node.holder, kind=node.placed)
        elif type(node) is Area:
            if node.floor in self.floors:
                network.add_edge(node.floor, node.id, kind=CONTAINS)
            for other, way_m in node.adjacent.items():
                if other in self.areas:
                    network.add_edge(node.id, other, kind=ADJACENT, way_m=way_m)
        elif type(node) is Connection and not node.forgotten:
            half_m = (node.length_m + node.wait_m) / 2
            for area in node.areas:
                if area in self.areas:
                    network.add_edge(area, node.id, kind=node.kind, way_m=half_m)
                    network.add_edge(node.id, area, kind=node.kind, way_m=half_m)


def number_after(node_id: str) -> int:
    """Return the least number for the next node that makes no id that is taken by this one."""
    last = node_id.rpartition("_")[2]
    return int(last) + 1 if last.isascii() and last.isdigit() and len(last) < _MOST_DIGITS else 1


def new_id(object_type: str, number: int) -> str:
    """Return the id of a new object: its class in letters that any text can hold, and a number."""
    return f"{re.sub(r'[^a-z0-9]+', '_', object_type.lower())[:40].strip('_') or 'object'}_{number}"


def whole_graph(map_id: str, nodes: Iterable[Node], number: int = 1) -> SceneGraph:
    """Return the graph of nodes that came from elsewhere.

    Raises:
        GraphError: an id is there twice, or names something that is not there; or it is too large.
    """
    check_map_id(map_id)
    known: dict[str, Node] = {}
    for node in nodes:
        if node.id in known:
            raise GraphError(f"there are two nodes {told(node.id)}")
        known[node.id] = node
        number = max(number, number_after(node.id))
    if len(known) > MOST_OBJECTS:
        raise GraphError(f"{len(known)} nodes: {MOST_OBJECTS} are the most")
    for node in known.values():
        for other in _named(node):
            if other not in known:
                raise GraphError(f"node {told(node.id)} names {told(other)}, which is not there")
    return SceneGraph(map_id, known.values(), number)


def _named(node: Node) -> Iterable[str]:
    if isinstance(node, SceneObject):
        return filter(None, (node.area, node.holder))
    if isinstance(node, Connection):
        return node.areas
    return (node.floor, *node.adjacent) if isinstance(node, Area) else ()


def check_map_id(map_id: str) -> None:
    """Check that a map can have this name.

    Raises:
        GraphError: it cannot.
    """
    if type(map_id) is not str or not 0 < len(map_id) <= MOST_NAME or not map_id.isprintable():
        raise GraphError(f"{told(map_id)} can be no map_id: take up to {MOST_NAME} printable letters")
