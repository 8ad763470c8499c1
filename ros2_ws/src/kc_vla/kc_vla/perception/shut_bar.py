"""Whether a drawer or a door is shut, by depth: the bar of its handle is where it was when it was seen shut."""

from __future__ import annotations

import numpy as np

from kc_vla.core.projection import project
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import Front

_ALONG_M = np.linspace(-0.04, 0.04, 9)
"""Points of a bar that are looked at, from its middle, m."""
_AT_M, _PAST_M = 0.015, 0.03
"""A surface so near to such a point is that of the bar; a line of sight that ends so far behind it passes it, m."""
_AROUND = np.arange(-1, 3)
"""Pixels around such a point, in rows and columns, of which the nearest surface counts."""
_SHARE = 0.6
"""Share of the points that have to agree."""


def is_shut(frame: CameraFrame, shut: Front) -> bool | None:
    """Return whether a front is where it was seen shut; None where the image does not show that place.

    Args:
        frame: an image, with depth or without.
        shut: the front, as it was when it was shut.
    """
    if frame.depth_m is None:
        return None
    along = np.array([0.0, 0.0, 1.0]) if shut.standing else np.array([-np.sin(shut.yaw), np.cos(shut.yaw), 0.0])
    points = np.array(shut.bar) + _ALONG_M[:, None] * along
    pixels, deep = project(points, frame.pose, frame.matrix, frame.distortion_model, frame.distortion)
    rows, columns = frame.depth_m.shape
    inside = ((pixels >= 1.0) & (pixels < (columns - 2.0, rows - 2.0))).all(axis=1)  # NaN is not
    if np.count_nonzero(inside) < _SHARE * len(points):
        return None
    at = pixels[inside].astype(int)
    around = frame.depth_m[at[:, 1, None, None] + _AROUND[:, None], at[:, 0, None, None] + _AROUND]
    beyond = np.where(around > 0.0, around, np.inf).min(axis=(1, 2)) - deep[inside]
    if np.count_nonzero(np.abs(beyond) < _AT_M) >= _SHARE * len(points):
        return True
    past = np.count_nonzero((beyond > _PAST_M) & (beyond < np.inf))
    return False if past >= _SHARE * len(points) else None
