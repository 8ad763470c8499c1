"""Between messages and the nodes of a scene graph, and what changed of them."""

from __future__ import annotations

from geometry_msgs.msg import Vector3

from kc_vla.core.stamps import nanoseconds
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph
from kc_vla.memory.long_term.nodes import Area, Connection, Floor, Node, SceneObject
from kc_vla.memory.scene_log import SceneChanges
from kc_vla.ros.convert import attributes_message, point_message, time_message
from kc_vla_msgs.msg import SceneArea, SceneConnection, SceneFloor
from kc_vla_msgs.msg import SceneChanges as SceneChangesMessage
from kc_vla_msgs.msg import SceneObject as SceneObjectMessage
from kc_vla_msgs.srv import SceneSince


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


def connection_message(each: Connection) -> SceneConnection:
    """Return the message of a connection of two floors."""
    (one, other), (place, other_place) = each.areas, each.places
    return SceneConnection(
        id=each.id,
        kind=each.kind,
        one=one,
        other=other,
        one_place=point_message(place),
        other_place=point_message(other_place),
        length=float(each.length_m),
        wait=float(each.wait_m),
    )


def connection_from(message: SceneConnection) -> Connection:
    """Return the connection of a message that a memory has sent."""
    one, other = message.one_place, message.other_place
    return Connection(
        message.id,
        message.kind,
        (message.one, message.other),
        ((one.x, one.y, one.z), (other.x, other.y, other.z)),
        message.length,
        message.wait,
    )


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


def changes_message(found: SceneChanges) -> SceneChangesMessage:
    """Return the message of what changed in a map; what a person says is not there has left."""
    message = SceneChangesMessage(revision=found.revision, whole=found.whole, removed=list(found.removed))
    for node in found.nodes:
        match node:
            case Floor():
                message.floors.append(floor_message(node))
            case Area():
                message.areas.append(area_message(node))
            case _ if node.forgotten:
                message.removed.append(node.id)
            case Connection():
                message.connections.append(connection_message(node))
            case SceneObject():
                message.objects.append(object_message(node))
    return message


def changes_response(response: SceneSince.Response, found: SceneChanges) -> None:
    """Put what changed in a map into a response."""
    response.changes = changes_message(found)


def change_from(graph: SceneGraph, message: SceneChangesMessage) -> GraphChange:
    """Return what brings a copy of a map up to date."""
    put: tuple[Node, ...] = (
        *map(floor_from, message.floors),
        *map(area_from, message.areas),
        *map(connection_from, message.connections),
        *map(object_from, message.objects),
    )
    return GraphChange(put, tuple(name for name in message.removed if name in graph))
