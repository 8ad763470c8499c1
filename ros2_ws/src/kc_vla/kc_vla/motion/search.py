"""Free motions in joint space: RRT-Connect (Kuffner and LaValle, 2000), and shortcuts on what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from kc_vla.core.robot import Vector
from kc_vla.motion.collision import CollisionChecker
from kc_vla.motion.problem import MotionError, MotionProblem

_NODES = 2000
"""Poses of both trees together, and draws, after which a search is given up."""
_GROWTH = 0.4
"""A tree grows by so much at a time, rad of the joint that turns most."""
_SHORTCUTS = 60


def joined(checker: CollisionChecker, start: Vector, goals: Sequence[Vector], chance: np.random.Generator) -> Vector:
    """Return a way (N, D), rad, from `start` to one of `goals`, straight from row to row.

    Args:
        checker: of the scene; `start` and the goals are free in it.
        start: angles (D,), rad.
        goals: angles (D,) each, rad, the best first.
        chance: that the search draws from.

    Raises:
        MotionError: no way is found.
    """
    for goal in goals:
        if checker.is_free_between(start, goal):
            return np.array([start, goal])
    for coarse in (True, False):
        found = _searched(checker, start, goals, chance, coarse)
        if found is None:
            break
        if _is_free(checker, found):
            return shortened(checker, found, chance)
    raise MotionError(
        MotionProblem.SEARCH, f"no free way was found within {_NODES} poses: clear the way, or choose another target"
    )


def _is_free(checker: CollisionChecker, way: Vector) -> bool:
    return all(checker.is_free_between(one, other) for one, other in pairwise(way))


def _searched(
    checker: CollisionChecker, start: Vector, goals: Sequence[Vector], chance: np.random.Generator, coarse: bool
) -> Vector | None:
    """Return a way (N, D), rad, from `start` to one of `goals`; None where both trees are full before they meet."""
    from_start, from_goal = _Tree(start[None], coarse), _Tree(np.array(goals), coarse)
    lower, upper = checker.arm.lower, checker.arm.upper
    one, other = from_start, from_goal
    for _ in range(_NODES):
        drawn = chance.uniform(lower, upper)
        reached = one.grow(checker, drawn)
        if reached is not None:
            met = other.connect(checker, one.joints[reached])
            if met is not None:
                first, second = (reached, met) if one is from_start else (met, reached)
                return np.array([*from_start.way(first)[::-1], *from_goal.way(second)[1:]])
        if len(one.joints) + len(other.joints) > _NODES:
            return None
        one, other = other, one
    return None


def shortened(checker: CollisionChecker, way: Vector, chance: np.random.Generator) -> Vector:
    """Return a way (N, D), rad, without detours: pieces of it replaced by straight ones that are free."""
    points = list(way)
    for _ in range(_SHORTCUTS):
        if len(points) < 3:
            break
        lengths = np.array([np.abs(b - a).max() for a, b in pairwise(points)])
        along = np.concatenate([[0.0], np.cumsum(lengths)])
        low, high = np.sort(chance.uniform(0.0, along[-1], 2))
        first = min(int(np.searchsorted(along, low, "right")), len(points) - 1)
        last = min(int(np.searchsorted(along, high, "right")), len(points) - 1)
        if first >= last:
            continue
        a, b = _at(points, along, low), _at(points, along, high)
        if np.abs(b - a).max() < 0.98 * (high - low) and checker.is_free_between(a, b):
            points = [*points[:first], a, b, *points[last:]]
    return np.array(_without_needless(checker, points))


def _at(points: Sequence[Vector], along: Vector, where: float) -> Vector:
    index = min(max(int(np.searchsorted(along, where, "right")) - 1, 0), len(points) - 2)
    share = (where - along[index]) / max(along[index + 1] - along[index], 1e-12)
    return np.asarray(points[index] + min(share, 1.0) * (points[index + 1] - points[index]))


def _without_needless(checker: CollisionChecker, points: list[Vector]) -> list[Vector]:
    """Return the points without those that can be passed by."""
    kept = [points[0]]
    index = 0
    while index < len(points) - 1:
        following = index + 1
        for later in range(len(points) - 1, index + 1, -1):
            if checker.is_free_between(points[index], points[later]):
                following = later
                break
        kept.append(points[following])
        index = following
    return kept


class _Tree:
    """Poses that free ways lead to from its roots."""

    def __init__(self, roots: Vector, coarse: bool) -> None:
        self._coarse = coarse
        self._poses = np.zeros((_NODES + len(roots) + 2, roots.shape[1]))
        self._count = len(roots)
        self._poses[: self._count] = roots
        self._before: list[int | None] = [None] * self._count

    @property
    def joints(self) -> Vector:
        return self._poses[: self._count]

    def grow(self, checker: CollisionChecker, towards: Vector) -> int | None:
        """Add a pose one step towards another, and return its index; None where the way there is blocked."""
        near = int(np.abs(self.joints - towards).sum(axis=1).argmin())
        way = towards - self.joints[near]
        far = float(np.abs(way).max())
        pose = towards if far <= _GROWTH else self.joints[near] + way * (_GROWTH / far)
        if self._count >= len(self._poses) or not checker.is_free_between(self.joints[near], pose, self._coarse):
            return None
        self._poses[self._count] = pose
        self._before.append(near)
        self._count += 1
        return self._count - 1

    def connect(self, checker: CollisionChecker, pose: Vector) -> int | None:
        """Grow towards a pose until it is there, and return its index in this tree; None where that is blocked."""
        while (reached := self.grow(checker, pose)) is not None:
            if np.array_equal(self.joints[reached], pose):
                return reached
        return None

    def way(self, index: int) -> list[Vector]:
        """Return the poses from that of an index back to the root."""
        found = [self.joints[index].copy()]
        while (before := self._before[index]) is not None:
            index = before
            found.append(self.joints[index].copy())
        return found
