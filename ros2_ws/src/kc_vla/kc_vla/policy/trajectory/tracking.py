"""The course of one trajectory: whether the arm keeps to it, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.core.robot import Robot
from kc_vla.policy.trajectory.path_motion import PathMotion
from kc_vla.policy.trajectory.request import TrajectoryCode
from kc_vla.policy.trajectory.spline import MotionState, TrajectoryPoint
from kc_vla.policy.trajectory.tolerances import TrajectoryTolerances

_REST_S = 1.0
"""Longest wait for an arm that was canceled to stand still, s."""


@dataclass(frozen=True)
class TrajectoryOutcome:
    """How a trajectory ended.

    Attributes:
        code: error code of the action's result.
        text: reason, in one line; empty for a success.
        is_canceled: whether the client ended it.
    """

    code: TrajectoryCode
    text: str = ""
    is_canceled: bool = False


@dataclass(frozen=True, eq=False)
class TrackedState:
    """Where the joints should be at one stamp, and where they are.

    Attributes:
        stamp_s: stamp of the measured state, s.
        desired: where they should be.
        actual: where they are.
    """

    stamp_s: float
    desired: MotionState
    actual: MotionState


class TrajectoryRun:
    """A trajectory that was accepted.

    Attributes:
        points: in the order of the robot's joints.
        tolerances: how far the arm may be from it.
        starts_s: time of its start, s.
        began: whether the arm follows it already.
        tracked: the newest comparison; None before the first.
        outcome: how it ended; None while it is going on.
    """

    def __init__(
        self, points: list[TrajectoryPoint], tolerances: TrajectoryTolerances, starts_s: float, robot: Robot
    ) -> None:
        """Take a trajectory that was checked."""
        self.points, self.tolerances, self.starts_s = points, tolerances, starts_s
        self.began, self.is_canceled = False, False
        self.tracked: TrackedState | None = None
        self.outcome: TrajectoryOutcome | None = None
        self._robot = robot

    def finish(self, code: TrajectoryCode, text: str = "") -> None:
        """End it, unless it has ended already."""
        if self.outcome is None:
            self.outcome = TrajectoryOutcome(code, text, self.is_canceled)

    def compare(self, desired: MotionState, actual: MotionState, stamp_s: float, motion: PathMotion) -> None:
        """Compare where the arm is with where it should be, and end the trajectory where that decides it.

        Args:
            desired: where it should be at that stamp.
            actual: measured state.
            stamp_s: its stamp, s.
            motion: that follows the trajectory, or ends before it begins.
        """
        self.tracked = TrackedState(stamp_s, desired, actual)
        if self.is_canceled:
            self._look_for_rest(motion, actual, stamp_s)
        elif not self.began or stamp_s < motion.begins_s:
            return
        elif stamp_s >= motion.ends_s:
            self._look_for_goal(self.tracked, motion, stamp_s)
        elif off := self.tolerances.path.violated_by(desired, actual, self._robot):
            self.finish(
                TrajectoryCode.PATH_TOLERANCE_VIOLATED,
                f"{off}: the arm stops there; something is in its way, or the trajectory is too fast for it",
            )

    def _look_for_rest(self, motion: PathMotion, actual: MotionState, stamp_s: float) -> None:
        stands = np.abs(actual.velocities).max() <= self.tolerances.goal.velocity.min()
        if stamp_s >= motion.ends_s + (0.0 if stands else _REST_S):
            self.finish(TrajectoryCode.SUCCESSFUL, "canceled: the arm is at rest on the way")

    def _look_for_goal(self, tracked: TrackedState, motion: PathMotion, stamp_s: float) -> None:
        off = self.tolerances.goal.violated_by(tracked.desired, tracked.actual, self._robot)
        if not off:
            self.finish(TrajectoryCode.SUCCESSFUL)
        elif stamp_s > motion.ends_s + self.tolerances.goal_time_s:
            self.finish(
                TrajectoryCode.GOAL_TOLERANCE_VIOLATED,
                f"{off}, {self.tolerances.goal_time_s:g} s after the end of the trajectory",
            )
