"""What a client asks of the joints, and the refusal of all that must not reach the arm. Every refusal is one line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from kc_vla.arm.workspace import Workspace
from kc_vla.core.errors import StackError
from kc_vla.core.robot import Robot, Vector
from kc_vla.policy.trajectory.spline import JointSpline, TrajectoryPoint

MOST_POINTS = 2000
"""More would take so long to check that the arm would hear nothing meanwhile, and hold."""
LONGEST_S = 3600.0
"""Longest trajectory, and longest wait for its start, s."""
TICK_S = 5e-10
"""Times that differ by less are the same, s: messages count nanoseconds."""
_BESIDE_LIMIT = np.radians(1.0)
"""So far beyond its limit a joint still counts as lying against it, rad."""
_STILL = 0.01
"""Velocity of the last point up to which it counts as at rest, rad/s."""
_MOST_ACCELERATION = 1000.0
"""rad/s2; a larger number is none that a planner meant."""
_ROUNDING = 1.02
"""Share of a velocity limit that is accepted: the planner's limit is rounded otherwise than ours."""
_MARGIN = 0.005
"""Distance from the bounds of the workspace that set-points keep, m."""


class TrajectoryCode(IntEnum):
    """How a trajectory ended; the numbers are those of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class TrajectoryError(StackError):
    """A trajectory that is refused; the text says why and what to do.

    Attributes:
        code: error code of the action's result.
    """

    def __init__(self, text: str, code: TrajectoryCode = TrajectoryCode.INVALID_GOAL) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, eq=False)
class RequestedPoint:
    """A point as a client sent it: nothing of it is checked."""

    time_s: float
    positions: Sequence[float] = ()
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()
    effort: Sequence[float] = ()


@dataclass(frozen=True, eq=False)
class RequestedTrajectory:
    """A trajectory as a client sent it.

    Attributes:
        names: of the joints, in any order.
        points: in ascending time.
        start_s: time of the start, s of the node's clock; 0: immediately.
    """

    names: Sequence[str]
    points: Sequence[RequestedPoint]
    start_s: float = 0.0


@dataclass(frozen=True, eq=False)
class ArmBounds:
    """The limits that the arm's controller keeps.

    Attributes:
        speed: (N,), rad/s.
        acceleration: (N,), rad/s2.
        workspace: box of the flange; None where the robot has no kinematics.
    """

    speed: Vector
    acceleration: Vector
    workspace: Workspace | None = None


def read_points(asked: RequestedTrajectory, robot: Robot) -> list[TrajectoryPoint]:
    """Return the points of a trajectory, in the order of the robot's joints.

    Raises:
        TrajectoryError: it is not a whole trajectory of this arm's joints, or a number in it cannot be meant.
    """
    order = _order(asked.names, robot)
    if not asked.points:
        raise TrajectoryError("the trajectory has no points: send one or more")
    if len(asked.points) > MOST_POINTS:
        raise TrajectoryError(f"the trajectory has {len(asked.points)} points: {MOST_POINTS} are the most, thin it out")
    points = [_read_point(number, point, order) for number, point in enumerate(asked.points)]
    _check_times(points)
    _check_numbers(points, robot)
    last = points[-1].velocities
    if last is not None and np.abs(last).max() > _STILL:
        raise TrajectoryError("the last point moves on: its velocities must be 0, the arm is to rest there")
    return points


def check_start(asked: RequestedTrajectory, points: Sequence[TrajectoryPoint], now_s: float) -> None:
    """Check that a trajectory does not lie in the past, or far in the future.

    Raises:
        TrajectoryError: it does.
    """
    if asked.start_s == 0.0:
        return
    over_s = now_s - asked.start_s - points[-1].time_s
    if over_s > 0.0:
        raise TrajectoryError(
            f"the trajectory ended {over_s:.1f} s ago by its header.stamp: set the stamp to 0 to start it immediately, "
            "and compare the clocks of both machines",
            TrajectoryCode.OLD_HEADER_TIMESTAMP,
        )
    if asked.start_s - now_s > LONGEST_S:
        raise TrajectoryError(f"header.stamp lies {asked.start_s - now_s:.0f} s ahead: {LONGEST_S:.0f} s are the most")


def check_way(way: JointSpline, robot: Robot, bounds: ArmBounds) -> None:
    """Check that the arm can follow a way from where it is: positions, velocities and workspace.

    Raises:
        TrajectoryError: it cannot; a way that is too fast is refused, and not slowed down.
    """
    times, positions, velocities = way.samples()
    excess = np.abs(velocities) / bounds.speed
    row, joint = np.unravel_index(int(excess.argmax()), excess.shape)
    if not excess[row, joint] <= _ROUNDING:  # no number at all is refused, too
        raise TrajectoryError(
            f"{robot.joints[joint]} would move at {abs(velocities[row, joint]):.2f} rad/s {times[row]:.2f} s after the "
            f"start: its limit is {bounds.speed[joint]:.2f} rad/s; plan slower, with a velocity scaling of "
            f"{_rounded_down(1 / excess[row, joint]):g} of this one or less, or give the first point more time"
        )
    _check_inside(positions, robot, "between its points, the trajectory leads")
    if bounds.workspace is not None and (bound := bounds.workspace.left_by(positions, _MARGIN)):
        raise TrajectoryError(
            f"the flange or a joint would cross the {bound}: plan inside the box, or change 'workspace' in the robot "
            "file"
        )


def _rounded_down(share: float) -> float:
    """Return a number with its first two digits alone; 0 for one that is not positive."""
    if not share > 0.0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(share)) - 1)
    return float(f"{math.floor(share / unit) * unit:.2g}")


def _order(names: Sequence[str], robot: Robot) -> list[int]:
    """Return, for each joint of the robot, its place among `names`."""
    fingers = [name for name in names if name in robot.gripper]
    if fingers:
        raise TrajectoryError(
            f"{', '.join(fingers)} is of the gripper, which has an action of its own, gripper_controller/gripper_cmd: "
            f"send {', '.join(robot.joints)} alone",
            TrajectoryCode.INVALID_JOINTS,
        )
    if sorted(names) != sorted(robot.joints):
        raise TrajectoryError(
            f"the trajectory is for the joints {', '.join(names) or 'of no name'}: this arm needs each of "
            f"{', '.join(robot.joints)} once, in any order",
            TrajectoryCode.INVALID_JOINTS,
        )
    return [list(names).index(joint) for joint in robot.joints]


def _read_point(number: int, point: RequestedPoint, order: Sequence[int]) -> TrajectoryPoint:
    if len(point.positions) == 0:
        raise TrajectoryError(f"point {number} has no positions: each point needs one for each joint")
    if len(point.effort):
        raise TrajectoryError(f"point {number} has efforts: this arm takes positions, leave them out")
    rows = {}
    for name in ("positions", "velocities", "accelerations"):
        values = np.array(getattr(point, name), float)
        if len(values) not in (0, len(order)):
            raise TrajectoryError(f"point {number} has {len(values)} {name} for {len(order)} joints")
        if not np.isfinite(values).all():
            raise TrajectoryError(f"point {number} has {name} that are not finite: {values.tolist()}")
        rows[name] = values[order] if len(values) else None
    positions = rows["positions"]
    assert positions is not None
    return TrajectoryPoint(point.time_s, positions, rows["velocities"], rows["accelerations"])


def _check_times(points: Sequence[TrajectoryPoint]) -> None:
    times = [point.time_s for point in points]
    if not (np.isfinite(times).all() and times[0] >= 0.0 and times[-1] <= LONGEST_S):
        raise TrajectoryError(
            f"time_from_start goes from {times[0]:g} to {times[-1]:g} s: 0 to {LONGEST_S:.0f} s is allowed"
        )
    late = next((number for number in range(1, len(times)) if times[number] - times[number - 1] < TICK_S), None)
    if late is not None:
        raise TrajectoryError(
            f"point {late} has time_from_start {times[late]:g} s, the point before it {times[late - 1]:g} s: the times "
            "must increase"
        )


def _check_numbers(points: Sequence[TrajectoryPoint], robot: Robot) -> None:
    _check_inside(np.array([point.positions for point in points]), robot, "the trajectory leads")
    for number, point in enumerate(points):
        fast = point.velocities is not None and np.abs(point.velocities) > _ROUNDING * robot.limits.speed
        if np.any(fast):
            assert point.velocities is not None
            joint = int(np.flatnonzero(fast)[0])
            raise TrajectoryError(
                f"point {number} moves {robot.joints[joint]} at {point.velocities[joint]:.2f} rad/s: its limit is "
                f"{robot.limits.speed[joint]:.2f} rad/s; plan slower"
            )
        if point.accelerations is not None and np.abs(point.accelerations).max() > _MOST_ACCELERATION:
            raise TrajectoryError(
                f"point {number} accelerates by {np.abs(point.accelerations).max():.3g} rad/s2: is the unit right?"
            )


def _check_inside(positions: Vector, robot: Robot, what: str) -> None:
    """Refuse positions (T, N), rad, outside of the joint limits; an arm may begin up to where it lies against one."""
    limits = robot.limits
    beyond = np.maximum(limits.lowest - positions, positions - limits.highest) > _BESIDE_LIMIT
    if beyond.any():
        row, joint = (int(index) for index in np.argwhere(beyond)[0])
        raise TrajectoryError(
            f"{what} {robot.joints[joint]} to {positions[row, joint]:.2f} rad: its limits are "
            f"{limits.lowest[joint]:.2f} to {limits.highest[joint]:.2f} rad"
        )
