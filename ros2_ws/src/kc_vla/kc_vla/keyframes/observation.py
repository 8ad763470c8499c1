"""What the robot saw and felt at one moment, and the moments worth keeping."""

from __future__ import annotations

from dataclasses import dataclass

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
