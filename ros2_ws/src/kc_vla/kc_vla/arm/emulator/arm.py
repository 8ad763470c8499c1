"""An emulated Piper: takes commands, lets time pass, tells its state; power, stop and limits as the arm has them.

What it does after a stop, a reset or a target out of range is what the vendor's documents and users report.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.arm.emulator.body import Body
from kc_vla.arm.emulator.frames import (
    Command,
    FirmwareQuery,
    Frame,
    GripperQuery,
    GripperSetting,
    GripperTarget,
    JointTarget,
    LimitQuery,
    ModeCommand,
    MotorPower,
    Move,
    Stop,
    StopCode,
    driver_frame,
    firmware_frames,
    gripper_frame,
    gripper_setting_frame,
    joint_frames,
    limits_frame,
    motor_frame,
    pose_frames,
    status_frame,
)
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import Robot

FIRMWARE = "S-V1.8-5"
_GRIPPER_SPEED = 0.15
_TOUCH = 1e-6
"""Fingers touch a thing that is no further from them than this, m."""
_STANDBY, _CONTROL_BUS, _TEACHING = 0, 1, 2
_BEGIN_TEACHING, _END_TEACHING = 1, 2
_MOTOR_HOT, _COLLISION, _ENABLED, _HOMED = 1, 4, 6, 7
_NOISE = 2.0
"""Standard deviation of the joint angles in the reports, millidegrees."""
_TOO_HOT = 90
"""Degrees C."""
_NEAR = np.radians(0.05)
"""By so much, rad, a target may be further out of a joint's range than the joint itself."""
_REACHED = 1e-4
"""A joint has reached its target when it is nearer than this, rad."""


class Status(IntEnum):
    """What an arm says of itself in the second byte of frame 0x2A1."""

    NORMAL = 0
    STOPPED = 1
    OUT_OF_RANGE = 4
    JOINT_SILENT = 5
    COLLISION = 7


