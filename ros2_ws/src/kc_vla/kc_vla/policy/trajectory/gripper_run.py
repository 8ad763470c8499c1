"""The course of one gripper goal: the gripper reaches its width, or it stalls on what it grips."""

from __future__ import annotations

from kc_vla.core.robot import Robot
from kc_vla.policy.trajectory.request import TrajectoryError

REACHED_M = 0.003
"""Distance from the commanded width up to which it counts as reached, m."""
_STALL_S = 1.0
"""Time without motion after which the gripper counts as stalled, s."""
_STALL_M = 0.001
"""Change of the width that counts as motion, m."""
_BESIDE_M = 0.001
"""So far outside of its range a width still counts as open or closed, m."""


class GripperRun:
    """A gripper goal that was accepted.

    Attributes:
        width: commanded width between the fingers, m.
        measured: newest measured width, m; the commanded one before the first.
        reached: whether the gripper is at the commanded width.
        stalled: whether it stands elsewhere.
        refusal: why it was given up, in one line; empty if it was not.
    """

    def __init__(self, width: float, now_s: float) -> None:
        """Begin at a time, s."""
        self.width = self.measured = width
        self.reached = self.stalled = False
        self.refusal = ""
        self._moved_s, self._moved_m = now_s, float("inf")

    @property
    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self.reached or self.stalled or bool(self.refusal)

    def measure(self, stamp_s: float, width: float) -> None:
        """Take in a measured width, m, with its stamp, s."""
        if self.is_over:
            return
        self.measured = width
        if abs(width - self._moved_m) > _STALL_M:
            self._moved_s, self._moved_m = stamp_s, width
        self.reached = abs(width - self.width) <= REACHED_M
        self.stalled = not self.reached and stamp_s - self._moved_s > _STALL_S


def checked_width(width: float, robot: Robot) -> float:
    """Return the width, m, of a gripper goal.

    Raises:
        TrajectoryError: the gripper cannot be so wide open.
    """
    if not robot.gripper:
        raise TrajectoryError(f"the robot '{robot.name}' has no gripper")
    if not -_BESIDE_M <= width <= robot.opening + _BESIDE_M:
        raise TrajectoryError(
            f"the gripper's position is {width:g}: it is the width between the fingers, 0 to {robot.opening:g} m"
        )
    return min(max(width, 0.0), robot.opening)
