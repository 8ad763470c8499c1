"""The body of an emulated Piper: six joints that follow targets with power, and fall without it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.emulator.joint_torques import JointTorques, MotorCommands
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import Robot, Vector

ACCELERATION = 15.0
"""rad/s2, of a joint that follows its target."""
FREE_DAMPING, STOP_DAMPING = 2.0, 25.0
"""1/s, of a joint without power, and of one that lets itself down in an emergency stop."""
_GRAVITY = 9.81
_FALLING = 3
"""The first so many joints fall without power; the gears of the wrist hold its light links."""
_ARM = 0.3
"""Length of the pendulum that a falling arm is like, m."""


class Body:
    """Joint angles (6,) in rad and speeds (6,) in rad/s; each joint with power or without, and free or stuck.

    Attributes:
        angles: where the joints are; at first as the arm lies by itself.
        speeds: how fast they turn.
        targets: where those with power are to go.
        powered: which have power, (6,).
        stuck: which cannot turn, whatever drives them, (6,).
        held: people support the arm: no joint falls.
        descending: let down by an emergency stop: nothing is followed, the motors brake.
        commands: of the motors, in the MIT mode; None: the joints follow `targets`.
    """

    def __init__(self, robot: Robot) -> None:
        """Put the joints to their home pose.

        Args:
            robot: whose joints and links these are.
        """
        joints = len(robot.joints)
        self._limits, self._kinematics = robot.limits, Kinematics(robot.links_of(""))
        self._up = -np.array(robot.down)
        self.angles: Vector = robot.rest.copy()
        self.speeds: Vector = np.zeros(joints)
        self.targets: Vector = np.zeros(joints)
        self.powered: NDArray[np.bool_] = np.zeros(joints, bool)
        self.stuck: NDArray[np.bool_] = np.zeros(joints, bool)
        self.descending = self.held = False
        self.commands: MotorCommands | None = None
        self._robot = robot

    @cached_property
    def dynamics(self) -> JointTorques:
        """Return what moves the joints in the MIT mode. Raises: RobotError: the robot's inertias are not known."""
        return JointTorques(self._robot)

    def step(self, seconds: float, speed_share: float) -> None:
        """Let some milliseconds pass; enabled joints move at most at `speed_share` of their velocity limit."""
        if self.commands is not None and not self.descending:
            self._turn(self.commands, seconds)
            return
        speeds = _towards(self.targets - self.angles, self.speeds, speed_share * self._limits.speed, seconds)
        holds = self.powered & (not self.descending)
        if not holds.all():
            damping = STOP_DAMPING if self.descending else FREE_DAMPING
            fallen = (self.speeds + seconds * _fall(self._kinematics, self.angles, self._up)) / (
                1.0 + seconds * damping
            )
            speeds = np.where(holds, speeds, np.zeros_like(fallen) if self.held else fallen)
        self.speeds = np.where(self.stuck, 0.0, speeds)
        free = self.angles + seconds * self.speeds
        self.angles = np.clip(free, self._limits.lowest, self._limits.highest)
        self.speeds = np.where(self.angles == free, self.speeds, 0.0)  # against the end of its range a joint stands

    def _turn(self, commands: MotorCommands, seconds: float) -> None:
        """Let torques turn the joints for some milliseconds."""
        angles, speeds = self.dynamics.step(self.angles, self.speeds, commands, self.powered, seconds)
        fixed = self.stuck | self.held
        self.angles, self.speeds = np.where(fixed, self.angles, angles), np.where(fixed, 0.0, speeds)


def _towards(way: Vector, speeds: Vector, top: Vector, seconds: float) -> Vector:
    """Return speeds that lead along `way` as fast as can be braked at its end."""
    braking = np.sqrt(2.0 * ACCELERATION * np.abs(way))
    wanted = np.sign(way) * np.minimum(np.minimum(top, braking), np.abs(way) / seconds)
    change = ACCELERATION * seconds
    return speeds + np.clip(wanted - speeds, -change, change)


def _fall(kinematics: Kinematics, angles: Vector, up: Vector) -> Vector:
    """Return the acceleration (6,) of joints that nothing holds, rad/s2.

    It goes along the slope of the mean height of the arm's links along `up` (3,), against gravity.
    """
    poses, joints = kinematics.frames(angles), len(angles)
    axes, origins = kinematics.axes(poses), poses[:joints, :3, 3]
    slope = np.array(
        [(np.cross(axes[k], origins[k:] - origins[k]) @ up).sum() / joints for k in range(joints)]
    )  # of the height of all origins that turn with joint k, m/rad
    slope[_FALLING:] = 0.0
    return np.asarray(-_GRAVITY / _ARM**2 * slope)
