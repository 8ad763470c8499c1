"""What an emulated arm shows of itself, as one state for each control step of a simulator."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kc_vla.arm.emulator.process import View
from kc_vla.arm.emulator.simulated_body import FingerDrive
from kc_vla.core.robot import Vector

_MOST_BEHIND_S = 1.0
"""A simulator that is further behind the arm leaves out what lies between."""


@dataclass(frozen=True)
class ArmSample:
    """An arm at the end of a control step.

    Attributes:
        time: steady time, s.
        angles: of the joints (6,), rad.
        drive: what the motor of the gripper does; None without power.
    """

    time: float
    angles: Vector
    drive: FingerDrive | None


class ArmTrack:
    """The views of an emulated arm, in between which its joints move evenly.

    Attributes:
        skipped: s that were left out since the start.
    """

    def __init__(self, period: float) -> None:
        """Begin without a view; a control step takes `period`, s."""
        self._period = period
        self._views: deque[View] = deque()
        self._time = float("-inf")
        self.skipped = 0.0

    def add(self, views: Iterable[View]) -> None:
        """Take in newer views, the oldest first."""
        self._views.extend(views)

    def next_state(self) -> ArmSample | None:
        """Return the state at the end of the next control step; None before the arm has come so far."""
        if not self._views:
            return None
        newest = self._views[-1].time
        if not np.isfinite(self._time):
            self._time = newest - self._period
        if newest - self._time > _MOST_BEHIND_S:
            self.skipped += newest - self._period - self._time
            self._time = newest - self._period
        due = self._time + self._period
        if newest < due:
            return None
        while len(self._views) > 1 and self._views[1].time <= due:
            self._views.popleft()
        before, after = self._views[0], self._views[min(1, len(self._views) - 1)]
        span = after.time - before.time
        share = np.clip((due - before.time) / span, 0.0, 1.0) if span > 0 else 0.0
        self._time = due
        return ArmSample(due, before.angles + share * (after.angles - before.angles), before.drive)
