"""What MoveIt and other clients of ros2_control find: the actions of a trajectory controller and of a gripper."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import CancelResponse, GoalResponse
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from kc_vla.core import topics
from kc_vla.policy.trajectory.backend import TrajectoryBackend
from kc_vla.policy.trajectory.gripper_run import GripperRun
from kc_vla.policy.trajectory.request import TrajectoryCode, TrajectoryError
from kc_vla.policy.trajectory.tracking import TrajectoryOutcome, TrajectoryRun
from kc_vla.ros import qos
from kc_vla.ros.arm_bounds import ArmBoundsClient
from kc_vla.ros.base import StackNode
from kc_vla.ros.control_authority import ControlAuthority
from kc_vla.ros.convert import nanoseconds
from kc_vla.ros.trajectory_messages import feedback_message, tolerances_from, trajectory_from
from kc_vla_msgs.msg import ArmCommand

_POLL_S = 0.02
_FEEDBACK_S = 0.05
_SILENT_S = 1.0
"""Time without a command of the arm's controller, or without a joint state, after which nothing is followed, s."""
_STOPPED = "emergency stop"
_NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""Profile of a topic whose messages replace one another: none that waited is followed after a newer one."""


class TrajectoryServer:
    """The actions and the topic of a node whose policy is a `TrajectoryBackend`."""

    def __init__(self, node: StackNode, backend: TrajectoryBackend, driving: ControlAuthority) -> None:
        """Offer the actions.

        Args:
            node: that is starting.
            backend: follows the trajectories.
            driving: whether a person has taken over the arm.
        """
        self._node, self._backend, self._driving = node, backend, driving
        self._bounds = ArmBoundsClient(node, backend.robot)
        self._commanded_at = self._measured_at = -math.inf
        self._held = ""
        node.subscribe(JointState, topics.JOINT_STATES, self._on_joints, qos.STATE)
        node.subscribe(ArmCommand, topics.ARM_COMMAND, self._on_command, qos.command(0.05))
        node.subscribe(JointTrajectory, topics.JOINT_TRAJECTORY, self._on_trajectory, _NEWEST)
        node.every(_FEEDBACK_S, self._watch)
        self._servers = [
            node.serve_action(FollowJointTrajectory, topics.FOLLOW_TRAJECTORY, self._follow, _accept, _accept_cancel),
            node.serve_action(GripperCommand, topics.GRIPPER_COMMAND, self._grip, _accept, _accept_cancel),
        ]

    def close(self) -> None:
        """Offer them no more."""
        for server in self._servers:
            server.destroy()

    @property
    def _now_s(self) -> float:
        return float(self._node.get_clock().now().nanoseconds * 1e-9)

    # -- whether the arm can move -------------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        robot = self._backend.robot
        positions, velocities = np.array(message.position), np.array(message.velocity)
        if not (robot.is_called(message.name) and len(positions) == len(velocities) == len(robot.names)):
            return  # of another robot, as the policy server says
        if np.isfinite(positions).all() and np.isfinite(velocities).all():
            self._measured_at = time.monotonic()
            self._backend.measure(nanoseconds(message.header.stamp) * 1e-9, positions, velocities)

    def _on_command(self, message: ArmCommand) -> None:
        self._commanded_at = time.monotonic()
        self._held = message.reason if message.mode == ArmCommand.HOLD else ""
        self._watch()

    def _watch(self) -> None:
        """End what is going on as soon as the arm cannot be moved, and say why."""
        if why := self._unable():
            self._backend.interrupt(why, self._driving.gripper_share if self._driving.by_person else None)

    def _unable(self) -> str:
        """Return why the arm cannot follow anything now, and what to do; empty if it can."""
        node, now = self._node, time.monotonic()
        if node.episode is None or not node.episode.running:
            return "no episode is running: wait until the launch reports one, or start it again"
        if self._driving.by_person:
            return "a person has taken over the arm: hand back first, with RB of the gamepad or p of the keyboard"
        if now - self._commanded_at > _SILENT_S:
            return f"arm_controller has published no command for {_SILENT_S:g} s: is it alive?"
        if self._held == _STOPPED:
            return "the emergency stop is set: call arm/release_e_stop when it is safe, and send it again"
        if self._held:
            return f"the arm holds: {self._held}. Remove the cause, call arm/resume if it is blocked, and send it again"
        if now - self._measured_at > _SILENT_S:
            return f"no joint state has come for {_SILENT_S:g} s: is the arm connected?"
        return ""

    def _require_able(self) -> None:
        if why := self._unable():
            raise TrajectoryError(why)

    # -- trajectories of the joints -----------------------------------------------------------------------------

    async def _begin(self, message: JointTrajectory, goal: FollowJointTrajectory.Goal) -> TrajectoryRun:
        """Accept a trajectory.

        Raises:
            TrajectoryError: it is refused.
        """
        self._require_able()
        backend = self._backend
        tolerances = tolerances_from(goal, backend.robot, backend.options)
        bounds = await self._bounds.ask()
        self._require_able()
        return backend.executor.begin(trajectory_from(message), tolerances, bounds, self._now_s)

    async def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            await self._begin(message, FollowJointTrajectory.Goal())
        except TrajectoryError as error:
            self._node.get_logger().warning(f"the trajectory on {topics.JOINT_TRAJECTORY} is refused: {error}")

    async def _follow(self, goal: Any) -> FollowJointTrajectory.Result:
        try:
            run = await self._begin(goal.request.trajectory, goal.request)
        except TrajectoryError as error:
            return self._end(goal, TrajectoryOutcome(error.code, str(error)))
        told_at = 0.0
        while run.outcome is None:
            if goal.is_cancel_requested:
                self._backend.executor.cancel(run, self._now_s)
            if run.tracked is not None and time.monotonic() - told_at >= _FEEDBACK_S:
                told_at = time.monotonic()
                goal.publish_feedback(feedback_message(run.tracked, run, self._backend.robot))
            await self._node.sleep(_POLL_S)
        return self._end(goal, run.outcome)

    def _end(self, goal: Any, outcome: TrajectoryOutcome) -> FollowJointTrajectory.Result:
        if goal.is_cancel_requested:
            goal.canceled()
        elif outcome.code is TrajectoryCode.SUCCESSFUL:
            goal.succeed()
        else:
            self._node.get_logger().warning(f"the trajectory is not followed: {outcome.text}")
            goal.abort()
        return FollowJointTrajectory.Result(error_code=int(outcome.code), error_string=outcome.text)

    # -- the gripper --------------------------------------------------------------------------------------------

    async def _grip(self, goal: Any) -> GripperCommand.Result:
        command = goal.request.command
        try:
            self._require_able()
            run = self._backend.grip(command.position, self._now_s)
        except TrajectoryError as error:
            self._node.get_logger().warning(f"the gripper goal is refused: {error}")
            goal.abort()
            return GripperCommand.Result()
        told_at = 0.0
        while not run.is_over:
            if goal.is_cancel_requested:
                self._backend.release_grip(run)
            if time.monotonic() - told_at >= _FEEDBACK_S:
                told_at = time.monotonic()
                goal.publish_feedback(_grip_state(GripperCommand.Feedback, run))
            await self._node.sleep(_POLL_S)
        if goal.is_cancel_requested:
            goal.canceled()
        elif run.refusal:
            self._node.get_logger().warning(f"the gripper goal is given up: {run.refusal}")
            goal.abort()
        else:
            goal.succeed()
        return _grip_state(GripperCommand.Result, run)


def _grip_state(kind: Any, run: GripperRun) -> Any:
    return kind(position=run.measured, stalled=run.stalled, reached_goal=run.reached)


def _accept(goal: Any) -> GoalResponse:
    """Accept every goal: a refusal has no reason, but a result has one."""
    return GoalResponse.ACCEPT


def _accept_cancel(goal: Any) -> CancelResponse:
    return CancelResponse.ACCEPT
