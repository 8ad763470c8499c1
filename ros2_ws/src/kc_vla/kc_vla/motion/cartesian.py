"""Motions of which every pose of the tool is prescribed: lines, and arcs about a hinge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Vector
from kc_vla.motion.collision import CollisionChecker
from kc_vla.motion.inverse import InverseKinematics
from kc_vla.motion.problem import MotionError, MotionProblem

STEP, TURN_STEP = 0.01, 0.05
"""Between poses of the tool that joints are computed for, m and rad."""
_LEAP = 0.25
"""A joint that turns further from one of these poses to the next leaps, rad: the arm is near a singular pose."""
_STRAY = 0.003
"""The tool is so near to the prescribed way between two of these poses, m."""


def followed(checker: CollisionChecker, inverse: InverseKinematics, start: Vector, poses: Sequence[Pose]) -> Vector:
    """Return a way (N, D), rad, on which the tool goes through poses one after the other.

    Args:
        checker: of the scene.
        inverse: kinematics of the arm.
        start: angles (D,), rad, one step before the first pose.
        poses: (4, 4) each, base frame, m, close together.

    Raises:
        MotionError: the arm cannot follow, or it would touch something; the text says after how much of the way.
    """
    way = [start]
    for number, pose in enumerate(poses):
        done = f"after {100 * number / len(poses):.0f} % of the way"
        joints = inverse.from_start(pose, way[-1])
        if joints is None:
            reachable = inverse.reaches_without_limits(pose)
            raise MotionError(
                MotionProblem.LIMITS if reachable else MotionProblem.REACH,
                f"the tool cannot go straight there: {'a joint has its limit' if reachable else 'out of reach'} {done}",
            )
        if np.abs(joints - way[-1]).max() > _LEAP:
            raise MotionError(MotionProblem.LIMITS, f"the tool cannot go straight there: the joints would leap {done}")
        if (why := checker.blocked_on(way[-1], joints)) is not None:
            raise MotionError(why.problem, f"{why} {done}")
        way.append(joints)
    return np.array(way)
