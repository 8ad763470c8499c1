"""Between messages and what a planner and a body tell each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from builtin_interfaces.msg import Time

from kc_vla.memory.intake import MOST_DETECTIONS
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.short_term import MAP_FRAME
from kc_vla.memory.things import ObservedThing, wrong_with
from kc_vla.planning.interface import CallResult
from kc_vla.planning.obstacles import Clearing, Obstacle
from kc_vla.ros.convert import attributes_message, set_vector
from kc_vla_msgs.action import DoSkill
from kc_vla_msgs.msg import ObjectDetection, ObjectDetections, SceneArea, SeenObject


def detection_message(seen: ObservedThing) -> ObjectDetection:
    """Return a thing that is seen in the form of any detector."""
    message = ObjectDetection()
    _fill_detection(message, seen)
    return message


def detections_message(seen: Iterable[ObservedThing], stamp: Time) -> ObjectDetections:
    """Return all that is seen at a time in the form of any detector."""
    message = ObjectDetections(detections=[detection_message(each) for each in seen])
    message.header.stamp, message.header.frame_id = stamp, MAP_FRAME
    return message


def seen_message(seen: ObservedThing) -> SeenObject:
    """Return a thing that is seen, with where it is as people would say it."""
    message = SeenObject(area=seen.area, relation=seen.relation, container=seen.container, movable=seen.movable)
    _fill_detection(message.detection, seen)
    return message


def _fill_detection(message: ObjectDetection, seen: ObservedThing) -> None:
    """Put a thing that is seen, upright, into an empty message."""
    message.object_id, message.object_type, message.state = seen.object_id, seen.object_type, seen.state
    set_vector(message.pose.position, seen.position)
    set_vector(message.size, seen.size)
    message.confidence = float(seen.confidence)
    message.attributes = attributes_message(seen.attributes)


def grounds_from(areas: Iterable[SceneArea]) -> NavigationMap:
    """Return where a robot can go; GraphError if it is nowhere."""
    return NavigationMap(
        Area(
            each.id,
            each.floor,
            (each.position.x, each.position.y, each.position.z),
            dict(zip(each.adjacent, each.ways, strict=False)),
            each.name,
        )
        for each in areas
    )


def happened_from(result: DoSkill.Result) -> CallResult:
    """Return what came of a skill."""
    return CallResult(
        result.done,
        result.reason,
        result.duration,
        result.walked,
        tuple(seen_from(each) for each in result.seen),
        result.held if result.held_known else None,
        obstacle_from(result),
    )


def set_obstacle(result: DoSkill.Result, obstacle: Obstacle | None) -> DoSkill.Result:
    """Put what was in the way of a skill into its result, and return that."""
    if obstacle is not None:
        result.obstacle, result.clearing = obstacle.object_id, obstacle.clearing.value
    return result


def obstacle_from(result: DoSkill.Result) -> Obstacle | None:
    """Return what was in the way of a skill; None for nothing, or where nobody here knows how it is cleared."""
    ways = {each.value: each for each in Clearing}
    known = bool(result.obstacle) and result.clearing in ways
    return Obstacle(result.obstacle, ways[result.clearing]) if known else None


def sight_from(messages: Sequence[SeenObject]) -> tuple[list[ObservedThing], list[str]]:
    """Return all that is seen at once, and of each thing that cannot be believed, why.

    Raises:
        GraphError: there are too many.
    """
    if len(messages) > MOST_DETECTIONS:
        raise GraphError(f"{len(messages)} things seen at once: {MOST_DETECTIONS} are the most")
    seen = [seen_from(each) for each in messages]
    wrong = [wrong_with(each) for each in seen]
    return [each for each, why in zip(seen, wrong, strict=True) if not why], [why for why in wrong if why]


def seen_from(message: SeenObject) -> ObservedThing:
    """Return a thing that is seen."""
    about = message.detection
    place, size = about.pose.position, about.size
    return ObservedThing(
        object_type=about.object_type,
        object_id=about.object_id,
        position=(place.x, place.y, place.z),
        size=(size.x, size.y, size.z),
        state=about.state,
        attributes={each.key: each.value for each in about.attributes},
        relation=message.relation,
        container=message.container,
        area=message.area,
        movable=message.movable,
        confidence=about.confidence,
    )