class EmulatedArm:
    """An emulated arm, which begins at its home pose without power.

    Attributes:
        robot: the robot file's content.
        kinematics: those of the robot.
        body: the joints and their dynamics.
        opening: width of the gripper, m.
        setting: what the gripper is set to; with a stroke of 0, as out of the box, it does not move and reports 0.
        between: width of what is between the fingers, m; 0.0 for nothing.
        dead: whether each joint has lost its power supply, (6,).
        silent: whether the driver of each joint gives no answer, (6,).
        collision: whether each joint reports a collision, (6,).
        heat: temperatures of the motors, degrees C, (6,).
        teach: state of the teach button, 0 released.
        taught: whether the arm was in teach mode since the last reset.
    """

    def __init__(self, robot: Robot, firmware: str = FIRMWARE) -> None:
        """Put an arm together that lies at its home pose, disabled.

        Args:
            robot: which Piper it is.
            firmware: that it reports.
        """
        joints = len(robot.joints)
        self.robot, self.kinematics, self._firmware = robot, Kinematics(robot.links_of(firmware)), firmware
        self.body = Body(robot)
        self.opening = self.between = 0.0
        self.setting = GripperSetting(100, round(robot.opening * 1e3), 1)
        self.dead = np.zeros(joints, bool)
        self.silent = np.zeros(joints, bool)
        self.collision = np.zeros(joints, bool)
        self.heat = np.full(joints, 35)
        self.teach, self.taught = 0, False
        self._control, self._move, self._speed = 0, Move.POSE, 0
        self._stopped = False
        self._enables_wanted = 1
        self._over_limit = np.zeros(joints, bool)
        self._gripper_target, self._gripper_torque, self._gripper_on = 0.0, 0, False
        self._chance = np.random.default_rng(0)

    @property
    def status(self) -> Status:
        """Return the gravest status of all that is wrong."""
        if self._stopped:
            return Status.STOPPED
        if self.silent.any():
            return Status.JOINT_SILENT
        if self.collision.any():
            return Status.COLLISION
        return Status.OUT_OF_RANGE if self._over_limit.any() else Status.NORMAL

    def press_teach(self) -> None:
        """Press the teach button: a person leads the arm by hand until it is released and the arm is reset."""
        self.teach, self._control, self.taught = 1, _TEACHING, True

    def release_teach(self) -> None:
        """Release the teach button; the arm stays in standby until it is reset, as users report."""
        if self.teach:
            self.teach, self._control = 0, _STANDBY

    def receive(self, command: Command) -> tuple[Frame, ...]:
        """Take a command; return the answer to a query."""
        match command:
            case Stop():
                self._stop(command)
            case ModeCommand():
                if self.taught or self._stopped:
                    return ()
                self._control, self._move, self._speed = command.control, command.move, command.speed
            case JointTarget():
                self._aim(command)
            case GripperTarget():
                self._gripper_target = float(np.clip(command.opening * 1e-6, 0.0, self.setting.stroke * 1e-3))
                self._gripper_torque, self._gripper_on = command.torque, bool(command.code & 1)
                if command.zero:
                    self.opening = 0.0
            case MotorPower():
                self._power(command)
            case LimitQuery():
                return tuple(self._limits(motor) for motor in command.motors)
            case GripperSetting():
                self.setting = command
            case GripperQuery():
                return (gripper_setting_frame(self.setting),)
            case FirmwareQuery():
                return firmware_frames(self._firmware)
        return ()

    def step(self, seconds: float) -> None:
        """Let some milliseconds pass."""
        self.body.powered &= ~self.dead
        self.body.step(seconds, self._speed / 100)
        if self._gripper_on and self.setting.stroke:
            way = max(self._gripper_target, min(self.between, self.opening)) - self.opening
            self.opening += float(np.clip(way, -_GRIPPER_SPEED * seconds, _GRIPPER_SPEED * seconds))

    @property
    def gripping(self) -> int:
        """Return the torque with which the fingers press on what is between them, mN m; 0 where they touch nothing."""
        presses = self._gripper_on and self._gripper_target < self.opening <= self.between + _TOUCH
        return self._gripper_torque if presses else 0

    def fast_feedback(self) -> Iterator[Frame]:
        """Yield what the arm reports 200 times a second."""
        body = self.body
        moving = bool((np.abs(body.targets - body.angles) > _REACHED)[body.powered].any())
        yield status_frame(
            control=self._control,
            status=self.status,
            move=self._move,
            teach=self.teach,
            moving=moving,
            over_limit=self._over_limit.tolist(),
            lost=self.silent.tolist(),
        )
        pose = self.kinematics.flange(body.angles)
        turned = Rotation.from_matrix(pose[:3, :3]).as_euler("xyz", degrees=True)
        yield from pose_frames(_rounded(pose[:3, 3] * 1e6), _rounded(turned * 1e3))
        seen = np.degrees(body.angles) * 1e3 + self._chance.normal(0.0, _NOISE, len(body.angles))
        yield from joint_frames(_rounded(seen))
        opening = self.opening if self.setting.stroke else 0.0
        yield gripper_frame(round(opening * 1e6), self.gripping, self._gripper_on << _ENABLED | 1 << _HOMED)
        for k in np.flatnonzero(~self.silent).tolist():
            yield motor_frame(k + 1, round(body.speeds[k] * 1e3), 0, round(body.angles[k] * 1e3))

    def slow_feedback(self) -> Iterator[Frame]:
        """Yield what the joints' motor drivers report 40 times a second."""
        for k in np.flatnonzero(~self.silent).tolist():
            hot, collision, powered = self.heat[k] > _TOO_HOT, self.collision[k], self.body.powered[k]
            status = int(hot) << _MOTOR_HOT | int(collision) << _COLLISION | int(powered) << _ENABLED
            yield driver_frame(k + 1, 240, int(self.heat[k]), int(self.heat[k]), status, 0)

    def _stop(self, command: Stop) -> None:
        if command.code == StopCode.STOP:
            self._stopped = self.body.descending = True
        elif command.code == StopCode.RESUME:
            self._stopped = self.body.descending = False
            self.taught = bool(self.teach)
            self.collision[:] = False  # it clears all errors; who still pushes is felt again
            self._control = _TEACHING if self.teach else _STANDBY
            self.body.powered[:] = False  # the arm drops
            self._enables_wanted = 2
        if command.teach == _BEGIN_TEACHING:
            self.press_teach()
        elif command.teach == _END_TEACHING:
            self.release_teach()

    def _power(self, command: MotorPower) -> None:
        rows = np.array(command.motors) - 1
        if not command.on:
            self.body.powered[rows] = False
            return
        if self._stopped:
            return
        if self._enables_wanted > 1:  # after a reset the first does nothing
            self._enables_wanted -= 1
            return
        fresh = rows[~self.body.powered[rows] & ~self.silent[rows]]
        self.body.powered[fresh] = True
        self.body.targets[fresh] = self.body.angles[fresh]

    def _aim(self, command: JointTarget) -> None:
        if self._control != _CONTROL_BUS or self._move != Move.JOINTS or self._stopped:
            return
        rows = slice(command.first, command.first + 2)
        wanted = np.radians(np.array(command.angles) / 1e3)
        limits = self.robot.limits
        lowest, highest, at = limits.lowest[rows], limits.highest[rows], self.body.angles[rows]
        self._over_limit[rows] = (wanted < lowest - 1e-6) | (wanted > highest + 1e-6)
        # A joint that is out of its range is followed on its way back in; else it stays where it was sent.
        further = (wanted < np.minimum(lowest, at - _NEAR)) | (wanted > np.maximum(highest, at + _NEAR))
        outside = self._over_limit[rows] & (further | ((at >= lowest - _NEAR) & (at <= highest + _NEAR)))
        self.body.targets[rows] = np.where(outside, self.body.targets[rows], wanted)

    def _limits(self, motor: int) -> Frame:
        limits, joint = self.robot.limits, motor - 1
        highest, lowest = np.degrees([limits.highest[joint], limits.lowest[joint]]) * 10
        return limits_frame(motor, round(highest), round(lowest), round(limits.speed[joint] * 1e3))


def _rounded(values: NDArray[np.float64]) -> list[int]:
    return [round(value) for value in values.tolist()]
