"""A servo whose time passes only when the test says so, and what must be true of all that it sent."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kc_vla.arm.interface import MovableArm
from kc_vla.arm.outside import NOISE, beyond
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode, Report, ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import JointLimits, Vector
from tests.support.piper import KINEMATICS

SETTINGS = ServoSettings()
PERIOD = SETTINGS.period
EVERYWHERE = Workspace(KINEMATICS, (-2.0, -2.0, -2.0), (2.0, 2.0, 2.0))
_ROUNDING = 3e-6


class SteppedArm(MovableArm, Protocol):
    """An arm whose time a test lets pass.

    Attributes:
        angles: where its joints are (N,), rad.
        sent: all angles that it was sent.
    """

    angles: Vector
    sent: list[Vector]

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        ...


class Harness:
    """A servo, its arm and a clock; `begun`: how much had been sent each time it began, and where it was then."""

    def __init__(self, arm: SteppedArm, settings: ServoSettings = SETTINGS, workspace: Workspace = EVERYWHERE) -> None:
        self.arm, self.settings = arm, settings
        self.servo = Servo(arm, settings, workspace)
        self.now = 100.0
        self.begun: list[tuple[int, np.ndarray]] = []

    def run(self, seconds: float) -> Report:
        for _ in range(max(1, round(seconds / self.settings.period))):
            self.now += self.settings.period
            gets_power, sent, at = self.servo.mode is Mode.POWERING, len(self.arm.sent), self.arm.angles.copy()
            report = self.servo.step(self.now)
            if gets_power and report.set_point is not None:
                self.begun.append((sent, at))
            self.arm.pass_time(self.settings.period)
        return report

    def resume(self, leads_back: bool = True) -> None:
        self.servo.resume(self.now, leads_back)
        while self.servo.mode is Mode.POWERING:
            self.run(self.settings.period)


def check(harness: Harness, step: np.ndarray, limits: JointLimits) -> None:
    """Nothing that was sent is a jump: not the first from where the arm was, nor any from the one before."""
    first = dict(harness.begun)
    last = None
    for number, sent in enumerate(harness.arm.sent):
        if number in first:
            last = first[number]
            assert np.abs(sent - last).max() <= max(NOISE, 1e-3 * step.max()) + _ROUNDING
        assert last is not None
        assert (np.abs(sent - last) <= step + _ROUNDING).all()
        assert (beyond(sent, limits) <= beyond(last, limits) + _ROUNDING).all()
        last = sent
