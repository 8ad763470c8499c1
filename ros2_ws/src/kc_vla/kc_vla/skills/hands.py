"""How the hand is turned, and how fast it moves."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.skills.tool_path import ToolPose

CLOSED_M = 0.0
"""Width of closed fingers, m."""
SLOW, BRISK, CARRYING = 0.12, 0.3, 0.5
"""Speeds of the tool at things, past them, and with something in the hand, m/s."""
ABOVE = 0.1
"""The hand comes to a thing, and leaves it, from so far above, m."""
_DOWN = Rotation.from_matrix([[1, 0, 0], [0, -1, 0], [0, 0, -1]])


def facing_down(yaw: float = 0.0) -> Rotation:
    """Return the turn of a tool that points down; its fingers close across the direction `yaw` (rad, 0 ahead)."""
    return Rotation.from_euler("z", yaw) * _DOWN


def yaw_of(pose: ToolPose) -> float:
    """Return the yaw of a hand, rad: see `facing_down`."""
    x, y, _ = pose.rotation.apply((1.0, 0.0, 0.0)).tolist()
    return float(np.arctan2(y, x))


def facing(yaw: float, raised: float, turned: float = 0.0) -> Rotation:
    """Return the turn of a tool that points down and ahead.

    Args:
        yaw: direction that is ahead, rad.
        raised: from straight down, rad; a quarter of a turn for a level hand.
        turned: about the axis of the hand, rad; at 0 the fingers close along a level line.
    """
    return Rotation.from_euler("z", yaw) * Rotation.from_euler("y", -raised) * _DOWN * Rotation.from_euler("z", turned)


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
