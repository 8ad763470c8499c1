"""Set-points for the arm: towards a target that may jump, with bounded speed, acceleration and jerk.

The last thing before the arm: whatever a policy or a blend of chunks asks for, what leaves here can be followed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import ruckig
from numpy.typing import NDArray

from kc_vla.arm.interface import JointLimits, Vector

_TOLERANCE = 1e-9


class LimiterError(RuntimeError):
    """Set-points that cannot be computed; the arm must hold."""


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Of N joints.

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

    Attributes:
        clamped: how often a target was cut: "position" or "speed", by joint, as in "position of joint 2".
    """

    def __init__(self, limits: MotionLimits, period: float) -> None:
        """Args: `period` of control, s."""
        joints = len(limits.acceleration)
        self._limits = limits
        self._planner = ruckig.Ruckig(joints, period)
        self._input, self._output = ruckig.InputParameter(joints), ruckig.OutputParameter(joints)
        self._input.max_velocity = limits.joints.speed.tolist()
        self._input.max_acceleration = limits.acceleration.tolist()
        self._input.max_jerk = limits.jerk.tolist()
        # Each joint by itself: one with a long way must not slow the others down.
        self._input.synchronization = ruckig.Synchronization.No
        self._begun = False
        self.clamped: Counter[str] = Counter()

    @property
    def angles(self) -> Vector:
        """The last set-point (N,), rad."""
        return np.array(self._input.current_position)

    @property
    def speeds(self) -> Vector:
        """Its speeds (N,), rad/s."""
        return np.array(self._input.current_velocity)

    def stopping_point(self) -> Vector:
        """Where it can come to rest (N,), rad."""
        return self.angles + self._braking(self.speeds)

    def begin(self, angles: Vector) -> None:
        """Start at rest where the arm is, (N,), rad; also where that is a little out of the limits."""
        _require_finite(angles)
        self._input.current_position = angles.tolist()
        self._input.current_velocity = [0.0] * len(angles)
        self._input.current_acceleration = [0.0] * len(angles)
        self._begun = True

    def next(self, target: Vector, speeds: Vector | None = None) -> Vector:
        """The next set-point (N,), rad.

        Args:
            target: where to go (N,), rad.
            speeds: at which the target itself moves (N,), rad/s; at rest by default.

        Raises:
            ValueError: a number that is not finite, or no `begin` before.
            LimiterError: no way there exists.
        """
        if not self._begun:
            raise ValueError("the limiter does not know where the arm is: begin first")
        _require_finite(target)
        joints = self._limits.joints
        inside = np.clip(target, joints.lowest, joints.highest)
        self._count("position", np.abs(inside - target) > _TOLERANCE)
        ahead = inside if speeds is None else inside + self._braking(speeds)
        self._input.target_position = np.clip(ahead, joints.lowest, joints.highest).tolist()
        result = self._planner.update(self._input, self._output)
        if result not in (ruckig.Result.Working, ruckig.Result.Finished):
            raise LimiterError(f"no way from {self.angles.round(3).tolist()} to {target.round(3).tolist()}: {result}")
        self._output.pass_to_input(self._input)
        return self.angles

    def _braking(self, speeds: Vector) -> Vector:
        """The way (N,) on which a joint of these speeds comes to rest: so far ahead of it must its target be, rad.

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
