"""By which motion two depth views of a scene that stands fit best: point to plane, what moves in the scene left out.

The method is that of Chen and Medioni (Image and Vision Computing, 1992), with neighbors found by projection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.order_statistics import median
from kc_vla.core.projection import project
from kc_vla.perception.depth_view import DepthView

Numbers = NDArray[np.float64]
_GATE_M = 0.12
"""Points further from the other view's surface are of something else."""
_NOISE_M, _NOISE_SHARE = 0.005, 0.006
"""What a depth is off, m, and as a share of its square."""
_ROUNDS = 8
_STILL = 1e-3
"""m and rad: a smaller step is the last one."""
_OBSERVED = 0.02
"""Share of the points, in the mean, that have to say something of a direction; others are left as reported."""


@dataclass(frozen=True, eq=False)
class ViewAlignment:
    """How a view fits another one.

    Attributes:
        points: that both views have in common.
        fit_before: share of these whose depth is as the reported poses say.
        fit_after: likewise, after the motion.
        off_m: by how much the motion moves these points, in the mean, m.
        motion: of the camera in its own optical frame (4, 4): where it really is, in where it is said to be.
    """

    points: int
    fit_before: float
    fit_after: float
    off_m: float
    motion: Pose


def aligned(view: DepthView, key: DepthView) -> ViewAlignment | None:
    """Return how a view fits another one; None where they have nothing in common."""
    usable = view.usable
    own = view.points[usable]
    reported = np.linalg.inv(key.pose) @ view.pose
    moved = reported.copy()
    found = _neighbors(own, key, moved)
    if found is None:
        return None
    before, count = _fit(found), len(found[0])
    for _ in range(_ROUNDS):
        step = _step(found)
        moved = step @ moved
        if np.abs(step - np.eye(4)).max() < _STILL:
            break
        found = _neighbors(own, key, moved)
        if found is None:
            return None
    change = moved - reported
    off_m = float(np.sqrt(((change[:3, :3] @ own.T + change[:3, 3:]) ** 2).sum(axis=0)).mean())
    return ViewAlignment(count, before, _fit(found), off_m, np.asarray(np.linalg.inv(reported) @ moved))


_Pairs = tuple[Numbers, Numbers, Numbers, Numbers]
"""Points, their distances from the surface, its normals (each in the key's optical frame), and what noise they have."""


def _neighbors(own: Numbers, key: DepthView, moved: Pose) -> _Pairs | None:
    """Return the points of a view that lie near a surface of the key view."""
    points = own @ moved[:3, :3].T + moved[:3, 3]
    pixels, deep = project(points, np.eye(4), key.matrix, key.model, key.distortion)
    rows, columns = key.points.shape[:2]
    with np.errstate(invalid="ignore"):
        at = pixels * (columns / key.size[0], rows / key.size[1])
        inside = (deep > 0.0) & (at >= 0).all(axis=1) & (at[:, 0] < columns) & (at[:, 1] < rows)
    points, at = points[inside], at[inside].astype(int)
    surface, normals = key.points[at[:, 1], at[:, 0]], key.normals[at[:, 1], at[:, 0]]
    away = ((surface - points) * normals).sum(axis=1)
    near = np.abs(away) < _GATE_M  # NaN is not
    if np.count_nonzero(near) < 6:
        return None
    noise = _NOISE_M + _NOISE_SHARE * points[near, 2] ** 2
    return points[near], away[near], normals[near], noise


def _fit(found: _Pairs) -> float:
    return float((np.abs(found[1]) <= found[3]).mean())


def _step(found: _Pairs) -> Pose:
    """Return the motion that brings points nearer to their surfaces; far ones count less (Tukey's weights)."""
    points, away, normals, noise = found
    scale = max(median(np.abs(away)), median(noise))
    share = np.clip(np.abs(away) / (4.0 * scale), 0.0, 1.0)
    weights = (1.0 - share**2) ** 2
    deep = median(points[:, 2])
    middle = np.array([0.0, 0.0, deep])
    (x, y, z), (along_x, along_y, along_z) = (points - middle).T, normals.T
    rows = np.empty((6, len(points)))
    rows[0], rows[1], rows[2] = y * along_z - z * along_y, z * along_x - x * along_z, x * along_y - y * along_x
    rows[:3] /= deep  # a turn about the middle, as the way at that depth, m
    rows[3:] = normals.T
    total, weighted = max(float(weights.sum()), 1e-9), rows * weights
    values, axes = np.linalg.eigh(weighted @ rows.T / total)
    wanted = axes.T @ (weighted @ away / total)
    change = axes @ np.where(values > _OBSERVED, wanted / np.maximum(values, _OBSERVED), 0.0)
    return _motion(change[:3] / deep, change[3:], middle)


def _motion(turn: Numbers, way: Numbers, about: Numbers) -> Pose:
    """Return a turn about a point, and a way."""
    from scipy.spatial.transform import Rotation  # a quarter of a second, which a node without depth is spared

    motion = np.eye(4)
    motion[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    motion[:3, 3] = way + about - motion[:3, :3] @ about
    return motion
