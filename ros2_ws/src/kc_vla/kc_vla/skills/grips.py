"""The point between the fingers of an arm's hand, and how far the hand leans where it is to point down.

Not every wrist can point straight down: the one of a Piper turns by 70 degrees, and its hand would reach down to a
table only near the base. Such a hand leans outwards. It still comes from above, and its fingers close as they did.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.core.robot import Robot, Vector
from kc_vla.motion.arm_model import ArmModel
from kc_vla.motion.hand import PAD, ParallelHand
from kc_vla.motion.inverse import InverseKinematics
from kc_vla.skills.hands import facing_down
from kc_vla.skills.tool_path import ToolPose

_TRIED_M = ((0.2, 0.05), (0.35, 0.05), (0.5, 0.05), (0.25, 0.2), (0.35, 0.2), (0.45, 0.2))
"""Distances before the base, and heights, at which a hand is tried, m."""
_LEANS = np.radians([0.0, 15.0, 30.0])
"""How far a hand may lean outwards, rad: the least with which the arm reaches most of what is tried counts."""
_PAD_SHARE = 1 / 3
"""A leaning hand grasps so far out on the way from the middle of a finger to its lowest corner."""


@lru_cache(maxsize=16)
def best_grip(robot: Robot) -> tuple[float, Vector]:
    """Return how far the hand of an arm leans where it is to point down, and the point between its fingers.

    The point may be turned by half a turn: the fingers are the same then, and the last joint of an arm may reach only
    one of the two.

    Args:
        robot: its robot file.

    Returns:
        Lean outwards from the base, rad, and pose of the point in the tool frame (4, 4), m. The z axis of that pose
        points down where the hand leans so, and its y axis from finger to finger.

    Raises:
        RobotError, DescriptionError: the robot has no links, or no description that can be used.
    """
    arm = ArmModel(robot)
    hand, inverse = ParallelHand.of(arm), InverseKinematics(arm)
    best, most = (0.0, np.eye(4)), -1
    for lean in _LEANS:
        for half in (False, True):
            grip = _grip_of(hand, float(lean), half)
            count = _reached(arm, inverse, grip)
            if count > most:
                best, most = (float(lean), grip), count
            if count == len(_TRIED_M):
                return best
    return best


def _reached(arm: ArmModel, inverse: InverseKinematics, grip: Vector) -> int:
    """Return how many of some poses before the arm a hand that points down can take."""
    starts = [np.clip(arm.robot.rest, arm.lower, arm.upper), (arm.lower + arm.upper) / 2]
    count = 0
    for distance, height in _TRIED_M:
        pose = ToolPose(np.array([distance, 0.0, height]), facing_down()).matrix @ np.linalg.inv(grip)
        found = next((each for start in starts if (each := inverse.from_start(pose, start)) is not None), None)
        if found is not None:
            starts, count = [found, *starts[-2:]], count + 1
    return count


def _grip_of(hand: ParallelHand, lean: float, half: bool) -> Vector:
    """Return the pose of the point between the fingers in the tool frame (4, 4), m."""
    ahead = np.array([0.0, 0.0, 1.0])
    across = np.cross(hand.closing, ahead)
    turn = Rotation.from_euler("z", np.pi if half else 0.0) * Rotation.from_euler("y", -lean)
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([across, hand.closing, ahead]) @ turn.as_matrix()
    pose[2, 3] = hand.depth
    if lean and len(hand.corners):  # a corner of a finger is the lowest: the point is above it as it is above the tips
        down = pose[:3, 2]
        lowest = hand.corners[np.argmax(hand.corners @ down)]
        aside = across * float(lowest @ across) * _PAD_SHARE
        pose[:3, 3] = aside + ahead * float((lowest - aside) @ down - PAD) / down[2]
    return pose
