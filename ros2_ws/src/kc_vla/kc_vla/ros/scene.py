"""Between messages and the scene graph of the long-term memory."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Pose, PoseStamped, Vector3
from nav_msgs.msg import OccupancyGrid
from std_msgs.msg import Header

from kc_vla.core.stamps import nanoseconds
from kc_vla.memory.live_scene import SceneChanges, Size
from kc_vla.memory.long_term.describe import Description
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph
from kc_vla.memory.long_term.nodes import Area, Floor, Node, SceneObject, Vector
from kc_vla.memory.long_term.query import FoundObject, Query, Way
from kc_vla.memory.long_term.reachable import Reachable, from_grid, from_points
from kc_vla.memory.long_term.spreading import Spread, spread
from kc_vla.ros.convert import attributes_message, point_message, time_message
from kc_vla_msgs.msg import SceneArea, SceneFloor
from kc_vla_msgs.msg import SceneObject as SceneObjectMessage
from kc_vla_msgs.srv import (
    DescribeScene,
    EditScene,
    FindWay,
    GetNeighbours,
    LoadMap,
    ObserveScene,
    QueryScene,
    SaveMap,
    SceneSince,
    SetAreas,
)

_GROUND, _SPACING_M = "ground", 2.0
_LEVEL = 1e-3


def object_message(thing: SceneObject) -> SceneObjectMessage:
    """Return the message of an object."""
    width, depth, height = map(float, thing.size)
    return SceneObjectMessage(
        id=thing.id,
        source_id=thing.source_id,
        object_type=thing.object_type,
        position=point_message(thing.position),
        size=Vector3(x=width, y=depth, z=height),
        area=thing.area,
        movable=thing.movable,
        state=thing.state,
        attributes=attributes_message(thing.attributes),
        confidence=float(thing.confidence),
        placed=thing.placed,
        holder=thing.holder,
        first_seen=time_message(thing.first_seen_ns),
        last_seen=time_message(thing.last_seen_ns),
        sightings=min(thing.sightings, 0xFFFFFFFF),
        by_hand=sorted(thing.by_hand),
    )


def area_message(area: Area) -> SceneArea:
    """Return the message of an area."""
    return SceneArea(
        id=area.id,
        name=area.name,
        floor=area.floor,
        position=point_message(area.position),
        adjacent=list(area.adjacent),
        ways=[float(way_m) for way_m in area.adjacent.values()],
    )


def floor_message(floor: Floor) -> SceneFloor:
    """Return the message of a floor."""
    return SceneFloor(id=floor.id, name=floor.name, height=float(floor.height_m))


def floor_from(message: SceneFloor) -> Floor:
    """Return the floor of a message."""
    return Floor(message.id, message.height, message.name)


def area_from(message: SceneArea) -> Area:
    """Return the area of a message; what it says of where it ends is not in one."""
    place = message.position
    ways = dict(zip(message.adjacent, map(float, message.ways), strict=True))
    return Area(message.id, message.floor, (place.x, place.y, place.z), ways, message.name)


def object_from(message: SceneObjectMessage) -> SceneObject:
    """Return the object of a message that a memory has sent."""
    place, size = message.position, message.size
    return SceneObject(
        message.id,
        message.object_type,
        (place.x, place.y, place.z),
        (size.x, size.y, size.z),
        message.area,
        message.movable,
        message.state,
        {each.key: each.value for each in message.attributes},
        message.confidence,
        nanoseconds(message.first_seen),
        nanoseconds(message.last_seen),
        message.sightings,
        message.placed,
        message.holder,
        message.source_id,
        frozenset(message.by_hand),
    )


def changes_response(response: SceneSince.Response, found: SceneChanges) -> None:
    """Put what changed in a map into a response; what a person says is not there has left."""
    response.revision, response.whole = found.revision, found.whole
    forgotten = [each.id for each in found.nodes if isinstance(each, SceneObject) and each.forgotten]
    response.removed = [*found.removed, *([] if found.whole else forgotten)]
    for node in found.nodes:
        if isinstance(node, Floor):
            response.floors.append(floor_message(node))
        elif isinstance(node, Area):
            response.areas.append(area_message(node))
        elif not node.forgotten:
            response.objects.append(object_message(node))


def change_from(graph: SceneGraph, response: SceneSince.Response) -> GraphChange:
    """Return what brings a copy of a map up to date."""
    put: tuple[Node, ...] = (
        *map(floor_from, response.floors),
        *map(area_from, response.areas),
        *map(object_from, response.objects),
    )
    return GraphChange(put, tuple(name for name in response.removed if name in graph))


def fields_from(request: EditScene.Request) -> dict[str, Any]:
    """Return the fields that a request sets, by name; the one that sets them reports those that cannot be set.

    Raises:
        GraphError: a name and fields are given at once.
    """
    if request.name and request.fields:
        raise GraphError("an area or a floor has a name, an object has fields: give one of both")
    thing = request.object
    x, y, z = thing.position.x, thing.position.y, thing.position.z
    values: dict[str, Any] = {
        "object_type": thing.object_type,
        "position": (x, y, z),
        "size": (thing.size.x, thing.size.y, thing.size.z),
        "movable": thing.movable,
        "state": thing.state,
        "attributes": {each.key: each.value for each in thing.attributes},
        "confidence": thing.confidence,
    }
    wanted = {name: values.get(name) for name in request.fields if name not in ("holder", "placed")}
    if {"holder", "placed"} & set(request.fields):
        wanted |= {"holder": thing.holder, "placed": thing.placed}
    return wanted


def place_from(point: Point) -> Vector:
    """Return a place, m; GraphError if its numbers are none."""
    if not all(map(math.isfinite, (point.x, point.y, point.z))):
        raise GraphError("a place that is no number: give x, y, z in m")
    return point.x, point.y, point.z


def query_from(request: QueryScene.Request) -> Query:
    """Return what is asked for; GraphError if it makes no sense."""
    asked = request.radius != 0.0
    return Query(
        request.text,
        request.object_type,
        request.area,
        place_from(request.near) if asked else None,
        float(request.radius) if asked and request.radius != math.inf else None,
        request.relation,
        request.other,
        float(request.least_confidence) or 0.2,
        int(request.limit) or 20,
    )


def query_response(response: QueryScene.Response, found: list[FoundObject], header: Header) -> None:
    """Put what was found into a response."""
    response.header = header
    response.objects = [object_message(each.thing) for each in found]
    response.scores = [float(each.score) for each in found]
    response.distances = [math.nan if each.distance_m is None else each.distance_m for each in found]


def way_response(response: FindWay.Response, found: Way, places: list[Vector], header: Header) -> None:
    """Put a way into a response."""
    response.areas, response.length = list(found.areas), found.length_m
    response.path.header = header
    response.path.poses = [PoseStamped(header=header, pose=Pose(position=point_message(each))) for each in places]


def neighbours_response(response: GetNeighbours.Response, found: list[tuple[str, str]]) -> None:
    """Put what is beside a node into a response."""
    response.relations, response.ids = [each[0] for each in found], [each[1] for each in found]


def description_response(response: DescribeScene.Response, found: Description) -> None:
    """Put a description into a response."""
    response.description, response.tokens = found.text, found.tokens
    response.areas = [area for area, detail in found.details.items() if area and detail]


def refused_response(response: ObserveScene.Response, refused: list[str]) -> None:
    """Put what was left out of a look into a response."""
    response.refused = refused


def id_response(response: EditScene.Response, node_id: str) -> None:
    """Put the id of what was set into a response."""
    response.id = node_id


def path_response(response: SaveMap.Response, path: Path) -> None:
    """Put the place of a file into a response."""
    response.path = str(path.absolute())


def size_response(response: LoadMap.Response, size: Size) -> None:
    """Put which map it is, and how large, into a response."""
    response.map_id, response.areas, response.objects = size


def areas_response(response: SetAreas.Response, areas: list[Area]) -> None:
    """Put areas into a response."""
    response.areas = [area_message(each) for each in areas]


def spread_from(request: SetAreas.Request) -> tuple[Floor, Spread]:
    """Return a floor and areas over what can be reached of it; it may take seconds.

    Raises:
        GraphError: the grid or the points cannot be.
    """
    start = place_from(request.start)[:2] if request.use_start else None
    floor, height = request.floor or _GROUND, float(request.height)
    if bool(request.points) == bool(request.grid.data):
        raise GraphError("where can one go? give a grid or points, and one of both")
    if request.points:
        points = np.array([place_from(each) for each in request.points])
        reachable = from_points(points, start=start)
        height = float(reachable.points[:, 2].min())
    else:
        reachable = _of_grid(request.grid, height, float(request.clearance), start)
    return Floor(floor, height, request.name), spread(reachable, float(request.spacing) or _SPACING_M)


def _of_grid(grid: OccupancyGrid, height: float, clearance: float, start: tuple[float, float] | None) -> Reachable:
    about = grid.info
    if about.width * about.height != len(grid.data):
        raise GraphError(f"a grid says {about.width} x {about.height} cells and carries {len(grid.data)}")
    turn = about.origin.orientation
    length = math.hypot(turn.x, turn.y, turn.z, turn.w)
    if not abs(length - 1) < 0.1 or math.hypot(turn.x, turn.y) > _LEVEL:
        raise GraphError(
            f"a grid whose origin is turned by {told((turn.x, turn.y, turn.z, turn.w))}: it must lie level"
        )
    x, y, _ = place_from(about.origin.position)
    cells = np.asarray(grid.data, np.int8).reshape(about.height, about.width)
    return from_grid(cells, about.resolution, (x, y, 2 * math.atan2(turn.z, turn.w)), height, clearance, start)
