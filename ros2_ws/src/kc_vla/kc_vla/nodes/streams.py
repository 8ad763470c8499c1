"""Feeds stamped topics into a synchroniser, with the wall time at which each message was published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Image, JointState

from kc_vla.episode import Episode
from kc_vla.keyframes.observation import Observation
from kc_vla.keyframes.synchronizer import Moment, Synchronizer
from kc_vla.nodes import qos, topics
from kc_vla.nodes.base import StackNode
from kc_vla.nodes.convert import nanoseconds, observation_from

OnSample = Callable[[str, int, Any, int], None]
"""`on_sample(stream, stamp_ns, message, published_ns)`; the last is the publisher's wall clock."""


def listen(node: StackNode, kind: type, topic: str, profile: QoSProfile, stream: str, on_sample: OnSample) -> None:
    """Hand every message of a stamped topic to `on_sample`."""

    def callback(message: Any, info: dict[str, int]) -> None:
        on_sample(stream, nanoseconds(message.header.stamp), message, info["source_timestamp"])

    node.subscribe(kind, topic, callback, profile)


def listen_to_observations(node: StackNode, on_sample: OnSample) -> None:
    """Hand the four streams that make a full observation to `on_sample`."""
    listen(node, JointState, topics.JOINT_STATES, qos.STATE, "joints", on_sample)
    listen(node, PoseStamped, topics.TOOL_POSE, qos.STATE, "tool_pose", on_sample)
    listen(node, Image, topics.WRIST_IMAGE, qos.IMAGE, "wrist", on_sample)
    listen(node, Image, topics.THIRD_PERSON_IMAGE, qos.IMAGE, "third_person", on_sample)


def observation_synchronizer(tolerance_s: float) -> Synchronizer:
    """Return the synchroniser of the four streams of a full observation."""
    return Synchronizer("third_person", ("wrist", "joints", "tool_pose"), round(tolerance_s * 1e9))


def observation_of(moment: Moment, episode: Episode) -> Observation:
    """Return the observation of one moment; raises BadMessageError for a malformed message."""
    return observation_from(
        frame=episode.frame_of(moment.stamp_ns),
        stamp_ns=moment.stamp_ns,
        third_person=moment["third_person"],
        wrist=moment["wrist"],
        joints=moment["joints"],
        tool_pose=moment["tool_pose"].pose,
    )
