"""What perception reports of an image, as the messages that the memories take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from scipy.spatial.transform import Rotation

from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.seen_region import SeenRegion
from kc_vla_msgs.msg import CameraRegion, ObjectDetection, ObjectDetections

FRAME = "robot_base"


def region_message(region: SeenRegion) -> CameraRegion:
    """Return the message of what was in view."""
    x, y, z = region.pose[:3, 3].tolist()
    qx, qy, qz, qw = Rotation.from_matrix(region.pose[:3, :3]).as_quat().tolist()
    message = CameraRegion(
        pose=Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw)),
        width=region.size[0],
        height=region.size[1],
        k=region.matrix.ravel(),
        farthest=region.farthest_m,
    )
    if region.depth_mm is not None:
        message.depth_height, message.depth_width = region.depth_mm.shape
        message.depth = np.ravel(region.depth_mm).tolist()
    return message


def detection_message(seen: LocatedObject) -> ObjectDetection:
    """Return the message of an object."""
    x, y, z = seen.position
    width, depth, height = seen.size
    return ObjectDetection(
        object_id=seen.object_id,
        object_type=seen.object_type,
        state=seen.state,
        pose=Pose(position=Point(x=x, y=y, z=z)),
        size=Vector3(x=width, y=depth, z=height),
        confidence=seen.confidence,
        attributes=[KeyValue(key=name, value=value) for name, value in seen.attributes.items()],
    )


def report(
    stamp_ns: int, objects: Sequence[LocatedObject], regions: Sequence[CameraRegion], frame: str = FRAME
) -> ObjectDetections:
    """Return the message of a look."""
    message = ObjectDetections(episode_id="e", detections=list(map(detection_message, objects)), regions=list(regions))
    message.header.frame_id = frame
    message.header.stamp = Time(sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)
    return message
