"""Detections as a skill takes them, and the newest state of the arm, out of messages."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState

from kc_vla.core.robot import Robot, Vector
from kc_vla.memory.intake import MOST_DETECTIONS
from kc_vla.ros.convert import BadMessageError, nanoseconds
from kc_vla.skills.interface import ArmReading
from kc_vla.skills.perceived import PerceivedThing
from kc_vla_msgs.msg import ObjectDetection, ObjectDetections

_FARTHEST_M, _LARGEST_M, _LETTERS = 10.0, 4.0, 200
"""A detection that is further away or larger than this, or has a longer name, is none."""


def things_from(message: ObjectDetections, base_frame: str, stamp_s: float) -> tuple[list[PerceivedThing], str]:
    """Return what a message reports, and in one line why some of it is left out; empty where none is.

    Args:
        message: of a detector.
        base_frame: of the robot, which the poses must be in.
        stamp_s: of the message, s.

    Raises:
        BadMessageError: all of it is in another frame, or it is too long.
    """
    frame = message.header.frame_id
    if frame not in ("", base_frame):
        raise BadMessageError(f"detections in the frame '{frame}' are left out: a skill needs them in '{base_frame}'")
    if len(message.detections) > MOST_DETECTIONS:
        raise BadMessageError(f"{len(message.detections)} detections at once are left out: at most {MOST_DETECTIONS}")
    wrong = ""
    found = []
    for each in message.detections:
        if why := _wrong_with(each):
            wrong = wrong or f"a detection is left out: {why}"
        else:
            found.append(_thing(each, stamp_s))
    return found, wrong


def reading_from(message: JointState, robot: Robot, step: int) -> ArmReading:
    """Return a state of the arm.

    Raises:
        BadMessageError: it has other joints, or numbers that are none.
    """
    positions = dict(zip(message.name, message.position, strict=False))
    missing = [name for name in robot.names if name not in positions]
    values = np.array([positions[name] for name in robot.names if name in positions], float)
    if missing or not np.isfinite(values).all():
        raise BadMessageError(
            f"a joint state of {', '.join(message.name)} is left out: it needs {', '.join(robot.names)}"
        )
    efforts = dict(zip(message.name, message.effort, strict=False))
    effort = efforts.get(robot.gripper[0])
    stamp_s = nanoseconds(message.header.stamp) * 1e-9
    return ArmReading(step, values[: len(robot.joints)], float(robot.gripper_opening(values)), effort, stamp_s)


def _wrong_with(each: ObjectDetection) -> str:
    texts = [each.object_id, each.object_type, each.state]
    if not each.object_id or any(len(text) > _LETTERS or not text.isprintable() for text in texts):
        return "it has no id, or a text that is none"
    name = f"'{each.object_id[:40]}'"
    place, turn = _numbers(each.pose.position, "xyz"), _numbers(each.pose.orientation, "xyzw")
    size = _numbers(each.size, "xyz")
    if not np.isfinite([*place, *turn, *size, each.confidence]).all():
        return f"{name} has a number that is none"
    if np.abs(place).max() > _FARTHEST_M or size.max() > _LARGEST_M or size.min() < 0:
        return f"{name} is at {place.round(2).tolist()} m and {size.round(2).tolist()} m large"
    if abs(float(np.linalg.norm(turn)) - 1.0) > 0.01:
        return f"{name} has an orientation that is no unit quaternion"
    return ""


def _thing(each: ObjectDetection, stamp_s: float) -> PerceivedThing:
    return PerceivedThing(
        each.object_id,
        each.object_type,
        _numbers(each.pose.position, "xyz"),
        Rotation.from_quat(_numbers(each.pose.orientation, "xyzw")),
        _numbers(each.size, "xyz"),
        each.state,
        {pair.key: pair.value for pair in each.attributes},
        float(each.confidence),
        stamp_s,
    )


def _numbers(message: object, names: str) -> Vector:
    return np.array([getattr(message, name) for name in names], float)
