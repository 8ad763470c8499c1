"""A way of the joints in time: when it begins, and how it comes to rest early without leaving the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from kc_vla.core.robot import Vector
from kc_vla.policy.trajectory.spline import JointSpline, MotionState, TrajectoryPoint

_LEAD_IN_S = 0.5
"""Time in which the distance between the arm and the first point of a trajectory is worked off, s."""
_BRAKING = 0.5
"""Share of the acceleration limits that an early end uses: the way itself may need the other half."""
_SHORTEST_S = 0.1
"""An early end takes at least so long, s."""


@dataclass(frozen=True, eq=False)
class PathMotion:
    """The motion along a way. It may slow down before the end; the arm then stays on the way.

    Attributes:
        way: the way of N joints.
        begins_s: time of its start, s.
        lead_in: distance (N,), rad, of the arm from the start of the way.
        slows_s: time from which on it slows down, s; infinite while it does not.
        slow_for_s: time that this takes, s.
    """

    way: JointSpline
    begins_s: float
    lead_in: Vector
    slows_s: float = np.inf
    slow_for_s: float = _SHORTEST_S

    @classmethod
    def stay(cls, positions: Vector, now_s: float) -> PathMotion:
        """Return a motion that stays at `positions` (N,), rad."""
        here = np.array(positions, float)
        return cls(JointSpline([TrajectoryPoint(0.0, here)]), now_s, np.zeros(len(here)))

    @property
    def ends_s(self) -> float:
        """Return the time at which the joints are to be at rest, s."""
        end_s = self.begins_s + self.way.duration_s
        if end_s <= self.slows_s:
            return end_s
        left_s = 1.0 - 2.0 * (end_s - self.slows_s) / self.slow_for_s  # below 0: it rests before the end of the way
        return self.slows_s + self.slow_for_s * (1.0 - math.sqrt(max(left_s, 0.0)))

    @property
    def is_cut_short(self) -> bool:
        """Return whether it ends before the end of the way."""
        return self.slows_s < np.inf

    def at(self, now_s: float) -> MotionState:
        """Return where the joints are to be at a time, s, and how they are to move."""
        slowing_s = min(max(now_s - self.slows_s, 0.0), self.slow_for_s)
        passed_s = min(now_s, self.slows_s) - self.begins_s + slowing_s - slowing_s**2 / (2 * self.slow_for_s)
        rate = 1.0 - slowing_s / self.slow_for_s
        state = self.way.at(max(passed_s, 0.0))
        brakes = -state.velocities / self.slow_for_s if 0.0 < slowing_s < self.slow_for_s else 0.0
        share = min(max((now_s - self.begins_s) / _LEAD_IN_S, 0.0), 1.0)
        left = 1.0 - share**2 * (3.0 - 2.0 * share)
        fades = -6.0 * share * (1.0 - share) / _LEAD_IN_S
        return MotionState(
            state.positions + left * self.lead_in,
            rate * state.velocities + fades * self.lead_in,
            rate**2 * state.accelerations + brakes,
        )

    def slowed(self, now_s: float, acceleration: Vector) -> PathMotion:
        """Return the motion that comes to rest on the way from `now_s` on; one that slows down already is unchanged.

        Args:
            now_s: time, s.
            acceleration: limits (N,), rad/s2.
        """
        if self.is_cut_short:
            return self
        speeds = np.abs(self.at(now_s).velocities)
        return replace(
            self, slows_s=now_s, slow_for_s=max(_SHORTEST_S, float((speeds / (_BRAKING * acceleration)).max()))
        )
