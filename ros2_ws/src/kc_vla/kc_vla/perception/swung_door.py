"""How far a door is open whose axis and handle were seen while it was shut, by the depth of what stands at the axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import median
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import Front
from kc_vla.perception.pixel_points import points_at

Numbers = NDArray[np.float64]
_MOST_SIDE = 160
"""A longer side of an image is looked at in steps."""
_RADII_M, _BAND_M = 0.01, 0.08
"""Points of a door are counted in rings of this width around its axis, this much above and below its handle, m."""
_ANGLE, _SWUNG = np.radians(3.0), (0.2, 2.2)
"""Directions that are told apart, and between which an open door is, rad."""
_LEAST_SHARE = 0.5
"""Share of the rings that a door has points in."""
_NEAREST = 0.2
"""Share of the way from the axis to the handle in which the side of the furniture is seen as well."""


def door_turn(shut: Front) -> float:
    """Return +1 or -1, in which a door opens about the vertical, given its front while it is shut."""
    assert shut.hinge is not None
    along = np.subtract(shut.bar[:2], shut.hinge)
    return 1.0 if along[0] * np.sin(shut.yaw) > along[1] * np.cos(shut.yaw) else -1.0


def swung_in(frame: CameraFrame, shut: Front) -> float | None:
    """Return how far a door is open in an image, rad; None where the image does not show it.

    Args:
        frame: with depth.
        shut: the front while it is shut.
    """
    if frame.depth_m is None or shut.hinge is None:
        return None
    points = _points(frame)
    out, bar = np.array([np.cos(shut.yaw), np.sin(shut.yaw)]), np.subtract(shut.bar[:2], shut.hinge)
    along = bar - (bar @ out) * out  # the front is flat, and its bar stands out of it
    reach = float(np.linalg.norm(along))
    away = points[:2] - np.array(shut.hinge)[:, None]
    radius = np.hypot(*away)
    around = (radius > _NEAREST * reach) & (radius < reach) & (np.abs(points[2] - shut.bar[2]) < _BAND_M)
    away, radius = away[:, around], radius[around]
    turned = np.arctan2(along[0] * away[1] - along[1] * away[0], along @ away) * door_turn(shut)
    last = int((_SWUNG[1] - _SWUNG[0]) / _ANGLE)
    rings, bins = (radius / _RADII_M).astype(int), ((turned - _SWUNG[0]) / _ANGLE).astype(int)
    kept = (turned > _SWUNG[0]) & (bins < last)
    filled = np.zeros((last, int(reach / _RADII_M) + 1), bool)
    filled[bins[kept], rings[kept]] = True
    counts = (filled[1:] | filled[:-1]).sum(axis=1)  # a door can be between two directions
    best = int(np.argmax(counts))
    if not counts[best] or counts[best] < _LEAST_SHARE * (1.0 - _NEAREST) * reach / _RADII_M:
        return None
    return median(turned[kept & ((bins == best) | (bins == best + 1))])


def _points(frame: CameraFrame) -> Numbers:
    """Return the points of a grid of pixels (3, N), m; NaN where depth is not known."""
    assert frame.depth_m is not None
    rows, columns = frame.depth_m.shape
    step = max(1, (max(rows, columns) + _MOST_SIDE - 1) // _MOST_SIDE)
    return points_at(frame, slice(None, None, step), slice(None, None, step)).reshape(3, -1)
