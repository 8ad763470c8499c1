"""The arm controller's end of a real arm: enables it, hands targets to its control process, tells of it, parks it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from kc_vla.arm.control_process import Greeting, Told
from kc_vla.arm.control_process import main as control
from kc_vla.arm.interface import ArmError, Vector
from kc_vla.arm.inverse import joints_after
from kc_vla.arm.kinematics import flange_pose
from kc_vla.arm.offsets import Offsets
from kc_vla.arm.piper_limits import JOINTS, MAX_OPENING
from kc_vla.arm.remote import Remote, RemoteError
from kc_vla.arm.servo import Mode, ServoSettings
from kc_vla.nodes import qos, topics
from kc_vla.nodes.base import ERROR, StackNode, StartError
from kc_vla.nodes.convert import time_message
from kc_vla.policy.chunk import PIPER_NAMES, ActionType
from kc_vla.policy.scheduler import Action

_RECONNECT_S = 1.0
_PARK_S = 30.0
"""How long parking or getting power may take before it is given up."""
_POLL_S = 0.02


class ArmLink:
    """One arm that moves; its loop runs in a process of its own."""

    def __init__(
        self,
        node: StackNode,
        channel: str,
        bus: str,
        settings: ServoSettings,
        state_rate: float,
        priority: int,
        offsets: Offsets | None,
        stopped: Callable[[], bool],
    ) -> None:
        """Connect, enable the arm where it lies, and tell its state `state_rate` times a second.

        While an emergency stop is set (`stopped`) the arm gets no power, is not resumed and is not parked.

        Raises:
            StartError: there is no arm, or it is not fit to move.
        """
        self._node = node
        self._stale_after = settings.stale_after
        self._process = Remote(control)
        try:
            self._arm: Greeting = self._process.call(
                "connect", channel, bus, settings, state_rate, priority, offsets, not stopped(), patience=_PARK_S
            )
        except (ArmError, RemoteError) as error:
            self._process.close()
            raise StartError(str(error)) from error
        for warning in self._arm.warnings:
            node.get_logger().warning(warning)
        self._blocked = ""
        self._stopped = stopped
        self._told: Told | None = None
        self._reconnect_at = 0.0
        self._joints = node.advertise(JointState, topics.JOINT_STATES, qos.STATE)
        self._pose = node.advertise(PoseStamped, topics.TOOL_POSE, qos.STATE)
        node.serve(Trigger, topics.RESUME, self._resume)
        node.every(1.0 / state_rate, self._tell)
        if not self._arm.had_power:
            power = "has no power: the emergency stop is set" if stopped() else "has power"
            node.get_logger().info(f"the arm {power}")
        else:
            node.problem(f"the arm was found with power: look at it, then call {topics.RESUME}", ERROR)

    @property
    def blocked(self) -> str:
        """Why the arm does not move until a person resumes; empty if it may."""
        return self._blocked

    def follow(self, action: Action, seconds: float) -> None:
        """Be where `action` says in `seconds`.

        Raises:
            ValueError: the arm cannot go there; it holds.
        """
        values = np.asarray(action.values, float)
        if action.action_type is ActionType.TOOL_DELTA:
            told = self._told
            if told is None:
                raise ValueError("the arm has not told yet where it is")
            angles = joints_after(values[:6], told.target, self._arm.limits, self._arm.dh_is_offset)
            opening = float(values[6]) * MAX_OPENING
        elif action.names == PIPER_NAMES:
            angles, opening = values[:JOINTS], float(values[JOINTS])
        else:
            raise ValueError(f"a chunk for {', '.join(action.names)}: this arm has {', '.join(PIPER_NAMES)}")
        self._do("aim", angles, opening, seconds)

    def halt(self, reason: str) -> None:
        """Come to rest now."""
        self._do("halt", reason)

    def close(self) -> None:
        """Park the arm and take its power; it keeps its power wherever it cannot be parked, and this is said."""
        try:
            self._park()
        except (ArmError, RemoteError) as error:
            self._node.get_logger().error(f"{error}. The arm keeps its power: support it before you switch it off")
        finally:
            self._process.close()

    def details(self) -> dict[str, object]:
        """What the diagnostics tell of the arm."""
        told = self._told
        if told is None:
            return {"arm": "no step yet", "firmware": self._arm.firmware}
        values: dict[str, object] = {"arm": str(told.report.mode), "firmware": self._arm.firmware}
        values.update({f"clamped/{what}": count for what, count in sorted(told.clamped.items())})
        return values

    def _do(self, name: str, *arguments: object) -> None:
        try:
            self._process.tell(name, *arguments)
        except RemoteError as error:
            self._node.fail(f"the arm holds: {error}")

    def _look(self) -> Told | None:
        """What the process told last. Raises: RemoteError: it has gone."""
        for told in self._process.look():
            self._told = told
            for lateness in told.lateness:
                self._node.statistics.add("control_period_error", lateness)
        return self._told

    def _tell(self) -> None:
        """Publish the latest state; tell of a block; look for a lost arm."""
        try:
            told = self._look()
            if told is not None:
                self._publish(told)
        except RemoteError as error:
            self._node.fail(f"the arm holds: {error}")

    def _publish(self, told: Told) -> None:
        """Raises: RemoteError: the arm is lost, and the process, too."""
        report = told.report
        blocked = report.reason if report.mode is Mode.BLOCKED else ""
        if blocked and blocked != self._blocked:
            self._node.problem(f"the arm is blocked until {topics.RESUME} is called: {blocked}", ERROR)
        self._blocked = blocked
        age = time.monotonic() - told.at + report.state.age
        if age > self._stale_after:
            self._look_for_it()
            return
        stamp = time_message(self._node.get_clock().now().nanoseconds - round(age * 1e9))
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
            if self._process.call("reconnect"):
                self._node.get_logger().warning(f"the arm answers again; look at it, then call {topics.RESUME}")

    def _resume(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._stopped():
            response.message = f"not resumed: the emergency stop is set: call {topics.RELEASE_E_STOP} first"
            return response
        try:
            self._process.call("resume", patience=_PARK_S)
        except (ArmError, RemoteError) as error:
            response.message = str(error)
            return response
        self._node.problem("")
        self._node.get_logger().info("the arm was resumed")
        response.success, response.message = True, "the arm moves again"
        return response

    def _park(self) -> None:
        """Raises: ArmError, RemoteError: the arm does not lie at its rest pose without power."""
        told = self._look()
        if told is None or told.report.mode is Mode.BLOCKED:
            if told is not None and not told.report.state.powered.any():
                return
            raise ArmError(f"not parked: {self._blocked or 'it has not told yet where it is'}")
        if self._stopped():
            raise ArmError("not parked: the emergency stop is set")
        self._process.call("park")
        asked = time.monotonic()
        while (told := self._look()) is None or told.at < asked or not told.parked:
            if told is not None and told.at >= asked and told.report.mode is not Mode.PARK:
                raise ArmError(f"the rest pose was not reached: {told.report.reason}")
            if time.monotonic() > asked + _PARK_S:
                raise ArmError(f"the rest pose was not reached in {_PARK_S:g} s")
            time.sleep(_POLL_S)
        self._process.call("take_power", patience=_PARK_S)
        self._node.get_logger().info("the arm is parked and has no power")


def _pose_message(pose: Vector, stamp: Any) -> PoseStamped:
    message = PoseStamped()
    message.header.stamp, message.header.frame_id = stamp, "robot_base"
    place, turn = message.pose.position, message.pose.orientation
    place.x, place.y, place.z = pose[:3, 3].tolist()
    turn.x, turn.y, turn.z, turn.w = Rotation.from_matrix(pose[:3, :3]).as_quat().tolist()
    return message
