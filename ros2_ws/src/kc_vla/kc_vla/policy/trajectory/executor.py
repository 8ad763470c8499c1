"""Follows the trajectories of clients: where the joints are to be at each time, and how each trajectory ends.

There is one motion at a time. A new trajectory replaces the running one and begins where the joints are on their way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kc_vla.core.robot import Robot, Vector
from kc_vla.policy.options import TrajectoryOptions
from kc_vla.policy.trajectory.path_motion import PathMotion
from kc_vla.policy.trajectory.request import (
    TICK_S,
    ArmBounds,
    RequestedTrajectory,
    TrajectoryCode,
    TrajectoryError,
    check_start,
    check_way,
    read_points,
)
from kc_vla.policy.trajectory.spline import JointSpline, MotionState, TrajectoryPoint
from kc_vla.policy.trajectory.tolerances import TrajectoryTolerances
from kc_vla.policy.trajectory.tracking import TrajectoryRun

_FRESH_S = 0.5
"""Age of a measured state from which on nothing begins there, s."""
_LATE_S = 0.2
"""A start so long ago counts as now, s: messages take time, and nothing of the way is to be skipped for it."""
_UNDER_WAY_S = 0.1
"""Time in which the arm still does what it was sent before, s: what is decided now takes effect then."""

_IN_THE_WAY = (TrajectoryCode.PATH_TOLERANCE_VIOLATED, TrajectoryCode.GOAL_TOLERANCE_VIOLATED)
"""What may be because something is in the arm's way."""


