"""What a planner returns: the way of the joints, and the set-points that lead along it in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla.core.robot import Vector
from kc_vla.motion.problem import MotionError, MotionProblem
from kc_vla.motion.scene import MotionScene


@dataclass(frozen=True, eq=False)
class JointPath:
    """A way of D joints that is free of collisions, straight in joint space from row to row.

    Attributes:
        joints: angles (N, D), rad; N is 1 where there is nothing to do.
        scene: that it was planned in.
        touch: names of what it may touch.
    """

    joints: Vector
    scene: MotionScene
    touch: frozenset[str] = frozenset()

    @property
    def start(self) -> Vector:
        """Return the first angles (D,), rad."""
        return np.asarray(self.joints[0])

    @property
    def end(self) -> Vector:
        """Return the last angles (D,), rad."""
        return np.asarray(self.joints[-1])

    @property
    def length(self) -> float:
        """Return how far the joint that turns most in each part of it goes, summed up, rad."""
        return float(np.abs(np.diff(self.joints, axis=0)).max(axis=1, initial=0.0).sum())

    def reversed(self) -> JointPath:
        """Return the way back, in the same scene."""
        return JointPath(self.joints[::-1].copy(), self.scene, self.touch)


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Set-points of D joints, one for each control period; the first is the start, at rest, and so is the last.

    Attributes:
        period: between two of them, s.
        joints: angles (T, D), rad.
        speeds: (T, D), rad/s.
    """

    period: float
    joints: Vector
    speeds: Vector

    @property
    def seconds(self) -> float:
        """Return how long it takes, s."""
        return self.period * (len(self.joints) - 1)


def checked_joints(joints: Sequence[float] | Vector, count: int, what: str) -> Vector:
    """Return angles (D,), rad; raise MotionError for another number of them, or one that is not finite."""
    try:
        angles = np.array(joints, float)
    except (TypeError, ValueError):
        raise MotionError(MotionProblem.INPUT, f"{what} is no list of angles") from None
    if angles.shape != (count,) or not np.isfinite(angles).all():
        raise MotionError(MotionProblem.INPUT, f"{what} must be {count} finite angles, rad: it is {angles.tolist()}")
    return angles
