"""The images and the measured state of the robot at one stamp, and the keyframes.

The messages that it is put together from may come from a topic or from a bag.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.views import Views


@dataclass(frozen=True, eq=False)
class Observation:
    """A full observation.

    Attributes:
        frame: index in the episode, 0-based.
        stamp_ns: of the image of the first view, ns of ROS time.
        views: what each camera saw, the first view first.
        joint_names: of the positions and velocities.
        joint_positions: (J,) float64, rad (m for fingers).
        joint_velocities: (J,) float64, rad/s (m/s for fingers).
        tool_pose: (7,) float64, tool center point in the robot base frame: x, y, z (m), quaternion x, y, z, w.
    """

    frame: int
    stamp_ns: int
    views: Views
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
        source: a name of `kc_vla.keyframes.selectors`, or "injected".
        committed: False while it is a candidate.
        observation: what was seen.
    """

    label: str
    phase: int
    score: float
    source: str
    committed: bool
    observation: Observation

    def is_but_for_score(self, other: Keyframe) -> bool:
        """Return whether it is the same keyframe, whatever the two scores."""
        same = self.observation is other.observation and self.committed == other.committed
        return same and (self.label, self.phase, self.source) == (other.label, other.phase, other.source)


def observation_of(frame: int, stamp_ns: int, views: Views, joints: Any, tool_pose: Any) -> Observation:
    """Put an observation together.

    Args:
        frame: its index in the episode.
        stamp_ns: of the image of the first view, ns of ROS time.
        views: what each camera saw, the first view first.
        joints: sensor_msgs/JointState; without velocities they stand still.
        tool_pose: geometry_msgs/Pose.
    """
    return Observation(
        frame=frame,
        stamp_ns=stamp_ns,
        views=views,
        joint_names=tuple(joints.name),
        joint_positions=np.asarray(joints.position, np.float64),
        joint_velocities=np.asarray(joints.velocity if joints.velocity else np.zeros(len(joints.name)), np.float64),
        tool_pose=pose_of(tool_pose),
    )


def pose_of(pose: Any) -> NDArray[np.float64]:
    """Return a geometry_msgs/Pose as x, y, z (m) and quaternion x, y, z, w."""
    p, q = pose.position, pose.orientation
    return np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])
