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
"""Time in which the arm still does what it was sent before, s: braking earlier would lead it back."""


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
        self._motion: PathMotion | None = None
        self._measured: tuple[float, MotionState] | None = None
        self._bounds: ArmBounds | None = None
        self.run: TrajectoryRun | None = None

    @property
    def is_busy(self) -> bool:
        """Return whether a trajectory has not ended yet."""
        return self.run is not None and self.run.outcome is None

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
        run = TrajectoryRun(points, tolerances, asked.start_s or now_s, self._robot)
        before, begins_s = self._motion, max(now_s, run.starts_s)
        if before is not None and run.starts_s > now_s:
            before = before.slowed(now_s + _UNDER_WAY_S, bounds.acceleration)
        motion = self._along(run, bounds, self._state(before, begins_s, now_s), begins_s)
        if self.run is not None:
            self.run.finish(TrajectoryCode.INVALID_GOAL, "a newer trajectory has replaced this one")
        self.run, self._bounds, run.began = run, bounds, run.starts_s <= now_s
        self._motion = motion if run.began else before
        return run

    def cancel(self, run: TrajectoryRun, now_s: float) -> None:
        """Bring the arm to rest on the way, because the client has canceled; the run ends once the arm stands."""
        if run is self.run and run.outcome is None and not run.is_canceled:
            run.is_canceled = True
            if self._motion is not None and self._bounds is not None:
                self._motion = self._motion.slowed(now_s + _UNDER_WAY_S, self._bounds.acceleration)
            else:
                run.finish(TrajectoryCode.SUCCESSFUL, "canceled before the arm moved")

    def interrupt(self, text: str) -> None:
        """End the trajectory, and forget where the joints should be: another part of the stack holds or moves the arm.

        Args:
            text: reason and what to do, in one line.
        """
        self._motion = None
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
        if self._motion is None or self.run is None or self.run.outcome is not None:
            return
        self.run.compare(self._motion, state, stamp_s)
        if self.run.outcome is not None and self.run.outcome.code is TrajectoryCode.PATH_TOLERANCE_VIOLATED:
            self._stop_where_it_is(stamp_s)

    def desired(self, times_s: Vector, here: Vector) -> Vector:
        """Return where the joints are to be (T, N), rad.

        Args:
            times_s: (T,), s, ascending.
            here: where the joints are (N,), rad; without a motion the arm stays there.
        """
        if self._motion is None:
            self._motion = PathMotion.stay(here, float(times_s[0]))
        self._start_if_due(float(times_s[0]))
        motion = self._motion
        return np.array([motion.at(float(time_s)).positions for time_s in times_s])

    def _stop_where_it_is(self, now_s: float) -> None:
        """Stay where the arm comes to rest from where it is: what lies in its way is not to be pressed on."""
        assert self._measured is not None
        assert self._bounds is not None
        state, limits = self._measured[1], self._robot.limits
        braking = state.velocities * np.abs(state.velocities) / self._bounds.acceleration
        self._motion = PathMotion.stay(np.clip(state.positions + braking, limits.lowest, limits.highest), now_s)

    def _start_if_due(self, now_s: float) -> None:
        run = self.run
        if run is None or run.outcome is not None or run.began or run.is_canceled or now_s < run.starts_s:
            return
        assert self._bounds is not None
        try:
            start = self._state(self._motion, now_s, now_s)
            self._motion, run.began = self._along(run, self._bounds, start, now_s), True
        except TrajectoryError as error:  # the arm has been moved elsewhere since it was accepted
            run.finish(error.code, str(error))

    def _along(self, run: TrajectoryRun, bounds: ArmBounds, start: MotionState, now_s: float) -> PathMotion:
        """Return the motion from a state of the joints along what is left of a trajectory.

        Raises:
            TrajectoryError: the arm cannot follow it from there.
        """
        over_s = now_s - run.starts_s if now_s - run.starts_s > _LATE_S else 0.0
        if over_s >= run.points[-1].time_s > 0.0:
            raise TrajectoryError(
                "its time was over before the arm could begin: send it again", TrajectoryCode.OLD_HEADER_TIMESTAMP
            )
        left = [replace(point, time_s=point.time_s - over_s) for point in run.points if point.time_s > over_s + TICK_S]
        first = run.points[0]
        lead_in = np.zeros(len(self._robot.joints))
        if over_s == 0.0 and first.time_s <= TICK_S:
            lead_in = start.positions - first.positions
            self._check_near(lead_in, first)
            way = JointSpline([first, *left])
        else:
            here = TrajectoryPoint(0.0, start.positions, start.velocities, start.accelerations)
            way = JointSpline([here, *left])
        check_way(way, self._robot, bounds)
        return PathMotion(way, now_s, lead_in)

    def _state(self, motion: PathMotion | None, at_s: float, now_s: float) -> MotionState:
        """Return where a motion leads to at a time, or where the joints are now while there is none."""
        if self._measured is None or now_s - self._measured[0] > _FRESH_S:
            raise TrajectoryError(f"no joint state has come for {_FRESH_S:g} s: is the arm connected?")
        if motion is not None:
            return motion.at(at_s)
        return MotionState.at_rest(self._measured[1].positions)

    def _check_near(self, offset: Vector, first: TrajectoryPoint) -> None:
        joint = int(np.abs(offset).argmax())
        if abs(offset[joint]) > self._options.start_tolerance:
            raise TrajectoryError(
                f"{self._robot.joints[joint]} is at {first.positions[joint] + offset[joint]:.3f} rad, the trajectory "
                f"begins at {first.positions[joint]:.3f} rad and at time 0: plan from where the arm is, or give the "
                "first point the time to get there"
            )
