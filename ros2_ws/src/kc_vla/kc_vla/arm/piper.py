"""An AgileX Piper through the vendor's SDK, on a CAN bus of any kind that python-can knows."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kc_vla.arm.interface import LIES, ArmError, ArmState, JointLimits, Vector
from kc_vla.arm.piper_limits import JOINTS, MAX_OPENING, REST, SDK_LIMITS
from kc_vla.arm.piper_link import PiperLink, claim

_JOINT_FRAMES = (0x2A5, 0x2A6, 0x2A7)
_STATUS, _LIMITS = 0x2A1, 0x473
_CAN_CONTROL, _MOVE_JOINTS, _ALL = 1, 1, 7
_FULL_SPEED, _PARK_SPEED = 100, 10
_GRIPPER_TORQUE = 1000
_GRIPPER_ON, _GRIPPER_OFF = 1, 0
_POLL_S = 0.02
_FIRMWARE = re.compile(r"S-V(\d+)\.(\d+)-(\d+)")
_OFFSET_SINCE = (1, 6, 3)
_ASK_AGAIN_S = 0.3
_FOREIGN_S = 1.0
"""So long a command of another program is a fault, s."""
_STATUS_WORDS = {
    1: "emergency stop",
    2: "no solution for the target",
    3: "singularity",
    4: "target out of range",
    5: "a joint does not answer",
    6: "a brake is not released",
    7: "collision",
    8: "too fast while being led",
    9: "a joint reports an error",
    11: "teaching: release the teach button",
    12: "teaching: release the teach button",
    13: "teaching: release the teach button",
    14: "the controller is too hot",
    15: "the brake resistor is too hot",
}


class PiperArm:
    """See `kc_vla.arm.interface.Arm`. One lock for all that is sent: the SDK mixes up frames of two threads.

    Attributes:
        firmware: as the arm tells it, e.g. "S-V1.8-5"; empty before `connect`.
        dh_is_offset: which zero pose goes with it, see `kc_vla.arm.kinematics`.
    """

    def __init__(self, channel: str = "can0", bus: str = "socketcan", patience: float = 3.0) -> None:
        """Prepare; `connect` begins.

        Args:
            channel: of the bus.
            bus: python-can's name of its kind.
            patience: s that the arm may take to answer.
        """
        self.limits, self.rest = SDK_LIMITS, REST
        self.firmware, self.dh_is_offset = "", 1
        self._channel, self._bus, self._patience = channel, bus, patience
        self._lock = threading.Lock()
        self._target: tuple[Vector, float] | None = None
        self._sdk: Any = None
        self._name: socket.socket | None = None

    def connect(self) -> None:
        """See `Arm.connect`."""
        self._name = claim(self._channel)
        try:
            self._open()
        except ArmError:
            self.disconnect()
            raise

    def enable(self) -> None:
        """See `Arm.enable`."""
        state = self._fresh()
        if state.faults:
            raise ArmError(f"the arm is not enabled: {'; '.join(state.faults)}")
        with self._lock:
            self._sdk.MotionCtrl_2(_CAN_CONTROL, _MOVE_JOINTS, _FULL_SPEED)

        def powered() -> bool:
            with self._lock:
                self._sdk.EnableArm(_ALL)
            state = self.read()
            return bool(state.powered.all()) and state.obeys

        self._wait(powered, "a joint of the arm gets no power: look at its driver's status")
        self._target = None
        self.hold()

    def read(self) -> ArmState:
        """See `Arm.read`."""
        sdk = self._sdk
        told = sdk.GetArmJointMsgs().joint_state
        status = sdk.GetArmStatus().arm_status
        fast, slow = sdk.GetArmHighSpdInfoMsgs(), sdk.GetArmLowSpdInfoMsgs()
        numbers = range(1, JOINTS + 1)
        drivers = [getattr(slow, f"motor_{k}").foc_status for k in numbers]
        return ArmState(
            age=self._age(),
            angles=np.radians([getattr(told, f"joint_{k}") / 1e3 for k in numbers]),
            speeds=np.array([getattr(fast, f"motor_{k}").motor_speed / 1e3 for k in numbers]),
            gripper=sdk.GetArmGripperMsgs().gripper_state.grippers_angle * 1e-6,
            powered=np.array([bool(driver.driver_enable_status) for driver in drivers]),
            obeys=int(status.ctrl_mode) == _CAN_CONTROL,
            faults=_faults(int(status.arm_status), drivers, sdk.since_foreign_command()),
        )

    def command(self, angles: Vector, gripper: float) -> None:
        """See `Arm.command`."""
        if np.shape(angles) != (JOINTS,) or not np.isfinite(angles).all() or not np.isfinite(gripper):
            raise ValueError(
                f"target {np.asarray(angles).tolist()}, gripper {gripper}: six finite angles and an opening"
            )
        outside = (angles < self.limits.lowest) | (angles > self.limits.highest)
        if outside.any():
            joint = int(np.flatnonzero(outside)[0])
            raise ValueError(
                f"target of joint {joint + 1} is {np.degrees(angles[joint]):.1f} degrees: out of its range"
            )
        opening = float(np.clip(gripper, 0.0, MAX_OPENING))
        self._target = np.array(angles, float), opening
        with self._lock:
            self._sdk.JointCtrl(*(round(value) for value in np.degrees(angles) * 1e3))
            self._sdk.GripperCtrl(round(opening * 1e6), _GRIPPER_TORQUE, _GRIPPER_ON, 0)

    def hold(self) -> None:
        """See `Arm.hold`."""
        if self._target is None:
            state = self._fresh()
            self._target = np.clip(state.angles, self.limits.lowest, self.limits.highest), state.gripper
        self.command(*self._target)

    def park(self) -> None:
        """See `Arm.park`."""
        _, gripper = self._target or (REST, self.read().gripper)
        with self._lock:
            self._sdk.MotionCtrl_2(_CAN_CONTROL, _MOVE_JOINTS, _PARK_SPEED)
        farthest = np.abs(self._fresh().angles - REST).max()
        slow = SDK_LIMITS.speed[0] * _PARK_SPEED / 100
        until = time.monotonic() + self._patience + 1.5 * farthest / slow

        def lies() -> bool:
            self.command(REST, gripper)
            return bool((np.abs(self._fresh().angles - REST) <= LIES).all())

        self._wait(lies, "the arm did not reach its rest pose and keeps its power: hold it, then disable it", until)
        with self._lock:
            self._sdk.GripperCtrl(round(gripper * 1e6), _GRIPPER_TORQUE, _GRIPPER_OFF, 0)
            self._sdk.DisableArm(_ALL)
        self._wait(lambda: not self.read().powered.any(), "the arm lies, but a joint keeps its power")

    def stop(self) -> None:
        """See `Arm.stop`."""
        with self._lock:
            self._sdk.EmergencyStop(1)

    def disconnect(self) -> None:
        """See `Arm.disconnect`."""
        if self._sdk is not None:
            self._sdk.close()
            self._sdk = None
        if self._name is not None:
            self._name.close()
            self._name = None

    def reconnect(self) -> bool:
        """See `Arm.reconnect`."""
        if self._sdk.broken and not self._sdk.reopen():
            return False
        return self._age() < self._patience

    def _open(self) -> None:
        self._sdk = PiperLink(self._channel, judge_flag=False, can_auto_init=False)
        self._sdk.open(self._channel, self._bus)
        silent = f"no arm answers on '{self._channel}': has it power, and is the bus up at 1 Mbit/s?"
        self._wait(lambda: self._age() < self._patience, silent)
        self.limits = SDK_LIMITS.narrowed(self._asked_limits())
        self.firmware = self._asked_firmware()
        version = _FIRMWARE.match(self.firmware)
        self.dh_is_offset = int(version is None or tuple(map(int, version.groups())) >= _OFFSET_SINCE)

    def _age(self) -> float:
        return float(self._sdk.since(*_JOINT_FRAMES, _STATUS))

    def _fresh(self) -> ArmState:
        state = self.read()
        if state.age > self._patience:
            raise ArmError(f"nothing has come from the arm on '{self._channel}' for {state.age:.1f} s")
        return state

    def _asked_firmware(self) -> str:
        asked_at = -np.inf

        def told() -> str:
            nonlocal asked_at
            found = _FIRMWARE.search(str(self._sdk.GetPiperFirmwareVersion()))
            if found is None and time.monotonic() - asked_at > _ASK_AGAIN_S:
                asked_at = time.monotonic()
                with self._lock:
                    self._sdk.SearchPiperFirmwareVersion()  # it may forget an answer that comes too soon
            return found[0] if found else ""

        self._wait(lambda: bool(told()), "the arm does not tell its firmware")
        return told()

    def _asked_limits(self) -> JointLimits:
        """Of each joint, one after the other: the SDK's getter for all of them gives six times the last."""
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

    def _wait(self, condition: Callable[[], bool], otherwise: str, until: float | None = None) -> None:
        until = until or time.monotonic() + self._patience
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
