"""The arm controller's end of a real arm: enables it, hands targets to its control loop, tells of it, parks it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from kc_vla.arm.control_loop import ControlLoop
from kc_vla.arm.interface import ArmError, Vector
from kc_vla.arm.inverse import joints_for, moved_pose
from kc_vla.arm.kinematics import flange_pose
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.piper_limits import JOINTS, MAX_OPENING
from kc_vla.arm.servo import Mode, Report, Servo, ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.nodes import qos, topics
from kc_vla.nodes.base import ERROR, StackNode, StartError
from kc_vla.nodes.convert import time_message
from kc_vla.policy.chunk import PIPER_NAMES, ActionType
from kc_vla.policy.scheduler import Action

_RECONNECT_S = 1.0
_PARK_S = 30.0
"""How long parking may take before it is given up."""
_BUS_S = 5.0
"""How long a bus that is not there is waited for."""
_POLL_S = 0.02


class ArmLink:
    """One arm that moves; its loop runs in a thread of its own."""

    def __init__(self, node: StackNode, channel: str, bus: str, settings: ServoSettings, state_rate: float) -> None:
        """Connect, enable the arm where it lies, and tell its state `state_rate` times a second.

        Raises:
            StartError: there is no arm, or it is not fit to move.
        """
        self._node = node
        self._settings = settings
        self._arm = PiperArm(channel, bus)
        try:
            _connect(self._arm)
            left_on = bool(self._arm.read().powered.any())
            self._servo = Servo(self._arm, settings, Workspace(dh_is_offset=self._arm.dh_is_offset))
            if not left_on:
                self._servo.resume()
        except ArmError as error:
            self._arm.disconnect()
            raise StartError(str(error)) from error
        self._blocked = ""
        self._told: Report | None = None
        self._reconnect_at = 0.0
        self._joints = node.advertise(JointState, topics.JOINT_STATES, qos.STATE)
        self._pose = node.advertise(PoseStamped, topics.TOOL_POSE, qos.STATE)
        node.serve(Trigger, topics.RESUME, self._resume)
        node.every(1.0 / state_rate, self._tell)
        self._loop = ControlLoop(self._servo, settings.period, self._on_step)
        self._loop.start()
        if left_on:
            node.problem(f"the arm was found with power: look at it, then call {topics.RESUME}", ERROR)

    def follow(self, action: Action, seconds: float) -> None:
        """Be where `action` says in `seconds`.

        Raises:
            ValueError: the arm cannot go there; it holds.
        """
        values = np.asarray(action.values, float)
        if action.action_type is ActionType.TOOL_DELTA:
            start = self._servo.target
            zero = self._arm.dh_is_offset
            angles = joints_for(moved_pose(flange_pose(start, zero), values[:6]), start, self._arm.limits, zero)
            opening = float(values[6]) * MAX_OPENING
        elif action.names == PIPER_NAMES:
            angles, opening = values[:JOINTS], float(values[JOINTS])
        else:
            raise ValueError(f"a chunk for {', '.join(action.names)}: this arm has {', '.join(PIPER_NAMES)}")
        self._loop.ask(lambda servo, now: servo.aim(angles, opening, now, seconds))

    def halt(self, reason: str) -> None:
        """Come to rest now."""
        self._loop.ask(lambda servo, now: servo.halt(reason))

    def close(self) -> None:
        """Park the arm and take its power; it keeps its power wherever it cannot be parked, and this is said."""
        try:
            self._park()
        except ArmError as error:
            self._node.get_logger().error(f"{error}. The arm keeps its power: support it before you switch it off")
        finally:
            if self._loop.is_alive():
                self._loop.end()
            self._arm.disconnect()
            del self._loop, self._servo  # the planner's library complains of what is left at the end of the process

    def details(self) -> dict[str, object]:
        """What the diagnostics tell of the arm."""
        told = self._told
        mode = "no step yet" if told is None else str(told.mode)
        values: dict[str, object] = {"arm": mode, "firmware": self._arm.firmware}
        values.update({f"clamped/{what}": count for what, count in sorted(self._servo.clamped.items())})
        return values

    # -- in the control thread --------------------------------------------------------------------------------------

    def _on_step(self, report: Report, lateness: float) -> None:
        self._told = report
        self._node.statistics.add("control_period_error", lateness)

    # -- in the node's thread ---------------------------------------------------------------------------------------

    def _tell(self) -> None:
        """Publish the latest state; tell of a block; look for a lost arm."""
        report = self._told
        if self._loop.error is not None:
            self._node.problem(f"the control loop has ended, the arm holds: {self._loop.error}", ERROR)
            return
        if report is None:
            return
        blocked = report.reason if report.mode is Mode.BLOCKED else ""
        if blocked and blocked != self._blocked:
            self._node.problem(f"the arm is blocked until {topics.RESUME} is called: {blocked}", ERROR)
        self._blocked = blocked
        if report.state.age > self._settings.stale_after:
            self._look_for_it()
            return
        stamp = time_message(self._node.get_clock().now().nanoseconds - round(report.state.age * 1e9))
        joints = JointState(name=list(PIPER_NAMES))
        joints.header.stamp, joints.header.frame_id = stamp, "robot_base"
        joints.position = [*report.state.angles.tolist(), report.state.gripper]
        joints.velocity = [*report.state.speeds.tolist(), 0.0]
        self._joints.publish(joints)
        self._pose.publish(_pose_message(flange_pose(report.state.angles, self._arm.dh_is_offset), stamp))

    def _look_for_it(self) -> None:
        now = time.monotonic()
        if now >= self._reconnect_at:
            self._reconnect_at = now + _RECONNECT_S
            if self._arm.reconnect():
                self._node.get_logger().warning(f"the arm answers again; look at it, then call {topics.RESUME}")

    def _resume(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            self._loop.ask(lambda servo, now: servo.resume()).result(timeout=_PARK_S)
        except (ArmError, TimeoutError) as error:
            response.message = str(error) or "the control loop does not answer"
            return response
        self._node.problem("")
        response.success, response.message = True, "the arm moves again"
        return response

    def _park(self) -> None:
        """Raises: ArmError: the arm does not lie at its rest pose without power."""
        if not self._loop.is_alive() or self._servo.mode is Mode.BLOCKED:
            told = self._told
            if told is not None and not told.state.powered.any():
                return
            raise ArmError(f"not parked: {self._blocked or self._loop.error or 'the control loop has ended'}")
        self._loop.ask(lambda servo, now: servo.park(now)).result(_PARK_S)
        self._told = None
        until = time.monotonic() + _PARK_S
        while (report := self._told) is None or not self._servo.parked(report):
            if report is not None and report.mode is not Mode.PARK:
                raise ArmError(f"the rest pose was not reached: {report.reason}")
            if time.monotonic() > until or not self._loop.is_alive():
                raise ArmError(f"the rest pose was not reached in {_PARK_S:g} s")
            time.sleep(_POLL_S)
        self._loop.end()
        self._arm.park()


def _connect(arm: PiperArm) -> None:
    """Connect, and wait a while for a bus that is about to come up."""
    until = time.monotonic() + _BUS_S
    while True:
        try:
            arm.connect()
        except ArmError:
            if time.monotonic() > until:
                raise
            time.sleep(_POLL_S)
        else:
            return


def _pose_message(pose: Vector, stamp: Any) -> PoseStamped:
    message = PoseStamped()
    message.header.stamp, message.header.frame_id = stamp, "robot_base"
    place, turn = message.pose.position, message.pose.orientation
    place.x, place.y, place.z = pose[:3, 3].tolist()
    turn.x, turn.y, turn.z, turn.w = Rotation.from_matrix(pose[:3, :3]).as_quat().tolist()
    return message
