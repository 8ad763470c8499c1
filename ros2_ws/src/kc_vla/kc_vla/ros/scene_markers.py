"""A scene graph for viewers: areas, the ways between them, and objects with their names."""

from __future__ import annotations

from collections.abc import Callable

from geometry_msgs.msg import Point, Quaternion, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.inference.worker import JobOutcome, Runner
from kc_vla.memory.live_scene import LiveScene
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import SceneObject
from kc_vla.memory.long_term.tokens import shown
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import point_message

MOST_OBJECTS = 2000
"""That are drawn, the surest: a viewer gets all of them at once."""
_AREA, _WAY, _LETTERS = (0.2, 0.5, 0.9), (0.5, 0.6, 0.7), (0.1, 0.1, 0.1)
_MOVABLE, _STANDING = (0.9, 0.5, 0.1), (0.5, 0.4, 0.3)
_AREA_M, _WAY_M, _LEAST_M, _LETTER_M = 0.15, 0.02, 0.03, 0.06
_LOOK_S = 1.0


class SceneMarkers:
    """Draws a map anew for viewers when it has changed, and for one that has just come; nothing while none is there."""

    def __init__(self, node: StackNode, work: Runner, live: LiveScene, header: Callable[[], Header]) -> None:
        """Publish on `topics.SCENE_MARKERS`.

        Args:
            node: that is starting.
            work: draws.
            live: the memory whose map it is.
            header: of what is drawn now, in the frame of the map.
        """
        self._node, self._work, self._live, self._header = node, work, live, header
        self._publisher = node.advertise(MarkerArray, topics.SCENE_MARKERS, qos.STATUS)
        self._watchers, self._drawn, self._drawing = 0, -1, False
        node.every(_LOOK_S, self._look)

    def _look(self) -> None:
        before, self._watchers = self._watchers, self._publisher.get_subscription_count()
        if self._watchers and not self._drawing and (self._drawn != self._live.changes or self._watchers > before):
            self._drawn, self._drawing = self._live.changes, True
            self._work.submit(lambda: markers(self._live.graph(), self._header()), self._publish)

    def _publish(self, outcome: JobOutcome[MarkerArray]) -> None:
        self._drawing = False
        try:
            self._publisher.publish(outcome.result())
        except StackError as error:
            self._drawn = -1
            self._node.problem(str(error))


def markers(graph: SceneGraph, header: Header) -> MarkerArray:
    """Return all of a map, in place of what was shown before. What is less sure is more transparent."""
    things = sorted(graph.known(), key=lambda each: (-each.confidence, -each.last_seen_ns))[:MOST_OBJECTS]
    areas = [area.position for area in graph.areas.values()]
    ways = [
        end
        for area in graph.areas.values()
        for other in area.adjacent
        if area.id < other and other in graph.areas
        for end in (area.position, graph.areas[other].position)
    ]
    drawn = [Marker(header=header, action=Marker.DELETEALL)]
    if areas:
        middles = _marker(header, "areas", 0, Marker.SPHERE_LIST, (_AREA_M, _AREA_M, _AREA_M), _AREA)
        middles.points = [point_message(each) for each in areas]
        drawn.append(middles)
    if ways:
        lines = _marker(header, "ways", 0, Marker.LINE_LIST, (_WAY_M, 0.0, 0.0), _WAY)
        lines.points = [point_message(each) for each in ways]
        drawn.append(lines)
    for number, area in enumerate(graph.areas.values()):
        place = point_message(area.position)
        drawn.append(_label(header, "area_names", number, shown(area.name or area.id), place, _AREA_M))
    for number, thing in enumerate(things):
        drawn += _object(header, number, thing)
    return MarkerArray(markers=drawn)


def _object(header: Header, number: int, thing: SceneObject) -> list[Marker]:
    width, depth, height = (max(float(each), _LEAST_M) for each in thing.size)
    box = _marker(
        header, "objects", number, Marker.CUBE, (width, depth, height), _MOVABLE if thing.movable else _STANDING
    )
    box.pose.position, box.color.a = point_message(thing.position), 0.2 + 0.8 * float(thing.confidence)
    said = f"{shown(thing.object_type)} {shown(thing.state)}" if thing.state else shown(thing.object_type)
    return [box, _label(header, "object_names", number, said, point_message(thing.position), height / 2 + _LETTER_M)]


def _label(header: Header, namespace: str, number: int, said: str, place: Point, above_m: float) -> Marker:
    label = _marker(header, namespace, number, Marker.TEXT_VIEW_FACING, (0.0, 0.0, _LETTER_M), _LETTERS)
    label.text, label.pose.position = said, Point(x=place.x, y=place.y, z=place.z + above_m)
    return label


def _marker(
    header: Header,
    namespace: str,
    number: int,
    kind: int,
    scale: tuple[float, float, float],
    colour: tuple[float, float, float],
) -> Marker:
    red, green, blue = colour
    marker = Marker(header=header, ns=namespace, id=number, type=kind, action=Marker.ADD)
    marker.scale = Vector3(x=scale[0], y=scale[1], z=scale[2])
    marker.color = ColorRGBA(r=red, g=green, b=blue, a=1.0)
    marker.pose.orientation = Quaternion(w=1.0)
    return marker
