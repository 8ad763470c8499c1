"""Writes bags with the `rosbags` library, as others have them: a latched sentence and joint states at 100 Hz."""

from __future__ import annotations

from pathlib import Path

from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, String

WORDS = "pick up the salt"
BEGIN_NS = 1_700_000_000 * 10**9
LATCHED = Qos(
    QosHistory.KEEP_LAST,
    7,
    QosReliability.RELIABLE,
    QosDurability.TRANSIENT_LOCAL,
    QosTime(0, 0),
    QosTime(0, 0),
    QosLiveliness.AUTOMATIC,
    QosTime(0, 0),
    avoid_ros_namespace_conventions=False,
)


def states(count: int) -> list[JointState]:
    return [
        JointState(
            header=Header(stamp=Time(sec=k), frame_id="arm"), name=["one", "two"], position=[0.5 * k, -k], velocity=[k]
        )
        for k in range(count)
    ]


def write(folder: Path, storage: StoragePlugin, mode: CompressionMode, version: int = 9, count: int = 50) -> Path:
    store = get_typestore(Stores.ROS2_JAZZY)
    writer = Writer(folder, version=version, storage_plugin=storage)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        words = writer.add_connection("/words", "std_msgs/msg/String", typestore=store, offered_qos_profiles=[LATCHED])
        joints = writer.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
        writer.write(words, BEGIN_NS, serialize_message(String(data=WORDS)))
        for k, state in enumerate(states(count)):
            writer.write(joints, BEGIN_NS + k * 10**7, serialize_message(state))
    return folder
