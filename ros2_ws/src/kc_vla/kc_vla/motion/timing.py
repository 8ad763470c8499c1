"""Paths in time: set-points within the limits on velocity, acceleration and jerk of every joint.

The joints first go along the path as fast as their velocity limits allow. A moving average over a time T1 then bounds
the acceleration, and a second one over T2 bounds the jerk. Each set-point is a mean of points of the path, so a
straight path stays straight, and a corner is cut by a little. Where that is too much, the arm stops at the corners.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from kc_vla.core.robot import Vector
from kc_vla.motion.arm_model import ArmModel
from kc_vla.motion.path import JointTrajectory

_FINE = 0.005
"""s between the samples that are averaged, at most."""
_ROOM = 0.98
"""Share of each limit that is used: the controller's own count of time is not exactly ours."""
_BEND = 0.1
"""rad of a joint between places of the tool that are looked at for its speed."""
_LONGEST = 4000
"""Samples of an average."""


def timed(
    joints: Vector, arm: ArmModel, period: float, speed: tuple[float, float], is_free: Callable[[Vector], bool]
) -> JointTrajectory:
    """Return set-points along a way.

    Args:
        joints: way (N, D), rad, straight from row to row.
        arm: whose limits count.
        period: between set-points, s.
        speed: share of the velocity limits that is used, above 0 to 1, and that of the tool, m/s.
        is_free: of angles (D,), whether the arm can be there.
    """
    for share in (1.0, 0.5):
        sampled = _averaged([joints], arm, period, (share * speed[0], share * speed[1]))
        if all(map(is_free, sampled)):
            return _trajectory(sampled, period)
    pieces = [joints[index : index + 2] for index in range(max(len(joints) - 1, 1))]
    return _trajectory(_averaged(pieces, arm, period, speed), period)


def _averaged(pieces: list[Vector], arm: ArmModel, period: float, speed: tuple[float, float]) -> Vector:
    """Return set-points (T, D), rad, along ways one after the other, with a stop after each."""
    parts = [_one(piece, arm, period, speed) for piece in pieces]
    return np.concatenate([parts[0], *(part[1:] for part in parts[1:])])


def _one(joints: Vector, arm: ArmModel, period: float, speed: tuple[float, float]) -> Vector:
    count = max(1, int(np.ceil(period / _FINE)))
    fine = period / count
    lengths = (np.abs(np.diff(joints, axis=0)) / (_ROOM * speed[0] * arm.speed)).max(axis=1, initial=0.0)
    if np.isfinite(speed[1]):
        lengths = np.maximum(lengths, [_tool_way(arm, *ends) / (_ROOM * speed[1]) for ends in pairwise(joints)])
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    samples = max(2, int(np.ceil(ends[-1] / fine)) + 1)
    at = np.linspace(0.0, ends[-1], samples)
    raw = np.stack([np.interp(at, ends, column) for column in joints.T], axis=1)
    fastest = np.abs(np.diff(raw, axis=0)).max(axis=0, initial=0.0) / fine
    first = max(1, int(np.ceil((fastest / (_ROOM * arm.acceleration)).max() / fine)))
    smooth = _bounded(raw, first, fine, 2, _ROOM * arm.acceleration)
    hardest = np.abs(_derived(smooth, fine, 2)).max(axis=0, initial=0.0)
    second = max(1, int(np.ceil((hardest / (_ROOM * arm.jerk)).max() / fine)))
    smooth = _bounded(smooth, second, fine, 3, _ROOM * arm.jerk)
    rest = -(len(smooth) - 1) % count
    return np.asarray(np.concatenate([smooth, np.repeat(smooth[-1:], rest, axis=0)])[::count])


def _tool_way(arm: ArmModel, start: Vector, end: Vector) -> float:
    """Return how far the tool goes on a straight way in joint space, m."""
    count = max(2, int(np.ceil(float(np.abs(end - start).max()) / _BEND)) + 1)
    places = np.array([arm.tool(start + share * (end - start))[:3, 3] for share in np.linspace(0.0, 1.0, count)])
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).max() * (count - 1))


def _bounded(samples: Vector, length: int, fine: float, order: int, limit: Vector) -> Vector:
    """Return the samples averaged over `length` or more of them, until the derivative of that order keeps the limit."""
    while True:
        found = _average(samples, length)
        if length >= _LONGEST or (np.abs(_derived(found, fine, order)) <= limit).all():
            return found
        length += max(1, length // 4)


def _average(samples: Vector, length: int) -> Vector:
    """Return the moving average over `length` samples of what rests before and after (T + length - 1, D)."""
    padded = np.concatenate(
        [np.repeat(samples[:1], length, axis=0), samples, np.repeat(samples[-1:], length - 1, axis=0)]
    )
    sums = np.cumsum(padded - samples[0], axis=0)
    found = samples[0] + (sums[length:] - sums[:-length]) / length
    found[-1] = samples[-1]
    return np.concatenate([samples[:1], found])


def _derived(samples: Vector, fine: float, order: int) -> Vector:
    """Return the derivative of what rests before and after."""
    padded = np.concatenate([np.repeat(samples[:1], order, axis=0), samples, np.repeat(samples[-1:], order, axis=0)])
    return np.asarray(np.diff(padded, order, axis=0) / fine**order)


def _trajectory(joints: Vector, period: float) -> JointTrajectory:
    speeds = np.gradient(joints, period, axis=0) if len(joints) > 1 else np.zeros_like(joints)
    speeds[[0, -1]] = 0.0
    return JointTrajectory(period, joints, speeds)
