"""Set-points for the arm: towards a target that may jump, with bounded speed, acceleration and jerk.

The last thing before the arm: whatever a policy or a blend of chunks asks for, what leaves here can be followed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import ruckig
from numpy.typing import NDArray

from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import JointLimits, Vector

_TOLERANCE = 1e-9
_SAMPLE_S = 0.01
"""Between the poses of a stop that are looked at: at 3 rad/s the flange strays by less than 2 mm in between."""


_State = tuple[list[float], list[float], list[float]]
"""Angles, rad, speeds, rad/s, and accelerations, rad/s2, of all joints."""


class LimiterError(RuntimeError):
    """Set-points that cannot be computed; the arm must hold."""


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """The bounds on the motion of N joints.

    Attributes:
        joints: angles and speeds.
        acceleration: (N,), rad/s2.
        jerk: (N,), rad/s3.
    """

    joints: JointLimits
    acceleration: Vector
    jerk: Vector


class SetPointLimiter:
    """One set-point for each control period.

    A joint that begins outside of its limits stays where it is until its target leads it inside; it never goes further
    out, and no set-point is ever cut to a limit: a cut would be a jump.

    It keeps a promise: from every set-point the arm can come to rest without leaving the workspace. A step after which
    it could not is not made; it brakes instead, which the step before has promised to be possible.

    Attributes:
        clamped: how often a target was cut: "position" or "speed", by joint, as in "position of joint 2", or "way",
            by what it would have crossed.
        held_back: what the way to the target crosses, in words; empty while it is free.
    """

    def __init__(
        self, limits: MotionLimits, period: float, workspace: Workspace | None = None, margin: float = 0.0
    ) -> None:
        """Prepare; `begin` says where the arm is.

        Args:
            limits: of the joints.
            period: of control, s.
            workspace: to stay in; None for no bounds.
            margin: least distance from its bounds, m.
        """
        joints = len(limits.acceleration)
        self._limits, self._period = limits, period
        self._workspace, self._margin = workspace, margin
        self._planner = ruckig.Ruckig(joints)
        self._way, self._stop = ruckig.Trajectory(joints), ruckig.Trajectory(joints)
        self._input, self._braking = ruckig.InputParameter(joints), ruckig.InputParameter(joints)
        self._input.max_velocity = limits.joints.speed.tolist()
        self._braking.control_interface = ruckig.ControlInterface.Velocity
        self._braking.target_velocity = [0.0] * joints
        for given in (self._input, self._braking):
            given.max_acceleration = limits.acceleration.tolist()
            given.max_jerk = limits.jerk.tolist()
            # Each joint by itself: one with a long way must not slow the others down.
            given.synchronization = ruckig.Synchronization.No
        self._begun = False
        self._lowest, self._highest = limits.joints.lowest, limits.joints.highest
        self.clamped: Counter[str] = Counter()
        self.held_back = ""

    @property
    def angles(self) -> Vector:
        """Return the last set-point (N,), rad."""
        return np.array(self._input.current_position)

    @property
    def speeds(self) -> Vector:
        """Return its speeds (N,), rad/s."""
        return np.array(self._input.current_velocity)

    def stopping_point(self) -> Vector:
        """Return where the arm comes to rest (N,), rad, if it brakes from now on without turning back."""
        state = self._input.current_position, self._input.current_velocity, self._input.current_acceleration
        try:
            return np.array(self._stop_from(state)[-1])
        except LimiterError:  # a stop must never fail: about there
            return self.angles + self._braking_way(self.speeds)

    def begin(self, angles: Vector, top: float = np.inf) -> None:
        """Start at rest where the arm is, (N,), rad; also where that is outside of the limits.

        Args:
            angles: of the joints.
            top: rad/s that no joint exceeds, until `hurry`.
        """
        _require_finite(angles)
        self._lowest = np.minimum(self._limits.joints.lowest, angles)
        self._highest = np.maximum(self._limits.joints.highest, angles)
        self._input.current_position = angles.tolist()
        self._input.current_velocity = [0.0] * len(angles)
        self._input.current_acceleration = [0.0] * len(angles)
        self._input.max_velocity = np.minimum(self._limits.joints.speed, top).tolist()
        self._begun, self.held_back = True, ""

    def hurry(self) -> None:
        """Go as fast as the limits allow from now on."""
        self._input.max_velocity = self._limits.joints.speed.tolist()

    def next(self, target: Vector, speeds: Vector | None = None) -> Vector:
        """Return the next set-point (N,), rad.

        Args:
            target: where to go (N,), rad.
            speeds: at which the target itself moves (N,), rad/s; at rest by default.

        Raises:
            ValueError: a number that is not finite, or no `begin` before.
            LimiterError: not even a way to come to rest is found.
        """
        if not self._begun:
            raise ValueError("the limiter does not know where the arm is: begin first")
        _require_finite(target)
        inside = self.reachable(target)
        self._count("position", np.abs(inside - target) > _TOLERANCE)
        ahead = inside if speeds is None else inside + self._braking_way(speeds)
        self._input.target_position = self.reachable(ahead).tolist()
        planned = self._planned()
        crossed = self._crossed_by(planned) if planned is not None else ""
        if crossed and not self.held_back:
            self.clamped[f"way: {crossed}"] += 1
        self.held_back = crossed
        self._go(self._braked() if planned is None or crossed else planned)
        return self.angles

    def reachable(self, angles: Vector) -> Vector:
        """Return the angles (N,), rad, cut to the limits, or to where a joint is that is outside of them."""
        return np.asarray(np.clip(angles, self._lowest, self._highest))

    def _planned(self) -> _State | None:
        """Return where the way to the target leads in this period; None where the planner stumbles over a rounding."""
        try:
            self._planner.calculate(self._input, self._way)
        except ruckig.RuckigError:
            return None
        planned: _State = self._way.at_time(self._period)
        return planned

    def _crossed_by(self, planned: _State) -> str:
        """Return what the arm would cross before it came to rest, if it went there; empty if nothing."""
        if self._workspace is None:
            return ""
        poses = np.array([self._input.current_position, *self._stop_from(planned)])
        return self._workspace.left_by(poses, self._margin)

    def _braked(self) -> _State:
        """Return the first period of coming to rest."""
        self._stop_from((self._input.current_position, self._input.current_velocity, self._input.current_acceleration))
        braked: _State = self._stop.at_time(self._period)
        return braked

    def _stop_from(self, state: _State) -> list[list[float]]:
        """Return poses on the way on which the arm comes to rest from there; `_stop` is that way."""
        self._braking.current_position, self._braking.current_velocity, self._braking.current_acceleration = state
        try:
            self._planner.calculate(self._braking, self._stop)
        except ruckig.RuckigError as error:
            raise LimiterError(f"no way to come to rest from {self.angles.round(3).tolist()}: {error}") from error
        end = self._stop.duration
        return [self._stop.at_time(time)[0] for time in (*np.arange(0.0, end, _SAMPLE_S).tolist(), end)]

    def _go(self, state: _State) -> None:
        self._input.current_position, self._input.current_velocity, self._input.current_acceleration = state
        joints = self._limits.joints  # what has come further inside does not go out again
        self._lowest = np.minimum(joints.lowest, np.maximum(self._lowest, state[0]))
        self._highest = np.maximum(joints.highest, np.minimum(self._highest, state[0]))

    def _braking_way(self, speeds: Vector) -> Vector:
        """Return the way (N,), rad, on which joints of these speeds come to rest.

        A joint's target must be so far ahead of it.

        The planner always means to stop at its target, so that it can. A target that moves would be followed at that
        distance.
        """
        _require_finite(speeds)
        top = self._limits.joints.speed
        self._count("speed", np.abs(speeds) > top + _TOLERANCE)
        pace, acceleration, jerk = np.clip(speeds, -top, top), self._limits.acceleration, self._limits.jerk
        full = np.abs(pace) >= acceleration**2 / jerk  # fast enough to reach the full deceleration
        slow = np.sqrt(np.abs(pace) / jerk)
        return np.asarray(pace * np.where(full, np.abs(pace) / (2 * acceleration) + acceleration / (2 * jerk), slow))

    def _count(self, what: str, cut: NDArray[np.bool_]) -> None:
        for joint in np.flatnonzero(cut).tolist():
            self.clamped[f"{what} of joint {joint + 1}"] += 1


def _require_finite(values: Vector) -> None:
    if not np.isfinite(values).all():
        raise ValueError(f"{values.tolist()} is no set of angles: every number must be finite")
