"""Trajectories of ros2_control clients as messages, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kc_vla.core.robot import Robot
from kc_vla.policy.options import TrajectoryOptions
from kc_vla.policy.trajectory.request import RequestedPoint, RequestedTrajectory, TrajectoryError
from kc_vla.policy.trajectory.spline import MotionState
from kc_vla.policy.trajectory.tolerances import RequestedTolerance, TrajectoryTolerances, read_tolerances
from kc_vla.policy.trajectory.tracking import TrackedState, TrajectoryRun
from kc_vla.ros.convert import nanoseconds, time_message


def trajectory_from(message: JointTrajectory) -> RequestedTrajectory:
    """Return a trajectory as it was sent."""
    points = [
        RequestedPoint(
            seconds_of(point.time_from_start), point.positions, point.velocities, point.accelerations, point.effort
        )
        for point in message.points
    ]
    return RequestedTrajectory(list(message.joint_names), points, nanoseconds(message.header.stamp) * 1e-9)


def tolerances_from(
    goal: FollowJointTrajectory.Goal, robot: Robot, defaults: TrajectoryOptions
) -> TrajectoryTolerances:
    """Return the tolerances of a goal.

    Raises:
        TrajectoryError: one is for a joint that the arm has not, or is no tolerance, or the goal is for other joints.
    """
    if goal.multi_dof_trajectory.points or goal.component_path_tolerance or goal.component_goal_tolerance:
        raise TrajectoryError(
            "the goal has a multi_dof_trajectory, or tolerances for one: this arm has single joints alone"
        )
    return read_tolerances(
        _tolerances(goal.path_tolerance),
        _tolerances(goal.goal_tolerance),
        seconds_of(goal.goal_time_tolerance),
        robot,
        defaults,
    )


def feedback_message(tracked: TrackedState, run: TrajectoryRun, robot: Robot) -> FollowJointTrajectory.Feedback:
    """Return where the joints should be, where they are, and the difference."""
    since_s = max(tracked.stamp_s - run.starts_s, 0.0)
    desired, actual = tracked.desired, tracked.actual
    error = MotionState(
        desired.positions - actual.positions,
        desired.velocities - actual.velocities,
        desired.accelerations - actual.accelerations,
    )
    message = FollowJointTrajectory.Feedback(joint_names=list(robot.joints))
    message.header.stamp, message.header.frame_id = time_message(round(tracked.stamp_s * 1e9)), robot.base_frame
    message.desired = _point(desired, since_s, accelerates=True)
    message.actual, message.error = _point(actual, since_s), _point(error, since_s)
    return message


def seconds_of(duration: Duration) -> float:
    """Return a duration, s."""
    return float(duration.sec + duration.nanosec * 1e-9)


def _tolerances(messages: Sequence[Any]) -> list[RequestedTolerance]:
    return [RequestedTolerance(each.name, each.position, each.velocity, each.acceleration) for each in messages]


def _point(state: MotionState, since_s: float, accelerates: bool = False) -> JointTrajectoryPoint:
    """Return a state of the joints; no arm measures accelerations."""
    point = JointTrajectoryPoint(positions=state.positions.tolist(), velocities=state.velocities.tolist())
    if accelerates:
        point.accelerations = state.accelerations.tolist()
    point.time_from_start = Duration(sec=int(since_s), nanosec=int(since_s % 1.0 * 1e9))
    return point
