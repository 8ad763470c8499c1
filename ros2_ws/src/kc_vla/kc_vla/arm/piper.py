"""An AgileX Piper through the vendor's SDK, on a CAN bus of any kind that python-can knows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kc_vla.arm.can_health import BusHealth, BusState, advice
from kc_vla.arm.interface import COLLISION, JOINT_ERROR, ArmError, ArmState, require_target
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.last_words import PARKED
from kc_vla.arm.outside import beyond
from kc_vla.arm.piper_firmware import firmware_of
from kc_vla.arm.piper_flange import misplaced
from kc_vla.arm.piper_gripper import NOT_SET, read_stroke
from kc_vla.arm.piper_link import PiperLink
from kc_vla.arm.piper_models import JOINTS, require_limits, require_model, require_piper
from kc_vla.core.robot import JointLimits, Robot, Vector

_JOINT_FRAMES = (0x2A5, 0x2A6, 0x2A7)
_STATUS, _LIMITS = 0x2A1, 0x473
_CAN_CONTROL, _TEACHING, _MOVE_JOINTS, _ALL = 1, 2, 1, 7
_STOP = 0x150
_STOPPED, _TAUGHT = 1, (11, 12, 13)
"""What the arm's status says of its own stop, and of teach mode."""
_FULL_SPEED, _SLOW = 100, 10
"""Share of its top speed at which the arm follows, %; slowly while it is outside of its own limits."""
_OUT_OF_RANGE = 4
_EXPECTED_S = 0.5
"""So long after a set-point outside of the arm's own limits it says that it is there."""
_GRIPPER_TORQUE = 1000
_GRIPPER_ON, _GRIPPER_OFF = 1, 0
_POLL_S = 0.02
_ASK_AGAIN_S, _GRIPPER_ANSWER_S = 0.3, 1.0
_MOST_TOLD = 60
_UNIT = np.radians(1e-3)
_FOREIGN_S = 1.0
"""So long a command of another program is a fault, s."""
_STATUS_WORDS = {
    1: "emergency stop",
    2: "no solution for the target",
    3: "singularity",
    4: "target out of range",
    5: "a joint does not answer",
    6: "a brake is not released",
    7: COLLISION,
    8: "too fast while being led",
    9: JOINT_ERROR,
    **dict.fromkeys(_TAUGHT, "teaching: release the teach button"),
    14: "the controller is too hot",
    15: "the brake resistor is too hot",
}


