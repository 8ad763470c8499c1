"""The recorded topics of an episode: name, type, and the quality of service of the publisher."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image, JointState, Joy
from std_msgs.msg import Bool, String
from tf2_msgs.msg import TFMessage

from kc_vla.bags.topics import Qos
from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla_msgs.msg import (
    ActionChunk,
    ArmCommand,
    Driver,
    EpisodeResult,
    EpisodeStatus,
    KeyframeEvent,
    KeyframeIndex,
    KeyframeScore,
    ObjectDetections,
)

Recorded = tuple[str, type, QoSProfile]

RECORDED: tuple[Recorded, ...] = (
    (topics.JOINT_STATES, JointState, qos.STATE),
    (topics.TOOL_POSE, PoseStamped, qos.STATE),
    (topics.LEADER_STATES, JointState, qos.STATE),
    (topics.JOY, Joy, qos.STATE),
    (topics.DETECTIONS, ObjectDetections, qos.STATE),
    (topics.DETECTIONS_TRUTH, ObjectDetections, qos.STATE),
    (topics.EPISODE_STATUS, EpisodeStatus, qos.STATUS),
    (topics.EPISODE_RESULT, EpisodeResult, qos.STATUS),
    (topics.KEYFRAME_SCORE, KeyframeScore, qos.EVENT),
    (topics.KEYFRAME_EVENT, KeyframeEvent, qos.EVENT_LOG),
    (topics.KEYFRAME_INDEX, KeyframeIndex, qos.STATUS),
    (topics.POLICY_CHUNK, ActionChunk, qos.EVENT),
    (topics.DRIVER, Driver, qos.EVENT_LOG),
    (topics.ARM_COMMAND, ArmCommand, qos.EVENT),
    (topics.STOPPED, Bool, qos.EVENT_LOG),
    (topics.HOUSEHOLD, String, qos.STATUS),
    (topics.PLANNER_STEPS, String, qos.EVENT_LOG),
    (topics.PLANNER_BELIEF, String, qos.STATUS),
    (topics.TF, TFMessage, qos.EVENT),
    (topics.TF_STATIC, TFMessage, qos.STATUS),
    (topics.ROBOT_DESCRIPTION, String, qos.STATUS),
    (topics.DIAGNOSTICS, DiagnosticArray, qos.EVENT),
)
"""Every topic of the stack but those of the cameras and the memories. To record a further topic, add a line.

`e_stop` is not among them: its publisher waits for a subscriber, and that must be the arm. The arm reports the stop on
`arm/stopped`."""

STANDING = (topics.STOPPED, topics.TF_STATIC, topics.ROBOT_DESCRIPTION)
"""Topics whose last message stays valid across episodes; the messages of all others belong to one episode."""


def recorded_topics(views: Sequence[str]) -> tuple[Recorded, ...]:
    """Return those of the cameras of a robot, and `RECORDED`."""
    pictures = [(topics.image_topic(view), Image, qos.IMAGE) for view in views]
    calibrations = [(topics.camera_info_topic(view), CameraInfo, qos.IMAGE) for view in views]
    depths = [(topics.depth_topic(view), Image, qos.IMAGE) for view in views]
    return (*pictures, *calibrations, *depths, *RECORDED)


def offered(profile: QoSProfile) -> Qos:
    """Return the quality of service as a bag notes it."""
    return Qos(
        reliable=profile.reliability == ReliabilityPolicy.RELIABLE,
        transient_local=profile.durability == DurabilityPolicy.TRANSIENT_LOCAL,
        depth=profile.depth,
    )
