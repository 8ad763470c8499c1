"""Topics of a bag as ROS has them here: their names, whether they are stamped, their quality of service."""

from __future__ import annotations

from typing import Any

from rclpy.exceptions import InvalidTopicNameException
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.validate_full_topic_name import validate_full_topic_name

from kc_vla.bags.errors import one_line
from kc_vla.bags.topics import Qos
from kc_vla.ros.base import StartError


def check_name(topic: str, bag: str) -> None:
    """Check that a topic of `bag` has a valid name.

    Raises:
        StartError: it cannot.
    """
    try:
        validate_full_topic_name(topic)
    except InvalidTopicNameException:
        told = one_line(f"{bag}: no topic can be called '{topic}'")
        raise StartError(f"{told}: choose others with 'topics'") from None


def has_header(message_type: Any) -> bool:
    """Return whether messages of this class begin with a stamp."""
    return next(iter(message_type.get_fields_and_field_types().values()), "") == "std_msgs/Header"


def profile_of(offered: Qos) -> QoSProfile:
    """Return the quality of service with which a topic was recorded."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=offered.depth,
        reliability=ReliabilityPolicy.RELIABLE if offered.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if offered.transient_local else DurabilityPolicy.VOLATILE,
    )
