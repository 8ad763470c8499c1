"""A client of ros2_control moves the emulated Piper through the policy server and the arm's controller."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTolerance
from emulated_piper import EmulatedPiper
from node_process import Peer, running
from piper import PIPER
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState, Joy
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.core import topics
from kc_vla.policy.teleop import JoySettings
from kc_vla.ros import qos
from kc_vla.ros.convert import time_message
from kc_vla_msgs.msg import ArmCommand, EpisodeStatus

LIFTED = np.array([0.2, 0.6, -0.5, 0.1, 0.4, -0.1])
"""A pose within a second or two of the home pose, well above the table, rad."""
NEAR = 0.03
STOOD = re.compile(
    r"no joint state .*|the chunk is used up.*|stood still.*|nothing has come.*|has published no command.*"
)
"""What ends a trajectory on a machine that has no time for it."""
Result = FollowJointTrajectory.Result


@dataclass
class Goal:
    """One goal of a client, and what it hears of it."""

    handle: Any
    result: Any
    feedback: list[Any] = field(default_factory=list)


class Client(Peer):
    """What MoveIt does: it plans from where the arm is, sends, and waits for the result."""

    arm: EmulatedPiper

    def __enter__(self) -> Client:
        super().__enter__()
        self._status = self.node.create_publisher(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._follow = ActionClient(self.node, FollowJointTrajectory, topics.FOLLOW_TRAJECTORY)
        self._grip = ActionClient(self.node, GripperCommand, topics.GRIPPER_COMMAND)
        self.topic = self.node.create_publisher(JointTrajectory, topics.JOINT_TRAJECTORY, 10)
        self._sticks = self.node.create_publisher(Joy, topics.JOY, qos.STATE)
        self.states = self.hear(JointState, topics.JOINT_STATES, qos.STATE)
        self.commands = self.hear(ArmCommand, topics.ARM_COMMAND, qos.command(0.05))
        return self

    def begin(self) -> None:
        """Begin an episode, and wait until the arm is enabled."""
        self.until(self._follow.server_is_ready)
        self.until(self._grip.server_is_ready)
        self.until(lambda: self.states)
        now_ns = self.node.get_clock().now().nanoseconds
        self._status.publish(
            EpisodeStatus(
                episode_id="one",
                task="counting",
                start_time=time_message(now_ns),
                frame_period=0.05,
                state=EpisodeStatus.RUNNING,
            )
        )
        self.able()

    def able(self) -> None:
        """Wait until the arm is in command mode and does not hold."""
        self.commands.clear()
        self.until(lambda: self.commands and self.commands[-1].mode != ArmCommand.HOLD)

    def angles(self) -> np.ndarray:
        """Where the joints are now, rad."""
        self.states.clear()
        self.until(lambda: len(self.states) > 5)
        return np.array(self.states[-1].position[:6])

    def under_way(self, goal: Goal, count: int) -> None:
        """Wait for so many feedbacks, or for the end."""
        self.until(lambda: len(goal.feedback) > count or goal.result.done())
        if goal.result.done():
            self.end(goal)

    def rests(self) -> np.ndarray:
        """Wait until the arm stands, and return where, rad."""
        before = self.angles()
        while True:
            time.sleep(0.2)
            after = self.angles()
            if np.abs(after - before).max() < 0.002:
                return after
            before = after

    def send(self, goal: FollowJointTrajectory.Goal) -> Goal:
        """Send a trajectory."""
        return self._send(self._follow, goal)

    def press(self, *buttons: int) -> None:
        """Report which buttons of the gamepad are down."""
        self._sticks.publish(Joy(axes=[0.0] * 8, buttons=[int(number in buttons) for number in range(8)]))

    def grip(self, width: float) -> Goal:
        """Send a width, m."""
        goal = GripperCommand.Goal()
        goal.command.position = width
        return self._send(self._grip, goal)

    def cancel(self, goal: Goal) -> None:
        """Cancel a goal."""
        asked = goal.handle.cancel_goal_async()
        self.until(asked.done)

    def end(self, goal: Goal) -> tuple[int, Any]:
        """Wait for the end; return its status and its result."""
        self.until(goal.result.done)
        answered = goal.result.result()
        if stood := STOOD.search(getattr(answered.result, "error_string", "")):
            pytest.skip(f"this machine stopped the arm's loop meanwhile, and such an arm holds: {stood[0]}")
        return answered.status, answered.result

    def refused(self, goal: FollowJointTrajectory.Goal) -> tuple[int, str]:
        """Send what is to be refused; return the error code and the line."""
        status, result = self.end(self.send(goal))
        assert status == GoalStatus.STATUS_ABORTED
        return result.error_code, result.error_string

    def _send(self, client: ActionClient, goal: Any) -> Goal:
        feedback: list[Any] = []
        sent = client.send_goal_async(goal, lambda message: feedback.append(message.feedback))
        self.until(sent.done)
        handle = sent.result()
        assert handle is not None
        assert handle.accepted
        return Goal(handle, handle.get_result_async(), feedback)


def trajectory(
    rows: Sequence[np.ndarray], times_s: Sequence[float], names: Sequence[str] = PIPER.joints, at_rest: bool = True
) -> JointTrajectory:
    """A trajectory as a planner sends it; `at_rest`: with velocities of 0 at each point."""
    message = JointTrajectory(joint_names=list(names))
    for row, time_s in zip(rows, times_s, strict=True):
        point = JointTrajectoryPoint(positions=[float(value) for value in row])
        point.velocities = [0.0] * len(row) if at_rest else []
        point.time_from_start = Duration(sec=int(time_s), nanosec=round(time_s % 1.0 * 1e9))
        message.points.append(point)
    return message


def turned(angles: np.ndarray, joint: int, angle: float) -> np.ndarray:
    """Other angles, rad, by the angle of one joint."""
    return np.asarray(angles + angle * np.eye(len(angles))[joint])


def goal_of(*given: Any, **others: Any) -> FollowJointTrajectory.Goal:
    return FollowJointTrajectory.Goal(trajectory=trajectory(*given, **others))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder, bus = tmp_path_factory.mktemp("trajectory"), tmp_path_factory.mktemp("b") / "bus"
    controller = {"arm": "piper", "mode": "realtime", "channel": bus, "bus": INTERFACE, "state_folder": folder}
    followed = {"execute_steps": 1, "blend_steps": 0}
    with ExitStack() as stack:
        arm = stack.enter_context(EmulatedPiper(bus))
        stack.enter_context(running("kc_vla.nodes.arm_controller", folder / "arm", **controller, **followed))
        server = {"backend": "trajectory", "robot": "piper", "takeover": "joy", "options": "'{path_tolerance: 0.6}'"}
        stack.enter_context(running("kc_vla.nodes.policy_server", folder / "policy", **server))
        client = stack.enter_context(Client())
        client.arm = arm
        client.begin()
        yield client


def test_it_is_followed_with_its_joints_in_any_order_and_replaced_and_canceled(client: Client) -> None:
    home = client.angles()
    backwards = slice(None, None, -1)
    goal = goal_of([home[backwards], LIFTED[backwards]], [0.0, 1.5], PIPER.joints[::-1])
    followed = client.send(goal)
    status, result = client.end(followed)
    assert result.error_string == ""
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL)
    assert np.abs(client.angles() - LIFTED).max() < NEAR
    feedback = followed.feedback[len(followed.feedback) // 2]
    assert list(feedback.joint_names) == list(PIPER.joints)
    difference = np.array(feedback.desired.positions) - np.array(feedback.actual.positions)
    np.testing.assert_allclose(feedback.error.positions, difference, atol=1e-9)

    there = turned(LIFTED, 0, 0.6)
    first = client.send(goal_of([there], [3.0]))
    client.under_way(first, 20)
    second = client.send(goal_of([LIFTED], [2.0]))
    status, result = client.end(first)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "a newer trajectory" in result.error_string
    assert client.end(second)[0] == GoalStatus.STATUS_SUCCEEDED
    assert np.abs(client.angles() - LIFTED).max() < NEAR

    # So slow that a machine which is busy for a second brakes far from the end, and near where it canceled.
    canceled = client.send(goal_of([there], [8.0], at_rest=False))
    client.under_way(canceled, 20)
    client.cancel(canceled)
    assert client.end(canceled)[0] == GoalStatus.STATUS_CANCELED
    stands = client.rests()
    assert 0.02 < stands[0] - LIFTED[0] < 0.4
    assert np.abs(stands[1:] - LIFTED[1:]).max() < NEAR
    time.sleep(0.5)
    assert np.abs(client.angles() - stands).max() < 0.002


def test_what_cannot_be_followed_is_refused_with_one_line_and_nothing_moves(client: Client) -> None:
    here = client.angles()
    there = turned(here, 0, 0.3)
    code, line = client.refused(goal_of([there], [0.1]))
    assert code == Result.INVALID_GOAL
    assert "joint1 would move at" in line
    assert "its limit is 1.00 rad/s; plan slower" in line
    code, line = client.refused(goal_of([there[:5]], [2.0], PIPER.joints[:5]))
    assert code == Result.INVALID_JOINTS
    old = goal_of([there], [2.0])
    old.trajectory.header.stamp = time_message(client.node.get_clock().now().nanoseconds - 10**10)
    code, line = client.refused(old)
    assert (code, "ended 8." in line or "ended 7.9" in line) == (Result.OLD_HEADER_TIMESTAMP, True)
    assert client.refused(goal_of([there * np.nan], [2.0]))[0] == Result.INVALID_GOAL
    assert np.abs(client.angles() - here).max() < 0.01


def test_a_tolerance_that_is_violated_ends_it_and_the_arm_stops(client: Client) -> None:
    here = client.angles()
    there = turned(here, 0, -0.4)
    goal = goal_of([there], [1.0])
    goal.path_tolerance = [JointTolerance(name="joint1", position=0.002)]
    status, result = client.end(client.send(goal))
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED)
    assert "joint1 is 0.0" in result.error_string
    assert np.abs(client.rests() - here).max() < 0.3


def test_the_topic_moves_the_arm_and_an_emergency_stop_ends_what_is_followed(client: Client) -> None:
    client.until(lambda: client.topic.get_subscription_count())
    client.topic.publish(trajectory([LIFTED], [1.5]))
    client.until(lambda: np.abs(client.angles() - LIFTED).max() < NEAR)
    away = turned(LIFTED, 1, 0.5)
    goal = client.send(goal_of([away], [1.5]))
    client.under_way(goal, 10)
    client.call(Trigger, f"/{topics.STOP}", Trigger.Request())
    status, result = client.end(goal)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "call arm/release_e_stop" in result.error_string
    assert "call arm/release_e_stop" in client.refused(goal_of([away], [2.0]))[1]
    stands = client.rests()
    assert stands[1] < away[1] - 0.1
    client.call(Trigger, f"/{topics.RELEASE_E_STOP}", Trigger.Request())
    client.able()
    time.sleep(0.5)
    assert np.abs(client.angles() - stands).max() < 0.01  # nothing is made up for
    assert client.end(client.send(goal_of([LIFTED], [1.5])))[0] == GoalStatus.STATUS_SUCCEEDED


def test_a_blocked_arm_ends_what_is_followed_and_takes_nothing_until_a_person_resumes(client: Client) -> None:
    here = client.angles()
    goal = client.send(goal_of([turned(here, 0, 0.3)], [3.0]))
    client.under_way(goal, 10)
    client.arm.ask("collision 2")
    status, result = client.end(goal)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "the arm holds: collision. Remove the cause, call arm/resume" in result.error_string
    client.arm.ask("none")
    assert "call arm/resume" in client.refused(goal_of([here], [2.0]))[1]
    assert client.call(Trigger, f"/{topics.RESUME}", Trigger.Request()).success
    client.able()
    assert client.end(client.send(goal_of([here], [1.5])))[0] == GoalStatus.STATUS_SUCCEEDED


def test_the_gripper_reaches_its_width(client: Client) -> None:
    for _ in range(3):  # a busy machine moves it late, and a gripper that stands for a second counts as stalled
        status, result = client.end(client.grip(0.05))
        if result.reached_goal:
            break
    assert (status, result.reached_goal, result.stalled) == (GoalStatus.STATUS_SUCCEEDED, True, False)
    assert result.position == pytest.approx(0.05, abs=0.003)
    assert client.end(client.grip(0.3))[0] == GoalStatus.STATUS_ABORTED


def test_a_person_who_takes_over_ends_it_and_the_next_one_waits_until_they_hand_back(client: Client) -> None:
    keys, ticks = JoySettings(), count()
    here = client.angles()
    goal = client.send(goal_of([turned(here, 0, 0.3)], [3.0]))
    client.until(lambda: client.press(*([keys.enable] if next(ticks) % 8 > 3 else [])) or goal.result.done())
    status, result = client.end(goal)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "a person has taken over the arm: hand back first" in result.error_string
    assert "hand back first" in client.refused(goal_of([here], [2.0]))[1]
    client.commands.clear()
    client.until(
        lambda: (
            client.press(*([keys.hand_back] if next(ticks) % 8 > 3 else []))
            or any(command.mode == ArmCommand.JOINT_POSITION for command in client.commands)
        )
    )
    assert client.end(client.send(goal_of([here], [1.5])))[0] == GoalStatus.STATUS_SUCCEEDED
