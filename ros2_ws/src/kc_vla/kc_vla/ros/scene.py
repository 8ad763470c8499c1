"""Between messages and the scene graph of the long-term memory."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, PoseStamped
from nav_msgs.msg import OccupancyGrid
from std_msgs.msg import Header

from kc_vla.memory.live_scene import Looked, Size
from kc_vla.memory.long_term.describe import Description
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.nodes import Area, Floor, Vector
from kc_vla.memory.long_term.query import Query, QueryAnswer
from kc_vla.memory.long_term.reachable import Reachable, from_grid, from_points
from kc_vla.memory.long_term.spreading import Spread, spread
from kc_vla.memory.long_term.ways import Way
from kc_vla.ros.convert import point_message
from kc_vla.ros.scene_nodes import area_message, changes_message, object_message
from kc_vla.ros.viewpoints import place_from, viewpoint_from
from kc_vla_msgs.srv import (
    DescribeScene,
    EditScene,
    FindWay,
    GetNeighbours,
    LoadMap,
    ObserveScene,
    QueryScene,
    SaveMap,
    SetAreas,
)

_GROUND, _SPACING_M = "ground", 2.0
_LEVEL = 1e-3


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
        viewpoint_from(request) or request.viewpoint or None,
    )


def query_response(response: QueryScene.Response, answer: QueryAnswer, header: Header) -> None:
    """Put an answer into a response."""
    found = answer.found
    response.header, response.confidence, response.note = header, float(answer.confidence), answer.note
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


def looked_response(response: ObserveScene.Response, looked: Looked) -> None:
    """Put what came of what a robot saw into a response."""
    response.refused = looked.refused
    if looked.changes is not None:
        response.changes = changes_message(looked.changes)


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
