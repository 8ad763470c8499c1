"""Bags as another stack records them: a camera, joint states and what else there is, to be spoilt one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CompressedImage, Image, JointState
from std_msgs.msg import Header

from kc_vla.bags.topics import TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter

CAMERA, WRIST, JOINTS, POSE, TARGETS = "/cam", "/wrist_cam", "/joints", "/pose", "/targets"
MAP = {
    "third_person/image_raw": CAMERA,
    "wrist/image_raw": WRIST,
    "joint_states": JOINTS,
    "tool_pose": POSE,
    "arm/command": TARGETS,
}
PIPER = (*(f"joint{k}" for k in range(1, 7)), "gripper")
BEGIN_NS = 1_700_000_000 * 10**9
PERIOD_NS = 50_000_000
FRAMES = 40


@dataclass(frozen=True)
class Said:
    """One message, its stamp and when it was recorded, ns since the beginning."""

    topic: str
    message: Any
    stamp: int
    log: int

    def at(self, stamp: int) -> Said:
        """Return the same with another stamp."""
        return replace(self, stamp=stamp)


def truth(stamp: int) -> list[float]:
    """Where the joints of a Piper are: they move slowly, so that a wrong moment shows."""
    return [*(0.3 + 0.1 * k + 0.2 * stamp * 1e-9 for k in range(6)), 0.03 + 0.01 * np.sin(stamp * 1e-9)]


def image(number: int, size: int = 8, encoding: str = "rgb8") -> Image:
    pixels = np.full((size, size, 3), 5 * number % 256, np.uint8)
    return Image(height=size, width=size, step=3 * size, encoding=encoding, data=pixels.tobytes())


def jpeg(number: int) -> CompressedImage:
    data = cv2.imencode(".jpg", np.full((8, 8, 3), 5 * number % 256, np.uint8))[1].tobytes()
    return CompressedImage(format="jpeg", data=data)


def joints(stamp: int, names: Sequence[str] = PIPER, velocities: Sequence[float] = ()) -> JointState:
    return JointState(name=list(names), position=truth(stamp)[: len(names)], velocity=[float(v) for v in velocities])


def pose(stamp: int) -> PoseStamped:
    place = Point(x=0.4 + 0.02 * stamp * 1e-9, y=0.1, z=0.3)
    return PoseStamped(pose=Pose(position=place, orientation=Quaternion(w=1.0)))


def recording(*topics: str, frames: int = FRAMES, period: int = PERIOD_NS) -> list[Said]:
    """What a robot and its cameras say on `topics` (all by default), recorded as soon as it was stamped."""
    made: dict[str, Callable[[int, int], Any]] = {
        CAMERA: lambda k, _: image(k),
        WRIST: lambda k, _: image(k + 1),
        JOINTS: lambda _, stamp: joints(stamp),
        POSE: lambda _, stamp: pose(stamp),
        TARGETS: lambda _, stamp: joints(stamp),
    }
    phase = {CAMERA: 0, WRIST: 3_000_000, JOINTS: 1_000_000, POSE: 2_000_000, TARGETS: 4_000_000}
    return [
        Said(topic, made[topic](k, k * period + phase[topic]), k * period + phase[topic], k * period + phase[topic])
        for k in range(frames)
        for topic in (topics or MAP.values())
    ]


def only(said: Iterable[Said], topic: str) -> list[Said]:
    return [each for each in said if each.topic == topic]


def spoil(said: Sequence[Said], topic: str, numbers: Iterable[int], change: Callable[[Said], Said]) -> list[Said]:
    """Change the messages of a topic with these numbers."""
    chosen = {id(own) for k, own in enumerate(only(said, topic)) if k in set(numbers)}
    return [change(each) if id(each) in chosen else each for each in said]


def write(
    folder: Path, said: Iterable[Said], stamped_at: int = BEGIN_NS, order: Callable[[Said], Any] | None = None
) -> Path:
    """Write them as a bag, in the order of their recording or in another.

    A stamp of None stays 0, the others count from `stamped_at`.
    """
    said = sorted(said, key=lambda each: each.log)
    if order is not None:
        said.sort(key=order)
    types = {each.topic: each.message for each in said}
    infos = {topic: TopicInfo(_type(message)) for topic, message in types.items()}
    writer = EpisodeBagWriter(folder, infos, None)
    for each in said:
        stamp = 0 if each.stamp is None else stamped_at + each.stamp
        frame_id = each.message.header.frame_id
        each.message.header = Header(stamp=Time(sec=stamp // 10**9, nanosec=stamp % 10**9), frame_id=frame_id)
        log = BEGIN_NS + 1_000_000 + each.log
        assert writer.write(each.topic, serialize_message(each.message), log, log)
    writer.close()
    return folder


def _type(message: Any) -> str:
    package = type(message).__module__.split(".")[0]
    return f"{package}/msg/{type(message).__name__}"
