"""The way to the home pose: straight where that stays inside the workspace, joint after joint where it does not."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np

from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import Vector

_SPACING = 0.02
"""Distance between the poses on a way that are looked at, rad of the joint that goes furthest."""
_BASE, _SHOULDER, _ELBOW = 0, 1, 2


def way_to_rest(start: Vector, rest: Vector, workspace: Workspace, margin: float) -> list[Vector] | None:
    """Return poses (N,), rad, to go through from `start` to `rest`, or None if no such way is found.

    The last of them is `rest`.

    Straight, or with base, shoulder, elbow and wrist moved one after the other, in whichever order stays at least
    `margin`, m, inside the workspace; from where the arm is outside already it only must not get further out.
    """
    parts = ([_BASE], [_SHOULDER], [_ELBOW], list(range(_ELBOW + 1, len(rest))))
    for order in ((list(range(len(rest))),), *permutations(parts)):
        poses = [start]
        for joints in order:
            pose = poses[-1].copy()
            pose[joints] = rest[joints]
            poses.append(pose)
        if workspace.keeps_inside(_along(poses), margin):
            return poses[1:]
    return None


def _along(poses: list[Vector]) -> Vector:
    """Return poses (n, N) on the straight ways from each to the next, the first of all first."""
    rows = [poses[0][None]]
    for start, end in pairwise(poses):
        count = max(1, int(np.ceil(np.abs(end - start).max() / _SPACING)))
        rows.append(start + np.linspace(0.0, 1.0, count + 1)[1:, None] * (end - start))
    return np.concatenate(rows)
