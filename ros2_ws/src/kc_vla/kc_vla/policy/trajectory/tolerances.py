"""How far the joints may be from a trajectory, on the way and at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla.core.robot import Robot, Vector
from kc_vla.policy.options import TrajectoryOptions
from kc_vla.policy.trajectory.request import TrajectoryCode, TrajectoryError
from kc_vla.policy.trajectory.spline import MotionState

_ERASED = -1.0
"""Tolerance of a client that wants no check."""


@dataclass(frozen=True)
class RequestedTolerance:
    """The tolerance of one joint as a client sent it; 0 stands for the default, -1 for none."""

    name: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


@dataclass(frozen=True, eq=False)
class JointTolerances:
    """How far N joints may be from where they should be; infinite where that is not checked.

    Attributes:
        position: (N,), rad.
        velocity: (N,), rad/s.
    """

    position: Vector
    velocity: Vector

    def violated_by(self, desired: MotionState, actual: MotionState, robot: Robot) -> str:
        """Return which joint is how far off, in a few words; empty if all are near enough."""
        for what, unit, allowed, error in (
            ("", "rad", self.position, desired.positions - actual.positions),
            (" in its velocity", "rad/s", self.velocity, desired.velocities - actual.velocities),
        ):
            beyond = np.flatnonzero(np.abs(error) > allowed)
            if beyond.size:
                joint = int(beyond[0])
                return (
                    f"{robot.joints[joint]} is {abs(error[joint]):.3f} {unit} off{what}, allowed is "
                    f"{allowed[joint]:.3f} {unit}"
                )
        return ""


@dataclass(frozen=True, eq=False)
class TrajectoryTolerances:
    """The tolerances of one trajectory.

    Attributes:
        path: on the way.
        goal: at its end.
        goal_time_s: time after the end until which the joints have to be there, s; may be infinite.
    """

    path: JointTolerances
    goal: JointTolerances
    goal_time_s: float


def read_tolerances(
    path: Sequence[RequestedTolerance],
    goal: Sequence[RequestedTolerance],
    goal_time_s: float,
    robot: Robot,
    defaults: TrajectoryOptions,
) -> TrajectoryTolerances:
    """Return the tolerances that a client asks for, and the defaults for the others.

    Raises:
        TrajectoryError: one is for a joint that the arm has not, or is no tolerance.
    """
    if not np.isfinite(goal_time_s) or (goal_time_s < 0.0 and goal_time_s != _ERASED):
        raise TrajectoryError(f"goal_time_tolerance is {goal_time_s:g} s: 0 s or more is allowed, or -1 s for no limit")
    seconds = np.inf if goal_time_s == _ERASED else goal_time_s or defaults.goal_time
    return TrajectoryTolerances(
        _read("path_tolerance", path, robot, defaults.path_tolerance, np.inf),
        _read("goal_tolerance", goal, robot, defaults.goal_tolerance, defaults.stopped_velocity),
        seconds,
    )


def _read(
    what: str, given: Sequence[RequestedTolerance], robot: Robot, position: float, velocity: float
) -> JointTolerances:
    positions, velocities = np.full(len(robot.joints), position), np.full(len(robot.joints), velocity)
    for each in given:
        if each.name not in robot.joints:
            raise TrajectoryError(
                f"{what} names the joint '{each.name}': this arm has {', '.join(robot.joints)}",
                TrajectoryCode.INVALID_JOINTS,
            )
        joint = robot.joints.index(each.name)
        for row, value in ((positions, each.position), (velocities, each.velocity)):
            if not np.isfinite(value) or (value < 0.0 and value != _ERASED):
                raise TrajectoryError(f"{what} of {each.name} is {value:g}: 0 or more is allowed, or -1 for no check")
            if value:
                row[joint] = np.inf if value == _ERASED else value
    return JointTolerances(positions, velocities)