class PiperArm:
    """A Piper arm on a CAN bus, as the `ArmDriver` of the control process.

    It is moved in the mode "move J" at full speed: its own controller follows angles that our limiter has bounded.
    One lock guards all that is sent: the SDK mixes up frames of two threads.

    Attributes:
        limits: of its joints: the narrower of the robot's and of those that the arm reports, once it is connected.
        told_limits: those that the arm reports.
        home_pose: how it lies by itself (6,), rad.
        firmware: as the arm reports it, e.g. "S-V1.8-5"; empty before `connect`.
        kinematics: of the arm; its zero pose goes with the firmware.
        warnings: what a person should know of it before it moves, see `ArmDriver`.
        shutdown_message: what is true of an arm that was parked and disabled, see `ArmDriver`.
    """

    shutdown_message = PARKED
    has_brakes = False

    def __init__(self, robot: Robot, channel: str = "can0", bus: str = "socketcan", patience: float = 3.0) -> None:
        """Prepare; `connect` begins.

        Args:
            robot: which Piper it is.
            channel: of the bus.
            bus: python-can's name of its kind.
            patience: s that the arm may take to answer.

        Raises:
            UnfitArmError: no Piper can have such a robot file.
        """
        require_piper(robot)
        self._robot = robot
        self.limits, self.told_limits, self.home_pose = robot.limits, robot.limits, robot.rest
        self.firmware, self.kinematics = "", Kinematics(robot.links_of(""))
        self.warnings: tuple[str, ...] = ()
        self._at, self._outside_at = robot.rest, -np.inf
        self._channel, self._bus, self._patience = channel, bus, patience
        self._lock = threading.Lock()
        self._opening, self._slow = 0.0, False
        self._was_taught = False
        self._sdk: Any = None

    @property
    def health(self) -> BusHealth:
        """Return the health of the CAN bus; its state is `GONE` before `connect`."""
        return self._sdk.health if self._sdk is not None else BusHealth(BusState.GONE)

    def connect(self) -> None:
        """Begin to listen, and learn the limits; nothing moves and no motor is enabled.

        Raises:
            ArmError: nobody answers, or what answers is not understood.
        """
        try:
            self._open()
        except ArmError:
            self.close()
            raise

    def check_identity(self) -> None:
        """Check that the arm's reported limits can be true and are those of the robot's model.

        Raises:
            UnfitArmError: it is another model, or its report is broken.
        """
        require_limits(self.told_limits, self._robot)
        require_model(self.told_limits, self._robot)

    def may_be_enabled(self) -> bool:
        """Return whether any motor is enabled by the latest state."""
        return bool(self.read_state().powered.any())

    def diagnostics(self) -> dict[str, object]:
        """Return the state of the CAN bus and its error counters for the diagnostics."""
        health = self.health
        counters = {"transmit_errors": health.transmit_errors, "receive_errors": health.receive_errors}
        counters |= {"error_frames": health.error_frames}
        return {"bus": str(health.state), **{f"bus/{name}": count for name, count in counters.items()}}

    def enable(self) -> None:
        """Enable all motors in command mode, at low speed while a joint is outside of its limits."""
        self._slow = self._is_outside(self.read_state().angles)
        with self._lock:
            self._sdk.MotionCtrl_2(_CAN_CONTROL, _MOVE_JOINTS, _SLOW if self._slow else _FULL_SPEED)
            self._sdk.EnableArm(_ALL)

    def read_state(self) -> ArmState:
        """Return the state that the latest feedback frames make up."""
        sdk = self._sdk
        told = sdk.GetArmJointMsgs().joint_state
        status = sdk.GetArmStatus().arm_status
        fast, slow = sdk.GetArmHighSpdInfoMsgs(), sdk.GetArmLowSpdInfoMsgs()
        numbers, grip = range(1, JOINTS + 1), sdk.GetArmGripperMsgs().gripper_state
        drivers = [getattr(slow, f"motor_{k}").foc_status for k in numbers]
        self._at = np.radians([getattr(told, f"joint_{k}") / 1e3 for k in numbers])
        mode, word = int(status.ctrl_mode), int(status.arm_status)
        fault = word
        if fault == _OUT_OF_RANGE and time.monotonic() - self._outside_at < _EXPECTED_S:
            fault = 0  # it is: that is where it was found
        return ArmState(
            age=self._age(),
            angles=self._at.copy(),
            speeds=np.array([getattr(fast, f"motor_{k}").motor_speed / 1e3 for k in numbers]),
            gripper=grip.grippers_angle * 1e-6,
            powered=np.array([bool(driver.driver_enable_status) for driver in drivers]),
            in_command_mode=mode == _CAN_CONTROL,
            faults=_faults(fault, drivers, sdk.since_foreign_command()),
            line=advice(sdk.health, self._channel) if sdk.health.state is not BusState.ACTIVE else "",
            own_stop=self._own_stop(mode, word),
            efforts=np.array([*(getattr(fast, f"motor_{k}").effort for k in numbers), grip.grippers_effort]) / 1e3,
        )

    def set_target(self, angles: Vector, gripper: float) -> None:
        """Send a target for the joints and the gripper, in the vendor's units.

        Args:
            angles: of the joints (6,), rad.
            gripper: opening, m; a wider or narrower one is clipped.

        Raises:
            ValueError: the target is not finite or out of the limits; nothing is sent.
        """
        require_target(angles, gripper, self.limits, self._at)
        self._opening = float(np.clip(gripper, 0.0, self._robot.opening))
        is_outside = self._is_outside(angles)
        if is_outside:
            self._outside_at = time.monotonic()
        with self._lock:
            if self._slow and not is_outside and not self._is_outside(self._at):
                self._slow = False
                self._sdk.MotionCtrl_2(_CAN_CONTROL, _MOVE_JOINTS, _FULL_SPEED)
            self._sdk.JointCtrl(*(round(value) for value in np.degrees(angles) * 1e3))
            self._sdk.GripperCtrl(round(self._opening * 1e6), _GRIPPER_TORQUE, _GRIPPER_ON, 0)

    def disable(self) -> None:
        """Ask the gripper and all motors to disable, without waiting: `read_state` reports when they are."""
        with self._lock:
            self._sdk.GripperCtrl(round(self._opening * 1e6), _GRIPPER_TORQUE, _GRIPPER_OFF, 0)
            self._sdk.DisableArm(_ALL)

    def reset(self) -> None:
        """Send the vendor's reset, after which the arm must be enabled twice."""
        with self._lock:
            self._sdk.ResetPiper()
        self._was_taught = False

    def close(self) -> None:
        """Listen no more. The arm keeps its power if it has any."""
        if self._sdk is not None:
            self._sdk.close()
            self._sdk = None

    def reconnect(self) -> None:
        """Open the bus again if it has gone; nothing is sent. `read_state` reports whether the arm is there again."""
        if self._sdk.broken:
            self._sdk.reopen()

    def _own_stop(self, mode: int, status: int) -> str:
        """Return which stop of its own the arm reports, in words; empty without one.

        An arm that was in teach mode reports standby, and stays in it, so that the teach mode is remembered here.
        """
        if status == _STOPPED:
            who = "another program on the bus" if np.isfinite(self._sdk.since(_STOP)) else "its app, pendant or program"
            return f"the arm's own emergency stop is set (by {who})"
        taught = mode == _TEACHING or status in _TAUGHT
        self._was_taught = taught or (self._was_taught and mode != _CAN_CONTROL)
        if not self._was_taught:
            return ""
        return "the arm is in teach mode: release its button" if taught else "the arm was in teach mode"

    def _open(self) -> None:
        self._sdk = PiperLink(self._channel)
        self._sdk.open(self._channel, self._bus)
        silent = f"no arm answers on '{self._channel}': has it power, and is the bus up at 1 Mbit/s?"
        self._wait(lambda: self._age() < self._patience, silent)
        self.told_limits = self._asked_limits()
        require_limits(self.told_limits, self._robot)
        self.limits = self._robot.limits.narrowed(self.told_limits)
        self.firmware, unknown = self._asked_firmware()
        self.kinematics = Kinematics(self._robot.links_of(self.firmware))
        flange = misplaced(self._sdk.flange(), self.read_state().angles, self.firmware, self._robot)
        with self._lock:
            gripper = read_stroke(self._sdk, _GRIPPER_ANSWER_S)
        unset = NOT_SET.format(channel=self._channel) if gripper is not None and not gripper.stroke else ""
        self.warnings = tuple(filter(None, (unknown, flange, unset)))

    def _is_outside(self, angles: Vector) -> bool:
        """Return whether a joint is outside of the arm's own limits, by more than a unit of the wire."""
        return bool((beyond(angles, self.told_limits) > _UNIT).any())

    def _age(self) -> float:
        return float(self._sdk.since(*_JOINT_FRAMES, _STATUS))

    def _asked_firmware(self) -> tuple[str, str]:
        """Return the firmware, as a name that is known or as the arm reports it, and a warning about it.

        It is asked until two answers are the same: of one whose end was lost an older firmware would be read.
        """
        heard: list[str] = []

        def sure() -> bool:
            if answer := self._sdk.firmware.answer(time.monotonic()):
                heard.append(firmware_of(answer) or answer)
            if answer or self._sdk.firmware.age(time.monotonic()) > _ASK_AGAIN_S:
                with self._lock:
                    self._sdk.ask_firmware()
            return len(heard) > 1 and heard[-1] == heard[-2]

        self._wait(sure, "the arm does not tell its firmware")
        told = heard[-1]
        if firmware_of(told) or self._robot.older is None:
            return told, ""
        return "", (
            f"the arm's firmware '{told[:_MOST_TOLD]}' is not understood: the zero pose of the newest is assumed; "
            "compare a pose that the stack reports with a ruler before the arm moves"
        )

    def _asked_limits(self) -> JointLimits:
        """Ask each joint for its limits, one after the other.

        The SDK's getter for all of them returns those of the last one six times.
        """
        rows = []
        for motor in range(1, JOINTS + 1):
            self._sdk.forget(_LIMITS)

            def answered(motor: int = motor) -> bool:
                with self._lock:
                    self._sdk.SearchMotorMaxAngleSpdAccLimit(motor, 1)
                told = self._sdk.GetCurrentMotorAngleLimitMaxVel().current_motor_angle_limit_max_vel
                return self._sdk.since(_LIMITS) < self._patience and int(told.motor_num) == motor

            self._wait(answered, f"joint {motor} does not tell its limits")
            told = self._sdk.GetCurrentMotorAngleLimitMaxVel().current_motor_angle_limit_max_vel
            rows.append((told.min_angle_limit / 10, told.max_angle_limit / 10, told.max_joint_spd / 1e3))
        lowest, highest, speed = np.array(rows, float).T
        return JointLimits(np.radians(lowest), np.radians(highest), speed)

    def _wait(self, condition: Callable[[], bool], otherwise: str) -> None:
        until = time.monotonic() + self._patience
        while not condition():
            if time.monotonic() > until:
                raise ArmError(otherwise)
            time.sleep(_POLL_S)


def _faults(status: int, drivers: list[Any], foreign: float) -> tuple[str, ...]:
    words = [_STATUS_WORDS.get(status, f"status {status}")] if status else []
    if foreign < _FOREIGN_S:
        words.append("another program commands the arm: end it")
    for number, driver in enumerate(drivers, 1):
        kinds = ("voltage_too_low", "motor_overheating", "driver_overcurrent", "driver_overheating", "stall_status")
        words += [f"joint {number}: {kind.replace('_', ' ')}" for kind in kinds if getattr(driver, kind)]
    return tuple(words)
