"""An AgileX Piper through the vendor's SDK, on a CAN bus of any kind that python-can knows."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kc_vla.arm.can_health import BusHealth, BusState, advice
from kc_vla.arm.claim import claim
from kc_vla.arm.interface import ArmError, ArmState, require_target
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.last_words import PARKED
from kc_vla.arm.piper_link import PiperLink
from kc_vla.arm.piper_models import JOINTS, require_model
from kc_vla.arm.wiring import Wiring
from kc_vla.core.rig import FIRMWARE, JointLimits, Rig, Vector

_JOINT_FRAMES = (0x2A5, 0x2A6, 0x2A7)
_STATUS, _LIMITS = 0x2A1, 0x473
_CAN_CONTROL, _MOVE_JOINTS, _ALL = 1, 1, 7
_FULL_SPEED = 100
_GRIPPER_TORQUE = 1000
_GRIPPER_ON, _GRIPPER_OFF = 1, 0
_POLL_S = 0.02
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
    """See `kc_vla.arm.interface.MovedArm`. One lock for all that is sent: the SDK mixes up frames of two threads.

    It is moved in the mode "move J" at full speed: its own controller follows angles that our limiter has bounded.

    Attributes:
        limits: of its joints: the narrower of the rig's and of those that the arm tells, once it is connected.
        told_limits: those that the arm tells.
        rest: how it lies by itself (6,), rad.
        firmware: as the arm tells it, e.g. "S-V1.8-5"; empty before `connect`.
        kinematics: of the arm; its zero pose goes with the firmware.
        farewell: see `Driver`.
    """

    farewell = PARKED

    def __init__(self, rig: Rig, channel: str = "can0", bus: str = "socketcan", patience: float = 3.0) -> None:
        """Prepare; `connect` begins.

        Args:
            rig: which Piper it is.
            channel: of the bus.
            bus: python-can's name of its kind.
            patience: s that the arm may take to answer.
        """
        self._rig = rig
        self.limits, self.told_limits, self.rest = rig.limits, rig.limits, rig.rest
        self.firmware, self.kinematics = "", Kinematics(rig.links_of(""))
        self._channel, self._bus, self._patience = channel, bus, patience
        self._lock = threading.Lock()
        self._opening = 0.0
        self._sdk: Any = None
        self._name: socket.socket | None = None

    @classmethod
    def of(cls, wiring: Wiring) -> PiperArm:
        """The arm on that bus."""
        return cls(wiring.rig, wiring.channel, wiring.bus)

    @property
    def health(self) -> BusHealth:
        """Of the bus."""
        return self._sdk.health if self._sdk is not None else BusHealth(BusState.GONE)

    def connect(self) -> None:
        """Begin to listen, and learn the limits; nothing moves and nothing gets power.

        Raises:
            ArmError: nobody answers, or what answers is not understood.
        """
        self._name = claim(self._channel)
        try:
            self._open()
        except ArmError:
            self.disconnect()
            raise

    def require_fit(self) -> None:
        """See `Driver.require_fit`."""
        require_model(self.told_limits, self._rig)

    def may_have_power(self) -> bool:
        """See `Driver.may_have_power`."""
        return bool(self.read().powered.any())

    def details(self) -> dict[str, object]:
        """See `Driver.details`."""
        health = self.health
        counters = {"transmit_errors": health.transmit_errors, "receive_errors": health.receive_errors}
        counters |= {"error_frames": health.error_frames}
        return {"bus": str(health.state), **{f"bus/{name}": count for name, count in counters.items()}}

    def give_power(self) -> None:
        """See `MovedArm.give_power`."""
        with self._lock:
            self._sdk.MotionCtrl_2(_CAN_CONTROL, _MOVE_JOINTS, _FULL_SPEED)
            self._sdk.EnableArm(_ALL)

    def read(self) -> ArmState:
        """See `MovedArm.read`."""
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
            line=advice(sdk.health, self._channel) if sdk.health.state is not BusState.ACTIVE else "",
        )

    def command(self, angles: Vector, gripper: float) -> None:
        """See `MovedArm.command`."""
        require_target(angles, gripper, self.limits)
        self._opening = float(np.clip(gripper, 0.0, self._rig.opening))
        with self._lock:
            self._sdk.JointCtrl(*(round(value) for value in np.degrees(angles) * 1e3))
            self._sdk.GripperCtrl(round(self._opening * 1e6), _GRIPPER_TORQUE, _GRIPPER_ON, 0)

    def take_power(self) -> None:
        """See `MovedArm.take_power`. It is not waited for: `read` tells when it is done."""
        with self._lock:
            self._sdk.GripperCtrl(round(self._opening * 1e6), _GRIPPER_TORQUE, _GRIPPER_OFF, 0)
            self._sdk.DisableArm(_ALL)

    def disconnect(self) -> None:
        """Listen no more. The arm keeps its power if it has any."""
        if self._sdk is not None:
            self._sdk.close()
            self._sdk = None
        if self._name is not None:
            self._name.close()
            self._name = None

    def reconnect(self) -> None:
        """Open the bus again if it has gone; nothing is sent. `read` tells whether the arm is there again."""
        if self._sdk.broken:
            self._sdk.reopen()

    def _open(self) -> None:
        self._sdk = PiperLink(self._channel)
        self._sdk.open(self._channel, self._bus)
        silent = f"no arm answers on '{self._channel}': has it power, and is the bus up at 1 Mbit/s?"
        self._wait(lambda: self._age() < self._patience, silent)
        self.told_limits = self._asked_limits()
        self.limits = self._rig.limits.narrowed(self.told_limits)
        self.firmware = self._asked_firmware()
        self.kinematics = Kinematics(self._rig.links_of(self.firmware))

    def _age(self) -> float:
        return float(self._sdk.since(*_JOINT_FRAMES, _STATUS))

    def _asked_firmware(self) -> str:
        asked_at = -np.inf

        def told() -> str:
            nonlocal asked_at
            found = FIRMWARE.search(str(self._sdk.GetPiperFirmwareVersion()))
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
