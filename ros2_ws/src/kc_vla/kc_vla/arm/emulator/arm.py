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
    FrameError,
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
    joint_frames,
    limits_frame,
    motor_frame,
    pose_frames,
    status_frame,
)
from kc_vla.arm.emulator.gripper import EmulatedGripper
from kc_vla.arm.emulator.joint_torques import MotorCommands
from kc_vla.arm.emulator.mit_frames import MitFrame, mit_move, taken_apart
from kc_vla.arm.emulator.setting_frames import (
    CollisionLevels,
    GripperSetting,
    JointSetting,
    ParameterQuery,
    Parameters,
    Role,
    RoleSetting,
    Setting,
    answer_frame,
    collision_frame,
    gripper_setting_frame,
    leader_frames,
)
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import Robot, RobotError

FIRMWARE = "S-V1.8-5"
COLLISION_LEVEL = 5
"""The level of each joint of an arm that was set up."""
_STANDBY, _CONTROL_BUS, _TEACHING = 0, 1, 2
_BEGIN_TEACHING, _END_TEACHING = 1, 2
_MOTOR_HOT, _COLLISION, _ENABLED = 1, 4, 6
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
        gripper: its gripper.
        limits: joint limits that it has, at first those from the factory.
        levels: collision level of each joint; one with 0 reports no collision.
        load: end load that it is set to, 0 none, 1 half, 2 full.
        mount: installation position that it is set to, 1 upright, 2 left, 3 right.
        role: whether it reports and obeys, or leads another arm: then it sends commands, and nothing else.
        zero: angle of the body at which each joint reports 0 (6,), rad.
        off: it is switched off: it reports nothing, and has no power.
        dead: whether each joint has lost its power supply, (6,).
        silent: whether the driver of each joint gives no answer, (6,).
        collision: whether each joint collides, (6,).
        blocked: whether something is in the way of each joint of a simulated body, (6,).
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
        self.gripper = EmulatedGripper(robot.opening)
        self.limits, self.levels, self.load, self.mount = robot.limits, (COLLISION_LEVEL,) * joints, 0, 1
        self.role = self._next_role = Role.FOLLOWER
        self.zero, self.off = np.zeros(joints), False
        self.dead = np.zeros(joints, bool)
        self.silent = np.zeros(joints, bool)
        self.collision = np.zeros(joints, bool)
        self.blocked: NDArray[np.bool_] = np.zeros(joints, bool)
        self.heat = np.full(joints, 35)
        self.teach, self.taught = 0, False
        self._control, self._move, self._speed = 0, Move.POSE, 0
        self._stopped = False
        self._enables_wanted = 1
        self._over_limit = np.zeros(joints, bool)
        self._chance = np.random.default_rng(0)

    @property
    def status(self) -> Status:
        """Return the gravest status of all that is wrong."""
        if self._stopped:
            return Status.STOPPED
        if self.silent.any():
            return Status.JOINT_SILENT
        if self._noticed.any():
            return Status.COLLISION
        return Status.OUT_OF_RANGE if self._over_limit.any() else Status.NORMAL

    def press_teach(self) -> None:
        """Press the teach button: a person leads the arm by hand until it is released and the arm is reset."""
        self.teach, self._control, self.taught = 1, _TEACHING, True
        self._hold()

    def _hold(self) -> None:
        """Leave the MIT mode, where the joints are."""
        if self.body.commands is not None:
            self.body.targets, self.body.commands = self.body.angles.copy(), None

    def release_teach(self) -> None:
        """Release the teach button; the arm stays in standby until it is reset, as users report."""
        if self.teach:
            self.teach, self._control = 0, _STANDBY

    def switch_off(self) -> None:
        """Cut the supply: the motors lose their power, and what the arm keeps is what it was set to."""
        self.off, self.role = True, self._next_role
        self.body.powered[:] = False
        self.gripper.lose_power()
        self._stopped = self.body.descending = self.taught = False
        self.body.commands = None
        self.teach, self._control, self._move, self._enables_wanted = 0, _STANDBY, Move.POSE, 1

    def lead(self) -> None:
        """Become a leader, as a pendant or another program has it: the arm can be led by hand, and obeys no command."""
        self.role = self._next_role = Role.LEADER
        self._hold()
        self.body.targets[:] = self.body.angles

    def receive(self, command: Command | Setting | MitFrame) -> tuple[Frame, ...]:
        """Take a command; return the answer to a query or a setting.

        Raises:
            FrameError: an arm with this firmware does not understand it.
        """
        if self.off:
            return ()
        if self.role is Role.LEADER and not isinstance(command, RoleSetting | Stop):
            return ()
        match command:
            case Stop():
                self._stop(command)
            case ModeCommand():
                self._change_mode(command)
            case MitFrame():
                self._command_motor(command)
            case JointTarget():
                self._aim(command)
            case GripperTarget():
                self.gripper.receive(command)
            case MotorPower():
                self._power(command)
                return (answer_frame(0x471),)
            case LimitQuery():
                return tuple(self._limits(motor) for motor in command.motors)
            case FirmwareQuery():
                return firmware_frames(self._firmware)
            case _:
                return self._set(command)
        return ()

    def step(self, seconds: float) -> None:
        """Let some milliseconds pass."""
        self.body.powered &= ~self.dead
        self.body.step(seconds, self._speed / 100)
        if not self.off:
            self.gripper.step(seconds)

    def fast_feedback(self) -> Iterator[Frame]:
        """Yield what the arm reports 200 times a second."""
        body = self.body
        seen = np.degrees(body.angles - self.zero) * 1e3 + self._chance.normal(0.0, _NOISE, len(body.angles))
        if self.off:
            return
        if self.role is Role.LEADER:
            yield from leader_frames(_rounded(seen), round(self.gripper.reported * 1e6))
            return
        apart = np.abs(body.targets - body.angles) if body.commands is None else np.abs(body.speeds)
        moving = bool((apart > _REACHED)[body.powered].any())
        yield status_frame(
            control=self._control,
            status=self.status,
            move=self._move,
            teach=self.teach,
            moving=moving,
            over_limit=self._over_limit.tolist(),
            lost=self.silent.tolist(),
        )
        pose = self.kinematics.flange(body.angles - self.zero)
        turned = Rotation.from_matrix(pose[:3, :3]).as_euler("xyz", degrees=True)
        yield from pose_frames(_rounded(pose[:3, 3] * 1e6), _rounded(turned * 1e3))
        yield from joint_frames(_rounded(seen))
        yield from self.gripper.feedback()
        for k in np.flatnonzero(~self.silent).tolist():
            yield motor_frame(k + 1, round(body.speeds[k] * 1e3), 0, round((body.angles[k] - self.zero[k]) * 1e3))

    def slow_feedback(self) -> Iterator[Frame]:
        """Yield what the joints' motor drivers report 40 times a second."""
        silent = self.silent | self.off | (self.role is Role.LEADER)
        for k in np.flatnonzero(~silent).tolist():
            hot, collision, powered = self.heat[k] > _TOO_HOT, self._noticed[k], self.body.powered[k]
            status = int(hot) << _MOTOR_HOT | int(collision) << _COLLISION | int(powered) << _ENABLED
            yield driver_frame(k + 1, 240, int(self.heat[k]), int(self.heat[k]), status, 0)

    @property
    def _noticed(self) -> NDArray[np.bool_]:
        """Return which joints notice that they collide (6,): a level of 0 detects nothing."""
        return (self.collision | self.blocked) & (np.array(self.levels) > 0)

    def _set(self, setting: Setting) -> tuple[Frame, ...]:
        """Take a setting; return its answer, or that to a query which comes in the same frame."""
        match setting:
            case GripperSetting():
                self.gripper.setting = setting
                return (answer_frame(0x47D),)
            case CollisionLevels():
                self.levels = setting.levels
                return (answer_frame(0x47A),)
            case RoleSetting():
                self._next_role = setting.role
                if setting.role is Role.LEADER:  # a leader becomes a follower when it is switched on again
                    self.lead()
                return (answer_frame(0x470),)
            case JointSetting():
                rows = np.array(setting.motors) - 1
                unpowered = not self.body.powered[rows].any()
                if setting.zero and unpowered:
                    self.zero[rows] = self.body.angles[rows]
                if setting.clear:
                    self.collision[rows] = False
                return (answer_frame(0x475, setting.zero and unpowered),)
            case Parameters():
                return self._set_parameters(setting)
        raise AssertionError(setting)

    def _set_parameters(self, setting: Parameters) -> tuple[Frame, ...]:
        if setting.query is ParameterQuery.COLLISION:
            return (collision_frame(self.levels),)
        if setting.query is ParameterQuery.GRIPPER:
            return (gripper_setting_frame(self.gripper.setting),)
        if setting.factory_limits:
            self.limits = self.robot.limits
        self.load = self.load if setting.load is None else setting.load
        return (answer_frame(0x477),) if setting.factory_limits or setting.load is not None else ()

    def _stop(self, command: Stop) -> None:
        if command.code == StopCode.STOP:
            self._stopped, self.body.descending, self.body.commands = True, True, None
        elif command.code == StopCode.RESUME:
            self._stopped = self.body.descending = False
            self.taught = bool(self.teach)
            self.collision[:] = False  # it clears all errors; who still pushes is felt again
            self._control = _TEACHING if self.teach else _STANDBY
            self.body.commands = None
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
        zero, limits = self.zero[rows], self.limits
        lowest, highest, at = limits.lowest[rows], limits.highest[rows], self.body.angles[rows] - zero
        self._over_limit[rows] = (wanted < lowest - 1e-6) | (wanted > highest + 1e-6)
        # A joint that is out of its range is followed on its way back in; else it stays where it was sent.
        further = (wanted < np.minimum(lowest, at - _NEAR)) | (wanted > np.maximum(highest, at + _NEAR))
        outside = self._over_limit[rows] & (further | ((at >= lowest - _NEAR) & (at <= highest + _NEAR)))
        self.body.targets[rows] = np.where(outside, self.body.targets[rows], wanted + zero)

    def _change_mode(self, command: ModeCommand) -> None:
        """Take a kind of motion; an arm that a person leads or that was stopped does not."""
        if self.taught or self._stopped:
            return
        is_mit = command.move in (Move.MIT, Move.MIT_LATER)
        if is_mit and (command.move != mit_move(self._firmware) or not command.mit):
            raise FrameError(f"frame 0x151 asks for move {command.move:d}: not the MIT mode of {self._firmware}")
        self.mount = command.mount or self.mount
        if is_mit and self._is_out_of_range:  # users report that the firmware then stays as it is, without a word
            return
        self._control, self._move, self._speed = command.control, command.move, command.speed
        if not is_mit:
            self._hold()
        elif self.body.commands is None:
            try:
                _ = self.body.dynamics
            except RobotError as error:
                raise FrameError(f"the MIT mode is not emulated: {error}") from error
            self.body.commands = MotorCommands()

    @property
    def _is_out_of_range(self) -> bool:
        at = self.body.angles - self.zero
        return bool(((at < self.limits.lowest - _NEAR) | (at > self.limits.highest + _NEAR)).any())

    def _command_motor(self, frame: MitFrame) -> None:
        target, commands, row = taken_apart(frame, self._firmware), self.body.commands, frame.motor - 1
        if commands is None or self._control != _CONTROL_BUS or self._stopped:
            return
        commands.angles[row], commands.speeds[row] = target.angle + self.zero[row], target.speed
        commands.stiffness[row], commands.damping[row] = target.stiffness, target.damping
        commands.torques[row] = target.torque

    def _limits(self, motor: int) -> Frame:
        limits, joint = self.limits, motor - 1
        highest, lowest = np.degrees([limits.highest[joint], limits.lowest[joint]]) * 10
        return limits_frame(motor, round(highest), round(lowest), round(limits.speed[joint] * 1e3))


def _rounded(values: NDArray[np.float64]) -> list[int]:
    return [round(value) for value in values.tolist()]
