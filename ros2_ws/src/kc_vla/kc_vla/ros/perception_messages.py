"""What was perceived, as messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from geometry_msgs.msg import Vector3
from std_msgs.msg import Header
from vision_msgs.msg import Detection2D, Detection2DArray, ObjectHypothesisWithPose

from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.seen_region import SeenRegion
from kc_vla.ros.convert import attributes_message, pose_message, time_message
from kc_vla_msgs.msg import CameraRegion, ObjectDetection, ObjectDetections

if TYPE_CHECKING:
    from kc_vla.perception.perceiver import Perceived


def perceived_message(
    found: Perceived, frame_id: str, stamp_ns: int, crop_of: Callable[[LocatedObject], bytes]
) -> ObjectDetections:
    """Return the message of the objects in an image.

    Args:
        found: the objects and regions of the image.
        frame_id: coordinate frame of the objects' poses.
        stamp_ns: stamp of the image, ns.
        crop_of: returns the JPEG of an object; empty for none.
    """
    message = ObjectDetections(detections=[_detection(each, crop_of(each)) for each in found.objects])
    message.header.stamp, message.header.frame_id = time_message(stamp_ns), frame_id
    message.gone = list(found.gone)
    if found.region is not None:
        message.regions = [region_message(found.region)]
    return message


def boxes_message(found: Perceived, header: Header) -> Detection2DArray:
    """Return the boxes of what was perceived in an image, px, with the header of that image."""
    seen = [each for each in found.objects if each.box.right > each.box.left]
    return Detection2DArray(
        header=header,
        detections=[box_message(each.object_id, each.object_type, each.box, header, each.confidence) for each in seen],
    )


def box_message(
    object_id: str, object_type: str, box: Sequence[float], header: Header, confidence: float = 1.0
) -> Detection2D:
    """Return a box of an image as a message.

    Args:
        object_id: of what is in it.
        object_type: likewise.
        box: left, upper, right and lower edge, px.
        header: of the image.
        confidence: of the detector, 0..1.
    """
    result = ObjectHypothesisWithPose()
    result.hypothesis.class_id, result.hypothesis.score = object_type, confidence
    message = Detection2D(header=header, id=object_id, results=[result])
    left, top, right, bottom = (float(each) for each in box)
    message.bbox.center.position.x, message.bbox.center.position.y = (left + right) / 2, (top + bottom) / 2
    message.bbox.size_x, message.bbox.size_y = right - left, bottom - top
    return message


def region_message(region: SeenRegion) -> CameraRegion:
    """Return what a camera had in view as a message."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(region.pose[:3, :3]).as_quat()
    message = CameraRegion(
        pose=pose_message([*region.pose[:3, 3], *turn]),
        width=region.size[0],
        height=region.size[1],
        k=[float(each) for each in region.matrix.ravel()],
        farthest=region.farthest_m,
    )
    if region.depth_mm is not None:
        message.depth_height, message.depth_width = region.depth_mm.shape
        message.depth = region.depth_mm.ravel().tolist()
    return message


def _detection(thing: LocatedObject, image: bytes) -> ObjectDetection:
    width, depth, height = thing.size if thing.box_size is None else thing.box_size
    turn = 0.0, 0.0, math.sin(thing.yaw / 2), math.cos(thing.yaw / 2)
    return ObjectDetection(
        object_id=thing.object_id,
        object_type=thing.object_type,
        state=thing.state,
        pose=pose_message([*thing.position, *turn]),
        size=Vector3(x=width, y=depth, z=height),
        confidence=thing.confidence,
        attributes=attributes_message(thing.attributes),
        image=image,
    )