class TrajectoryExecutor:
    """The motion of the N joints of one arm. It is not thread-safe.

    Attributes:
        run: the trajectory that was accepted last; None before the first.
    """

    def __init__(self, robot: Robot, options: TrajectoryOptions) -> None:
        """Begin without a motion.

        Args:
            robot: whose joints move.
            options: tolerances.
        """
        self._robot, self._options = robot, options
        self._motions: list[PathMotion] = []  # by their begin; each takes the place of the one before it
        self._measured: tuple[float, MotionState] | None = None
        self._bounds: ArmBounds | None = None
        self.run: TrajectoryRun | None = None

    def begin(
        self, asked: RequestedTrajectory, tolerances: TrajectoryTolerances, bounds: ArmBounds, now_s: float
    ) -> TrajectoryRun:
        """Accept a trajectory; it replaces the running one.

        Args:
            asked: the trajectory.
            tolerances: how far the arm may be from it.
            bounds: limits of the arm.
            now_s: time, s.

        Raises:
            TrajectoryError: it is refused; the running one goes on.
        """
        points = read_points(asked, self._robot)
        check_start(asked, points, now_s)
        if self._measured is None or now_s - self._measured[0] > _FRESH_S:
            raise TrajectoryError(f"no joint state has come for {_FRESH_S:g} s: is the arm connected?")
        run = TrajectoryRun(points, tolerances, asked.start_s or now_s, self._robot)
        waits = run.starts_s > now_s + _UNDER_WAY_S
        before = self._slowed(now_s, bounds) if waits else self._motions
        motion = self._along(run, bounds, before, now_s)
        if self.run is not None:
            self.run.finish(TrajectoryCode.INVALID_GOAL, "a newer trajectory has replaced this one")
        self.run, self._bounds, self._motions = run, bounds, before
        if not waits:
            self._schedule(run, motion, now_s)
        return run

    def cancel(self, run: TrajectoryRun, now_s: float) -> None:
        """Bring the arm to rest on the way, because the client has canceled; the run ends once the arm stands."""
        if run is not self.run or run.outcome is not None or run.is_canceled:
            return
        run.is_canceled = True
        if self._motions and self._bounds is not None:
            self._motions = self._slowed(now_s, self._bounds)
        else:
            run.finish(TrajectoryCode.SUCCESSFUL, "canceled before the arm moved")

    def interrupt(self, text: str) -> None:
        """End the trajectory, and forget where the joints should be: another part of the stack holds or moves the arm.

        Args:
            text: reason and what to do, in one line.
        """
        self._motions = []
        if self.run is not None:
            self.run.finish(TrajectoryCode.INVALID_GOAL, text)

    def measure(self, stamp_s: float, positions: Vector, velocities: Vector) -> None:
        """Take in a measured state of the joints.

        Args:
            stamp_s: its stamp, s.
            positions: (N,), rad.
            velocities: (N,), rad/s.
        """
        state = MotionState(np.array(positions, float), np.array(velocities, float), np.zeros(len(positions)))
        self._measured = stamp_s, state
        self._start_if_due(stamp_s)
        if not self._motions or self.run is None or self.run.outcome is not None:
            return
        self.run.compare(self._desired(stamp_s), state, stamp_s, self._motions[-1])
        if self.run.outcome is not None and self.run.outcome.code in _IN_THE_WAY:
            self._stop_where_it_is(stamp_s)

    def desired(self, times_s: Vector, here: Vector) -> Vector:
        """Return where the joints are to be (T, N), rad.

        Args:
            times_s: (T,), s, ascending.
            here: where the joints are (N,), rad; without a motion the arm stays there.
        """
        if not self._motions:
            self._motions = [PathMotion.stay(here, float(times_s[0]))]
        self._start_if_due(float(times_s[0]))
        return np.array([self._desired(float(time_s)).positions for time_s in times_s])

    def _desired(self, at_s: float) -> MotionState:
        """Return where the joints are to be at a time, s."""
        return _motion_of(self._motions, at_s).at(at_s)

    def _schedule(self, run: TrajectoryRun, motion: PathMotion, now_s: float) -> None:
        """Have a motion take the place of those before it from its begin on."""
        earlier = [each for each in self._motions if each.begins_s < motion.begins_s]
        over = sum(each.begins_s <= now_s for each in earlier) - 1  # all but the last of them are over
        self._motions = [*earlier[max(over, 0) :], motion]
        run.began = True

    def _slowed(self, now_s: float, bounds: ArmBounds) -> list[PathMotion]:
        """Return the motions, the last of which comes to rest as soon as it can."""
        return [
            *self._motions[:-1],
            *(each.slowed(now_s + _UNDER_WAY_S, bounds.acceleration) for each in self._motions[-1:]),
        ]

    def _stop_where_it_is(self, now_s: float) -> None:
        """Stay where the arm comes to rest from where it is: what lies in its way is not to be pressed on."""
        assert self._measured is not None
        assert self._bounds is not None
        state, limits = self._measured[1], self._robot.limits
        braking = state.velocities * np.abs(state.velocities) / self._bounds.acceleration
        there = np.clip(state.positions + braking, limits.lowest, limits.highest)
        self._motions = [PathMotion.stay(there, now_s)]

    def _start_if_due(self, now_s: float) -> None:
        run = self.run
        if run is None or run.outcome is not None or run.began or run.is_canceled:
            return
        if now_s < run.starts_s - _UNDER_WAY_S:
            return
        assert self._bounds is not None
        try:
            self._schedule(run, self._along(run, self._bounds, self._motions, now_s), now_s)
        except TrajectoryError as error:  # the arm is elsewhere than it was to be by now
            run.finish(error.code, str(error))

    def _along(self, run: TrajectoryRun, bounds: ArmBounds, before: list[PathMotion], now_s: float) -> PathMotion:
        """Return the motion that follows what is left of a trajectory after the motions before it.

        Raises:
            TrajectoryError: the arm cannot follow it from there.
        """
        begins_s = max(now_s + _UNDER_WAY_S, run.starts_s)
        over_s = begins_s - run.starts_s if now_s - run.starts_s > _LATE_S else 0.0
        if over_s >= run.points[-1].time_s > 0.0:
            raise TrajectoryError(
                "its time was over before the arm could begin: send it again", TrajectoryCode.OLD_HEADER_TIMESTAMP
            )
        start, first = self._start(before, begins_s), run.points[0]
        left = [replace(point, time_s=point.time_s - over_s) for point in run.points if point.time_s > over_s + TICK_S]
        lead_in = np.zeros(len(self._robot.joints))
        if over_s == 0.0 and first.time_s <= TICK_S:
            lead_in = start.positions - first.positions
            self._check_near(lead_in, first)
            way = JointSpline([first, *left])
        else:
            here = TrajectoryPoint(0.0, start.positions, start.velocities, start.accelerations)
            way = JointSpline([here, *left])
        check_way(way, self._robot, bounds)
        return PathMotion(way, begins_s, lead_in)

    def _start(self, before: list[PathMotion], begins_s: float) -> MotionState:
        """Return where the motions before lead to, or where the joints are while there are none."""
        if before:
            return _motion_of(before, begins_s).at(begins_s)
        assert self._measured is not None
        return MotionState.at_rest(self._measured[1].positions)

    def _check_near(self, offset: Vector, first: TrajectoryPoint) -> None:
        joint = int(np.abs(offset).argmax())
        if abs(offset[joint]) > self._options.start_tolerance:
            raise TrajectoryError(
                f"{self._robot.joints[joint]} is at {first.positions[joint] + offset[joint]:.3f} rad, the trajectory "
                f"begins at {first.positions[joint]:.3f} rad and at time 0: plan from where the arm is, or give the "
                "first point the time to get there"
            )


def _motion_of(motions: list[PathMotion], at_s: float) -> PathMotion:
    """Return the motion of a time, s: the last that has begun by then, or the first."""
    return next((each for each in reversed(motions) if each.begins_s <= at_s), motions[0])
