"""How the hand is turned, and how fast it moves."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.skills.hand_turns import facing
from kc_vla.skills.tool_path import ToolPose

CLOSED_M = 0.0
"""Width of closed fingers, m."""
SLOW, BRISK, CARRYING = 0.12, 0.3, 0.5
"""Speeds of the tool at things, past them, and with something in the hand, m/s."""
ABOVE = 0.1
"""The hand comes to a thing, and leaves it, from so far above, m."""


def facing_down(yaw: float = 0.0) -> Rotation:
    """Return the turn of a tool that points down; its fingers close across the direction `yaw` (rad, 0 ahead)."""
    return facing(yaw, 0.0)


def yaw_of(pose: ToolPose) -> float:
    """Return the yaw of a hand, rad: see `facing_down`."""
    x, y, _ = pose.rotation.apply((1.0, 0.0, 0.0)).tolist()
    return float(np.arctan2(y, x))


def looking_from(angle: float, distance: float, height: float, tilt: float) -> ToolPose:
    """Return a pose from which a camera on the hand looks outwards.

    Args:
        angle: direction from the base, rad.
        distance: of the hand from the axis of the base, m.
        height: of the hand, m.
        tilt: how far the hand is raised from straight down, rad.
    """
    place = np.array([distance * np.cos(angle), distance * np.sin(angle), height])
    return ToolPose(place, facing(angle, tilt))
