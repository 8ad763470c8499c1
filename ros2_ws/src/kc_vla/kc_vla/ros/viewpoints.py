"""From where one looks, out of messages; apart from what a node needs only for a scene graph."""

from __future__ import annotations

import math

from geometry_msgs.msg import Point

from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.nodes import Vector
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla_msgs.srv import QueryScene, RecallUnits


def place_from(point: Point) -> Vector:
    """Return a place, m; GraphError if its numbers are none."""
    if not all(map(math.isfinite, (point.x, point.y, point.z))):
        raise GraphError("a place whose x, y or z is no finite number: give all three in m")
    return point.x, point.y, point.z


def viewpoint_from(request: QueryScene.Request | RecallUnits.Request) -> Viewpoint | None:
    """Return where one looks from, along the x axis of a pose; None if the request gives none.

    Raises:
        GraphError: the pose is none.
    """
    if not request.use_viewpoint_pose:
        return None
    place, turn = request.viewpoint_pose.position, request.viewpoint_pose.orientation
    length = math.hypot(turn.x, turn.y, turn.z, turn.w)
    if not abs(length - 1) < 0.1:
        raise GraphError(f"a viewpoint that is turned by {told((turn.x, turn.y, turn.z, turn.w))}: no unit quaternion")
    x, y, z = (float(each) for each in pose_matrix((0.0, 0.0, 0.0), (turn.x, turn.y, turn.z, turn.w))[:3, 0])
    return Viewpoint(place_from(place), (x, y, z))
