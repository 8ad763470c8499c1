"""A straight way in joint space, in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.core.robot import Vector


@dataclass(frozen=True, eq=False)
class Ramp:
    """From `start` to `end` (N,), rad, `begun` at a time in s and of some `seconds`."""

    start: Vector
    end: Vector
    begun: float
    seconds: float

    @classmethod
    def stay(cls, angles: Vector) -> Ramp:
        """Return a ramp that stays at `angles` (N,), rad."""
        return cls(np.array(angles, float), np.array(angles, float), 0.0, 1.0)

    @classmethod
    def slow(cls, start: Vector, end: Vector, now: float, speed: Vector) -> Ramp:
        """Return the way on which no joint is faster than its `speed` (N,), rad/s."""
        return cls(start, end, now, max(float((np.abs(end - start) / speed).max()), 1e-3))

    def at(self, now: float) -> Vector:
        """Return where to be at that time (N,), rad."""
        share = min(max((now - self.begun) / self.seconds, 0.0), 1.0)
        return np.asarray(self.start + share * (self.end - self.start))

    def speeds(self, now: float) -> Vector:
        """Return how fast it leads on at that time (N,), rad/s."""
        return np.asarray((self.end - self.start) / self.seconds * (now < self.begun + self.seconds))

    def over(self, now: float) -> float:
        """Return seconds since it has ended."""
        return now - self.begun - self.seconds
