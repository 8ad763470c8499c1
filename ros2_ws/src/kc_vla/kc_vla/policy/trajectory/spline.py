"""The way of the joints through the points of a trajectory, interpolated as `joint_trajectory_controller` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kc_vla.core.robot import Vector

_SAMPLES = 8
"""Samples of each segment that are looked at for its limits."""


@dataclass(frozen=True, eq=False)
class MotionState:
    """Where N joints are, and how they move.

    Attributes:
        positions: (N,), rad.
        velocities: (N,), rad/s.
        accelerations: (N,), rad/s2.
    """

    positions: Vector
    velocities: Vector
    accelerations: Vector

    @classmethod
    def at_rest(cls, positions: Vector) -> MotionState:
        """Return the state of joints that stand at `positions` (N,), rad."""
        still = np.zeros(len(positions))
        return cls(np.array(positions, float), still, still.copy())


@dataclass(frozen=True, eq=False)
class TrajectoryPoint:
    """A point of a trajectory.

    Attributes:
        time_s: time from the start, s.
        positions: (N,), rad.
        velocities: (N,), rad/s; None where the point has none.
        accelerations: (N,), rad/s2; None where the point has none.
    """

    time_s: float
    positions: Vector
    velocities: Vector | None = None
    accelerations: Vector | None = None


class JointSpline:
    """A way through points: each segment is linear, cubic or quintic, by what both of its ends have.

    Ends with velocities and accelerations give a quintic segment, ends with velocities a cubic one, and others a
    straight one. Before the first point and after the last one the joints stand still.
    """

    def __init__(self, points: Sequence[TrajectoryPoint]) -> None:
        """Compute the polynomials.

        Args:
            points: one or more, their times ascending strictly.
        """
        self._times = np.array([point.time_s for point in points])
        self._ends = points[0].positions, points[-1].positions
        self._coefficients = np.array([_segment(*ends) for ends in pairwise(points)])  # (K - 1, 6, N)

    @property
    def duration_s(self) -> float:
        """Return the time of the last point, s."""
        return float(self._times[-1])

    def at(self, time_s: float) -> MotionState:
        """Return where the joints are, and how they move, at a time from the start, s."""
        if not self._times[0] <= time_s < self._times[-1]:
            return MotionState.at_rest(self._ends[int(time_s >= self._times[-1])])
        index = int(np.searchsorted(self._times, time_s, "right")) - 1
        seconds = self._times[index + 1] - self._times[index]
        positions, velocities, accelerations = _derivatives((time_s - self._times[index]) / seconds)
        c = self._coefficients[index]
        return MotionState(positions @ c, velocities @ c / seconds, accelerations @ c / seconds**2)

    def samples(self) -> tuple[Vector, Vector, Vector]:
        """Return times (T,), s, positions (T, N), rad, and velocities (T, N), rad/s, some of each segment."""
        if len(self._times) == 1:
            return self._times, self._ends[0][None], np.zeros((1, len(self._ends[0])))
        shares = np.linspace(0.0, 1.0, _SAMPLES + 1)
        basis = [np.array(rows) for rows in zip(*map(_derivatives, shares), strict=True)]
        seconds = np.diff(self._times)
        times = self._times[:-1, None] + shares * seconds[:, None]
        positions = basis[0] @ self._coefficients
        velocities = basis[1] @ self._coefficients / seconds[:, None, None]
        count = positions.shape[-1]
        return times.reshape(-1), positions.reshape(-1, count), velocities.reshape(-1, count)


def _segment(first: TrajectoryPoint, last: TrajectoryPoint) -> Vector:
    """Return the coefficients (6, N) of a segment, of powers of the share of its time that is over."""
    seconds = last.time_s - first.time_s
    q0, way = first.positions, last.positions - first.positions
    zero = np.zeros_like(q0)
    if first.velocities is None or last.velocities is None:
        return np.array([q0, way, zero, zero, zero, zero])
    v0, v1 = first.velocities * seconds, last.velocities * seconds
    if first.accelerations is None or last.accelerations is None:
        return np.array([q0, v0, 3 * way - 2 * v0 - v1, v0 + v1 - 2 * way, zero, zero])
    a0, a1 = first.accelerations * seconds**2, last.accelerations * seconds**2
    return np.array(
        [
            q0,
            v0,
            a0 / 2,
            10 * way - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1,
            -15 * way + 8 * v0 + 7 * v1 + 1.5 * a0 - a1,
            6 * way - 3 * (v0 + v1) - 0.5 * (a0 - a1),
        ]
    )


def _derivatives(s: float) -> tuple[Vector, Vector, Vector]:
    """Return the powers of `s`, and their first and second derivatives, (6,) each."""
    return (
        np.array([1.0, s, s**2, s**3, s**4, s**5]),
        np.array([0.0, 1.0, 2 * s, 3 * s**2, 4 * s**3, 5 * s**4]),
        np.array([0.0, 0.0, 2.0, 6 * s, 12 * s**2, 20 * s**3]),
    )
