"""The gripper of an emulated Piper: its fingers, its zero, and what its driver reports."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kc_vla.arm.emulator.frames import Frame, GripperTarget, gripper_frame
from kc_vla.arm.emulator.setting_frames import GripperSetting
from kc_vla.arm.emulator.simulated_body import FingerDrive, SimulatedBody

GRIPPER_SPEED = 0.15
"""At which the width changes, m/s."""
_TOUCH = 1e-6
"""Fingers touch a thing that is no further from them than this, m."""
_OVERCURRENT, _ERROR, _ENABLED, _HOMED = 1 << 2, 1 << 5, 1 << 6, 1 << 7
_ON, _CLEAR = 1, 2
"""Bits of the code of frame 0x159."""


class EmulatedGripper:
    """Two fingers that follow a width with power, and stay where they are without.

    Attributes:
        width: true width between the fingers, m.
        setting: what the gripper is set to; with a stroke of 0, as out of the box, it does not move and reports 0.
        zero: width at which it reports 0, m.
        between: width of what is between the fingers, m; 0.0 for nothing.
        simulated: the body whose fingers a simulator moves by `drive`; None: the gripper moves its own.
        homed: whether its driver knows a zero.
        silent: its cable is broken: it reports nothing, and has no power.
        clears: how often its errors were cleared.
    """

    def __init__(self, stroke: float) -> None:
        """Put together a gripper that is closed, with a stroke, m, that is set."""
        self.width = self.zero = self.between = 0.0
        self.simulated: SimulatedBody | None = None
        self.setting = GripperSetting(100, round(stroke * 1e3), 1)
        self.homed, self.silent = True, False
        self.clears = 0
        self._target, self._torque, self._on, self._failed = 0.0, 0, False, False

    @property
    def reported(self) -> float:
        """Return the width that it reports, m."""
        return self.width - self.zero if self.setting.stroke else 0.0

    @property
    def gripping(self) -> int:
        """Return the torque with which the fingers press on what is between them, mN m; 0 where they touch nothing."""
        touches = self.width <= self.between + _TOUCH or (self.simulated is not None and self.simulated.touch)
        return self._torque if self._on and self._target < self.width and touches else 0

    @property
    def drive(self) -> FingerDrive | None:
        """Return what the motor does; None: it has no power, and the fingers stay where they are."""
        if not (self._on and self.setting.stroke and not self.silent):
            return None
        return FingerDrive(max(self._target, min(self.between, self.width), 0.0), self._torque * 1e-3)

    def receive(self, command: GripperTarget) -> None:
        """Take a command. A zero is set only without power, as the vendor's demo does."""
        if self.silent:
            return
        if command.code & _CLEAR:
            self._failed = False
            self.clears += 1
        self._target = float(np.clip(command.opening * 1e-6, 0.0, self.setting.stroke * 1e-3)) + self.zero
        self._torque, self._on = command.torque, bool(command.code & _ON) and not self._failed
        if command.zero and not command.code & _ON:
            self.zero, self.homed = self.width, True

    def fail(self) -> None:
        """Report too much current: the fingers have no power until the error is cleared."""
        self._failed, self._on = True, False

    def lose_power(self) -> None:
        """Have no power, and no error that is remembered."""
        self._on = self._failed = False

    def step(self, seconds: float) -> None:
        """Let some milliseconds pass."""
        drive = self.drive
        if self.simulated is not None:
            self.width = self.simulated.width
        elif drive is not None:
            self.width += float(np.clip(drive.width - self.width, -GRIPPER_SPEED * seconds, GRIPPER_SPEED * seconds))

    def feedback(self) -> Iterator[Frame]:
        """Yield what it reports 200 times a second."""
        if not self.silent:
            status = self._on * _ENABLED | self.homed * _HOMED | self._failed * (_OVERCURRENT | _ERROR)
            yield gripper_frame(round(self.reported * 1e6), self.gripping, status)
