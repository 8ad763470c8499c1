"""What the robot saw and felt at one moment, and the moments worth keeping.

The messages that it is put together from may come from a topic or from a bag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Observation:
    """A full observation.

    Attributes:
        frame: index in the episode, 0-based.
        stamp_ns: of the third-person image, ns of ROS time.
        third_person: (H, W, 3) uint8 RGB.
        wrist: (H, W, 3) uint8 RGB.
        joint_names: of the positions and velocities.
        joint_positions: (J,) float64, rad (m for fingers).
        joint_velocities: (J,) float64, rad/s (m/s for fingers).
        tool_pose: (7,) float64, tool centre point in the robot base frame: x, y, z (m), quaternion x, y, z, w.
    """

    frame: int
    stamp_ns: int
    third_person: NDArray[np.uint8]
    wrist: NDArray[np.uint8]
    joint_names: tuple[str, ...]
    joint_positions: NDArray[np.float64]
    joint_velocities: NDArray[np.float64]
    tool_pose: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Keyframe:
    """An observation that is kept, and why.

    Attributes:
        label: name of the phase that it completes.
        phase: index of the keyframe, 0-based.
        score: 0..1.
        source: "oracle", "rules", "learned" or "injected".
        committed: False while it is a candidate.
        observation: what was seen.
    """

    label: str
    phase: int
    score: float
    source: str
    committed: bool
    observation: Observation


def observation_of(
    frame: int, stamp_ns: int, pictures: Mapping[str, NDArray[np.uint8]], joints: Any, tool_pose: Any
) -> Observation:
    """Put an observation together.

    Args:
        frame: its index in the episode.
        stamp_ns: of the third-person picture, ns of ROS time.
        pictures: (H, W, 3) uint8 RGB, by view.
        joints: sensor_msgs/JointState; without velocities they stand still.
        tool_pose: geometry_msgs/Pose.
    """
    return Observation(
        frame=frame,
        stamp_ns=stamp_ns,
        third_person=pictures["third_person"],
        wrist=pictures["wrist"],
        joint_names=tuple(joints.name),
        joint_positions=np.asarray(joints.position, np.float64),
        joint_velocities=np.asarray(joints.velocity if joints.velocity else np.zeros(len(joints.name)), np.float64),
        tool_pose=pose_of(tool_pose),
    )


def pose_of(pose: Any) -> NDArray[np.float64]:
    """A geometry_msgs/Pose as x, y, z (m) and quaternion x, y, z, w."""
    p, q = pose.position, pose.orientation
    return np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])
