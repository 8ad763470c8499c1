"""Which robot recorded a bag, told by its joints, and how wide its gripper is open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import PIPER_NAMES, PIPER_OPENING

PANDA, PIPER, UNKNOWN = "panda", "piper", "unknown"
_PANDA_ARM, _PANDA_WIDEST = 7, 0.04
"""Joints of its arm, two fingers follow; position of a finger when the gripper is open, m."""

OPENINGS = {PANDA: 2 * _PANDA_WIDEST, PIPER: PIPER_OPENING}
"""How wide the gripper of a robot opens, m."""


def robot_of(joints: Sequence[str]) -> str:
    """LeRobot's `robot_type` for a robot with these joints."""
    if tuple(joints) == PIPER_NAMES:
        return PIPER
    arm, fingers = joints[:_PANDA_ARM], joints[_PANDA_ARM:]
    if len(arm) == _PANDA_ARM and len(fingers) == 2 and all("finger" in name for name in fingers):
        return PANDA
    return UNKNOWN


def gripper_opening(robot: str, positions: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """How far a gripper is open, 0 closed .. 1 open, (T,), out of joint positions (T, D); None for an unknown robot."""
    if robot == PANDA:
        return np.asarray(np.clip(positions[:, _PANDA_ARM:].mean(axis=1) / _PANDA_WIDEST, 0, 1))
    if robot == PIPER:
        return np.asarray(np.clip(positions[:, -1] / PIPER_OPENING, 0, 1))
    return None
