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
    there = past = 0
    for (x, y), expected in zip(pixels, deep, strict=True):
        if not (1.0 <= x < columns - 2.0 and 1.0 <= y < rows - 2.0):
            continue
        around = frame.depth_m[int(y) - 1 : int(y) + 3, int(x) - 1 : int(x) + 3]
        nearest = float(np.min(around, where=np.isfinite(around) & (around > 0.0), initial=np.inf))
        there += abs(nearest - expected) < _AT_M
        past += _PAST_M < nearest - expected < np.inf
    if there >= _SHARE * len(points):
        return True
    return False if past >= _SHARE * len(points) else None
