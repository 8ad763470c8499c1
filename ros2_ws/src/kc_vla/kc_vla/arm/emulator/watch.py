"""The watch over the commands and the motion of an emulated arm: would a real arm have jumped or fallen?"""

from __future__ import annotations

import numpy as np

from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.frames import Command, JointTarget, ModeCommand, MotorPower, Stop, StopCode
from kc_vla.arm.emulator.mit_frames import MitFrame
from kc_vla.arm.emulator.setting_frames import Setting, is_written

_ROUNDING = 1e-5
"""rad, a little more than the half of a wire unit."""
_NOISE = np.radians(0.02)
"""rad, of an angle that the arm reports."""
_RESTS = 0.06
"""An arm lies when no joint is further than this from its home pose, rad."""


class Watch:
    """What was seen so far.

    Attributes:
        commands: joint targets that came.
        out_of_limits: those of them that lie out of a joint's range, and further out than the one before or the arm.
        largest_step: of a joint from target to target, rad; the first is measured from where the arm was.
        fastest: any joint moved while all had power, rad/s.
        disabled_raised: how often power was taken from an arm that did not lie.
        set_with_power: frames that set what the arm keeps, and came while a motor had power.
        lowest_flange: of the flange while all joints had power, m above the base.
    """

    def __init__(self, arm: EmulatedArm) -> None:
        self._arm = arm
        self._aim = arm.body.angles.copy()
        self.commands = self.out_of_limits = self.disabled_raised = self.set_with_power = 0
        self.largest_step = self.fastest = 0.0
        self.lowest_flange = self._height()

    def __str__(self) -> str:
        """Return one line for a person."""
        return (
            f"{self.commands} joint commands, {self.out_of_limits} out of limits, largest step "
            f"{np.degrees(self.largest_step):.3f} degrees, fastest joint {np.degrees(self.fastest):.1f} degrees/s, "
            f"lowest flange {self.lowest_flange:.3f} m, "
            f"{self.disabled_raised} times disabled while raised"
        )

    def command(self, command: Command | Setting | MitFrame) -> None:
        """Look at a command before the arm gets it."""
        if isinstance(command, MitFrame):
            return
        if isinstance(command, JointTarget):
            self._target(command)
        elif isinstance(command, ModeCommand) and self._arm.body.commands is not None and not command.mit:
            self._aim = self._arm.body.angles - self._arm.zero  # out of the MIT mode it begins where it is
        elif isinstance(command, MotorPower):
            if not command.on:
                self._loses_power()
            if command.on and not self._arm.body.powered.all():
                self._aim = self._arm.body.angles - self._arm.zero
        elif is_written(command):
            self.set_with_power += int(self._arm.body.powered.any())
        elif isinstance(command, Stop) and command.code == StopCode.RESUME:
            self._loses_power()

    def _loses_power(self) -> None:
        body = self._arm.body
        self.disabled_raised += int(body.powered.any() and not self._lies() and not body.held)

    def moved(self) -> None:
        """Look at the arm after a step."""
        if self._arm.body.powered.all():
            self.fastest = max(self.fastest, float(np.abs(self._arm.body.speeds).max()))
            self.lowest_flange = min(self.lowest_flange, self._height())

    def _target(self, command: JointTarget) -> None:
        self.commands += 1
        rows = slice(command.first, command.first + 2)
        wanted = np.radians(np.array(command.angles) / 1e3)
        limits = self._arm.robot.limits
        aim = self._aim[rows]
        lowest, highest = limits.lowest[rows] - _ROUNDING, limits.highest[rows] + _ROUNDING
        lowest = np.where(aim < lowest, aim - _NOISE, lowest)
        highest = np.where(aim > highest, aim + _NOISE, highest)
        outside = (wanted < lowest) | (wanted > highest)
        self.out_of_limits += int(outside.any())
        self.largest_step = max(self.largest_step, float(np.abs(wanted - self._aim[rows]).max()))
        self._aim[rows] = wanted

    def _lies(self) -> bool:
        return bool((np.abs(self._arm.body.angles - self._arm.robot.rest) < _RESTS).all())

    def _height(self) -> float:
        flange = self._arm.kinematics.flange(self._arm.body.angles)[:3, 3]
        return float(-np.dot(self._arm.robot.down, flange))
