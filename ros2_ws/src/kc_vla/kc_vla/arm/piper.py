"""An AgileX Piper through the vendor's SDK, on a CAN bus of any kind that python-can knows."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from kc_vla.arm.can_health import BusHealth, BusState, advice
from kc_vla.arm.interface import ArmError, ArmState, Impedance, require_target
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.last_words import PARKED
from kc_vla.arm.outside import beyond
from kc_vla.arm.piper_firmware import firmware_of
from kc_vla.arm.piper_flange import misplaced
from kc_vla.arm.piper_gripper import GripperWatch, gripper_of
from kc_vla.arm.piper_link import PiperLink
from kc_vla.arm.piper_mit import MIT_MOVES, MitEncoding, encoding_of
from kc_vla.arm.piper_models import JOINTS, require_limits, require_model, require_piper
from kc_vla.arm.piper_mount import LOADS, MOUNTS, require_mount
from kc_vla.arm.piper_queries import read_firmware, read_limits, wait
from kc_vla.arm.piper_role import ArmRole, role_of, why_silent
from kc_vla.arm.piper_status import STOPPED, TAUGHT, faults_of
from kc_vla.arm.piper_unfinished import unfinished
from kc_vla.core.robot import Robot, Vector

_JOINT_FRAMES = (0x2A5, 0x2A6, 0x2A7)
_STATUS = 0x2A1
_CAN_CONTROL, _TEACHING, _MOVE_JOINTS, _ALL = 1, 2, 1, 7
_STOP, _MODE, _MIT = 0x150, 0x151, 0xAD
_FULL_SPEED, _SLOW = 100, 10
"""Share of its top speed at which the arm follows, %; slowly while it is outside of its own limits."""
_OUT_OF_RANGE = 4
_EXPECTED_S = 0.5
"""So long after a set-point outside of the arm's own limits it says that it is there."""
_GRIPPER_OFF, _GRIPPER_ON, _GRIPPER_CLEAR_ON = 0, 1, 3
_VALID = 0xAE
_MOST_TOLD = 60
_UNIT = np.radians(1e-3)


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

    def __init__(
        self,
        robot: Robot,
        channel: str = "can0",
        bus: str = "socketcan",
        patience: float = 3.0,
        *,
        mount: str = "",
        load: str = "",
        gripper_effort: float = 1.0,
    ) -> None:
        """Prepare; `connect` begins.

        Args:
            robot: which Piper it is.
            channel: of the bus.
            bus: python-can's name of its kind.
            patience: s that the arm may take to answer.
            mount: installation position that is sent at enabling, of `MOUNTS`; empty: what the arm is set to.
            load: end load that is sent at enabling, of `LOADS`; empty: what the arm is set to.
            gripper_effort: largest torque of the gripper, N m.

        Raises:
            UnfitArmError: no Piper can have such a robot file.
        """
        require_piper(robot)
        require_mount(robot, mount)
        self._mount, self._load, self._gripper_torque = MOUNTS.get(mount, 0), load, round(gripper_effort * 1e3)
        self._gripper = GripperWatch()
        self._robot = robot
        self.limits, self.told_limits, self.home_pose = robot.limits, robot.limits, robot.rest
        self.firmware, self.kinematics = "", Kinematics(robot.links_of(""))
        self.warnings: tuple[str, ...] = ()
        self._at, self._outside_at = robot.rest, -np.inf
        self._channel, self._bus, self._patience = channel, bus, patience
        self._lock = threading.Lock()
        self._opening, self._slow = 0.0, False
        self._was_taught = self._was_soft = False
        self._encoding: MitEncoding | None = None
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
        """Return the state of the CAN bus with its error counters, and of the gripper, for the diagnostics."""
        health = self.health
        counters = {"transmit_errors": health.transmit_errors, "receive_errors": health.receive_errors}
        counters |= {"error_frames": health.error_frames}
        line = {"bus": str(health.state), **{f"bus/{name}": count for name, count in counters.items()}}
        return line if self._sdk is None else {**line, "gripper": gripper_of(self._sdk).in_words()}

    def enable(self) -> None:
        """Enable all motors in command mode, at low speed while a joint is outside of its limits.

        What the robot file says of mount and load is sent with it. An error of the gripper is cleared once, with its
        power on and its width as it is: without power it would release what it holds.
        """
        clears = self._gripper.begin(report := gripper_of(self._sdk), time.monotonic())
        self._slow = self._is_outside(self.read_state().angles)
        with self._lock:
            if self._load:
                self._sdk.ArmParamEnquiryAndConfig(0, 0, 0, _VALID, LOADS[self._load])
            self._move_joints(_SLOW if self._slow else _FULL_SPEED)
            self._sdk.EnableArm(_ALL)
            if clears:
                width = round(min(max(report.width, 0.0), self._robot.opening) * 1e6)
                self._sdk.GripperCtrl(width, self._gripper_torque, _GRIPPER_CLEAR_ON, 0)

    def read_state(self) -> ArmState:
        """Return the state that the latest feedback frames make up."""
        sdk = self._sdk
        told = sdk.GetArmJointMsgs().joint_state
        status = sdk.GetArmStatus().arm_status
        fast, slow = sdk.GetArmHighSpdInfoMsgs(), sdk.GetArmLowSpdInfoMsgs()
        numbers, grip = range(1, JOINTS + 1), gripper_of(sdk)
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
            gripper=grip.width,
            powered=np.array([bool(driver.driver_enable_status) for driver in drivers]),
            in_command_mode=mode == _CAN_CONTROL,
            faults=faults_of(fault, drivers, sdk.since_foreign_command()),
            line=self._line(),
            own_stop=self._own_stop(mode, word),
            efforts=np.array([*(getattr(fast, f"motor_{k}").effort / 1e3 for k in numbers), grip.effort]),
            gripper_faults=self._gripper.faults(grip, self._age()),
            impedance=self._is_soft,
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
                self._move_joints(_FULL_SPEED)
            elif self._is_soft or self._was_soft:  # until it reports that it follows angles again
                self._was_soft = False
                self._move_joints(_SLOW if self._slow else _FULL_SPEED)
            self._sdk.JointCtrl(*(round(value) for value in np.degrees(angles) * 1e3))
            self._sdk.GripperCtrl(round(self._opening * 1e6), self._gripper_torque, _GRIPPER_ON, 0)

    def torque_limits(self) -> Vector:
        """Return the largest torque of a command (6,), N m, by the firmware.

        Raises:
            ArmError: how this firmware takes torques is not known.
        """
        self._encoding = encoding_of(self.firmware)
        return np.full(JOINTS, self._encoding.torque)

    def set_impedance(self, impedance: Impedance) -> None:
        """Send each motor its spring, damper and torque, and the gripper its width; see `CompliantArm`.

        Raises:
            ValueError: a number is not finite, or an angle is out of the limits; nothing is sent.
            ArmError: how this firmware takes torques is not known.
        """
        require_target(impedance.angles, impedance.gripper, self.limits, self._at)
        encoding = self._encoding = self._encoding or encoding_of(self.firmware)
        frames = encoding.frames(impedance)
        self._opening = float(np.clip(impedance.gripper, 0.0, self._robot.opening))
        with self._lock:
            if not self._is_soft:
                self._sdk.send(_MODE, bytes([_CAN_CONTROL, encoding.move, 0, _MIT, 0, self._mount, 0, 0]))
            self._was_soft = True
            for number, data in frames:
                self._sdk.send(number, data)
            self._sdk.GripperCtrl(round(self._opening * 1e6), self._gripper_torque, _GRIPPER_ON, 0)

    def disable(self) -> None:
        """Ask the gripper and all motors to disable, without waiting: `read_state` reports when they are."""
        with self._lock:
            self._sdk.GripperCtrl(round(self._opening * 1e6), self._gripper_torque, _GRIPPER_OFF, 0)
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

    @property
    def _is_soft(self) -> bool:
        """Return whether the arm reports that its motors take impedance commands."""
        return bool(self._sdk.move in MIT_MOVES)

    def _move_joints(self, speed: int) -> None:
        """Have the arm follow joint angles at a share of its top speed, %, mounted as the robot file says."""
        self._sdk.MotionCtrl_2(_CAN_CONTROL, _MOVE_JOINTS, speed, 0, 0, self._mount)

    def _line(self) -> str:
        """Return why no state comes, and what to do; empty if the line is well, or nothing is known."""
        if self._sdk.health.state is not BusState.ACTIVE:
            return advice(self._sdk.health, self._channel)
        is_leader = self._age() > _EXPECTED_S and role_of(self._sdk) is ArmRole.LEADER
        return why_silent(self._sdk, self._channel) if is_leader else ""

    def _own_stop(self, mode: int, status: int) -> str:
        """Return which stop of its own the arm reports, in words; empty without one.

        An arm that was in teach mode reports standby, and stays in it, so that the teach mode is remembered here.
        """
        if status == STOPPED:
            who = "another program on the bus" if np.isfinite(self._sdk.since(_STOP)) else "its app, pendant or program"
            return f"the arm's own emergency stop is set (by {who})"
        taught = mode == _TEACHING or status in TAUGHT
        self._was_taught = taught or (self._was_taught and mode != _CAN_CONTROL)
        if not self._was_taught:
            return ""
        return "the arm is in teach mode: release its button" if taught else "the arm was in teach mode"

    def _open(self) -> None:
        self._sdk = PiperLink(self._channel)
        self._sdk.open(self._channel, self._bus)
        if not wait(lambda: self._age() < self._patience, self._patience):
            raise ArmError(f"no arm answers on '{self._channel}': {why_silent(self._sdk, self._channel)}")
        with self._lock:
            self.told_limits = read_limits(self._sdk, self._patience)
        require_limits(self.told_limits, self._robot)
        self.limits = self._robot.limits.narrowed(self.told_limits)
        self.firmware, unknown = self._firmware()
        self.kinematics = Kinematics(self._robot.links_of(self.firmware))
        flange = misplaced(self._sdk.flange(), self.read_state().angles, self.firmware, self._robot)
        with self._lock:
            unset = unfinished(self._sdk, self._channel)
        self.warnings = tuple(filter(None, (unknown, flange, *unset)))

    def _is_outside(self, angles: Vector) -> bool:
        """Return whether a joint is outside of the arm's own limits, by more than a unit of the wire."""
        return bool((beyond(angles, self.told_limits) > _UNIT).any())

    def _age(self) -> float:
        return float(self._sdk.since(*_JOINT_FRAMES, _STATUS))

    def _firmware(self) -> tuple[str, str]:
        """Return the firmware, as a name that is known or as the arm reports it, and a warning about it."""
        with self._lock:
            told = read_firmware(self._sdk, self._patience)
        if firmware_of(told) or self._robot.older is None:
            return told, ""
        return "", (
            f"the arm's firmware '{told[:_MOST_TOLD]}' is not understood: the zero pose of the newest is assumed; "
            "compare a pose that the stack reports with a ruler before the arm moves"
        )
