"""The arm controller's end of a real arm: its state as topics, a person's word as a service, chunks as targets."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from kc_vla.arm.control_process import Told
from kc_vla.arm.interface import LIES
from kc_vla.arm.inverse import UnreachableError, joints_after
from kc_vla.arm.leaving import Leaving
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.session import ArmSession, Failure, Gravity
from kc_vla.arm.wiring import Wiring
from kc_vla.calibration.reading import load_offsets
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core import topics
from kc_vla.core.chunk import ActionType
from kc_vla.core.errors import StackError
from kc_vla.core.robot import Vector
from kc_vla.execution.scheduler import ScheduledAction
from kc_vla.ros import qos
from kc_vla.ros.arm_compliance import ArmCompliance
from kc_vla.ros.arm_reset import ArmReset
from kc_vla.ros.base import CANNOT_START, ERROR, StackNode, StartError
from kc_vla.ros.controller_parameters import ControllerParameters
from kc_vla.ros.convert import time_message
from kc_vla.ros.emergency_stop import EmergencyStop

KEEPS_POWER = 3
"""Exit code of a controller that ended in order and left its arm with power; `kc_vla.launching` knows it, too."""
_POLL_S = 0.02


class ArmLink:
    """One arm that moves; its loop runs in a process of its own.

    Attributes:
        identity: name of the arm on this machine, such as its CAN interface.
    """

    def __init__(
        self,
        node: StackNode,
        wiring: Wiring,
        settings: ServoSettings,
        state_rate: float,
        priority: int,
        stop: EmergencyStop,
        identity: str,
    ) -> None:
        """Begin to connect; then enable the arm where it lies, and publish its state.

        While `stop` is set the arm is not enabled, not resumed and is not parked.
        """
        self._node, self._stop, self.identity = node, stop, identity
        self._joints = node.advertise(JointState, topics.JOINT_STATES, qos.STATE)
        self._pose = node.advertise(PoseStamped, topics.TOOL_POSE, qos.STATE)
        self._session = ArmSession(wiring, settings, state_rate, priority, lambda: stop.is_set, self._say)
        self._leaving: Leaving | None = None
        self._comes_to_rest = False
        stop.on_set(lambda: self._session.halt("emergency stop"))
        stop.on_release(lambda: "" if self._session.arm is None else self._session.blocked)
        node.serve(Trigger, topics.RESUME, self._resume)
        self._reset = ArmReset(node, self._session, stop)
        self._compliance = ArmCompliance(node, self._session, stop)
        node.every(1.0 / state_rate, self._tick)

    @property
    def blocked(self) -> str:
        """Return why the arm does not move until a person resumes, or until it is connected; empty if it may."""
        return self._session.blocked

    @property
    def lost(self) -> bool:
        """Return whether the process that moves the arm has ended by itself."""
        return self._session.failure is Failure.LOST

    @property
    def held_back(self) -> str:
        """Return why the arm does not reach its target; empty if it does."""
        return self._session.held_back

    def follow(self, action: ScheduledAction, seconds: float) -> None:
        """Move to what `action` says in `seconds`; stay and report it where no joints reach that.

        Raises:
            ValueError: the arm cannot go there; it holds.
        """
        if self._leaving is not None:  # it comes to rest, or parks, whatever a chunk still has to say
            return
        try:
            self._aim(action, seconds)
        except UnreachableError as error:  # a person who leads it comes to its bounds all the time
            advice = "; from its rest pose it must be lifted first" if self._lies else ""
            self._node.problem(f"{error}: it stays where it is{advice}")

    @property
    def _lies(self) -> bool:
        told = self._session.told
        return told is not None and bool(np.abs(told.report.state.angles - self._session.robot.rest).max() < LIES)

    def _aim(self, action: ScheduledAction, seconds: float) -> None:
        values, session = np.asarray(action.values, float), self._session
        if session.arm is None or session.told is None:
            raise ValueError("the arm has not reported its position yet")
        self._comes_to_rest &= session.told.report.mode is Mode.FOLLOW
        if self._comes_to_rest:  # where it is aimed still is no place to begin from
            return
        if action.action_type is ActionType.TOOL_DELTA:
            angles = joints_after(values[:6], session.told.target, session.arm.limits, session.arm.kinematics)
            opening = float(values[6]) * session.robot.opening
        elif session.robot.is_called(action.names):
            angles, opening = values[:-1], float(values[-1])
        else:
            raise ValueError(f"a chunk for {', '.join(action.names)}: this arm has {', '.join(session.robot.names)}")
        session.set_target(angles, opening, seconds)

    def hand_over(self) -> None:
        """Come to rest because control was handed over; the next command begins there."""
        if self._leaving is None:
            self._comes_to_rest = True
            self._session.halt("another one drives")

    def leaves(self) -> bool:
        """Park and disable the arm, a little further with each call; return whether there is more to do."""
        self._leaving = self._leaving or Leaving(self._session)
        more = self._leaving.step(self._node.hurried)
        if self._leaving.kept_power:
            self._node.exit_code = self._node.exit_code or KEEPS_POWER
        return more

    def close(self) -> None:
        """Release the arm.

        Unless it was left in order it comes to rest, and stays enabled.
        """
        if self._leaving is None:
            if self._session.has_power:
                self._say(Gravity.PROBLEM, f"not parked. {self._session.keeps_power()}")
            self._session.hang_up()

    def details(self) -> dict[str, object]:
        """Return what the diagnostics report of the arm."""
        return self._session.details()

    def _tick(self) -> None:
        seen = self._session.poll()
        failure = self._session.failure
        if failure is not None and not self._node.done:
            self._node.exit_code, self._node.done = (CANNOT_START if failure is Failure.CANNOT_START else 1), True
        self._node.abandoned = self._session.keeps_power() if self._session.has_power else ""
        while self._session.lateness:
            self._node.statistics.add("control_period_error", self._session.lateness.pop())
        if seen is not None:
            self._publish(*seen)

    def _publish(self, told: Told, age: float) -> None:
        assert self._session.arm is not None
        state = told.report.state
        stamp = time_message(self._node.get_clock().now().nanoseconds - round(age * 1e9))
        joints = JointState(name=list(self._session.robot.names))
        joints.header.stamp, joints.header.frame_id = stamp, self._session.robot.base_frame
        joints.position = [*state.angles.tolist(), state.gripper]
        joints.velocity = [*state.speeds.tolist(), 0.0]
        joints.effort = [] if state.efforts is None else state.efforts.tolist()
        self._joints.publish(joints)
        self._pose.publish(
            _pose_message(self._session.arm.kinematics.flange(state.angles), stamp, self._session.robot.base_frame)
        )

    async def _resume(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = await self._try_to_resume()
        response.success = not response.message
        if response.success:
            self._node.problem("")
            self._say(Gravity.NEWS, "the arm was resumed")
            response.message = "the arm moves again"
        return response

    async def _try_to_resume(self) -> str:
        """Return why the arm does not move again; empty if it does."""
        if self._stop.is_set:
            return f"not resumed: {self._stop.advice}"
        why: str | None = self._session.begin_to_resume() or None
        while why is None:
            await self._node.sleep(_POLL_S)
            why = self._session.resumed()
        return why

    def _say(self, gravity: Gravity, text: str) -> None:
        if gravity is Gravity.NEWS:
            self._node.get_logger().info(text)
        elif gravity is Gravity.WARNING:
            self._node.get_logger().warning(text)
        else:
            self._node.problem(text, ERROR)


def connect(node: StackNode, values: ControllerParameters, stop: EmergencyStop) -> ArmLink:
    """Begin to connect the node to a real or an emulated arm.

    Raises:
        StartError: the parameters do not fit one another, or a file that they name is not as it must be.
    """
    if values.mode == "lockstep":
        raise StartError(f"the arm '{values.arm}' does not wait: set 'mode' to realtime")
    try:
        chosen, file = values.chosen_arm(), values.joint_offsets
        robot = chosen.robot
        offsets = load_offsets(Path(file).expanduser(), robot.limits, (robot.name, robot.robot_type)) if file else None
        settings = values.servo_settings(chosen.robot, chosen.timing)
    except (StackError, CalibrationError, ValueError) as error:
        raise StartError(str(error)) from error
    simulated_time = bool(node.get_parameter("use_sim_time").value)
    wiring = Wiring(chosen.name, robot, asdict(chosen.options), offsets, values.bus_timeout, simulated_time)
    return ArmLink(node, wiring, settings, values.state_rate, values.priority, stop, chosen.identity)


def _pose_message(pose: Vector, stamp: Any, frame: str) -> PoseStamped:
    message = PoseStamped()
    message.header.stamp, message.header.frame_id = stamp, frame
    place, turn = message.pose.position, message.pose.orientation
    place.x, place.y, place.z = pose[:3, 3].tolist()
    turn.x, turn.y, turn.z, turn.w = Rotation.from_matrix(pose[:3, :3]).as_quat().tolist()
    return message
