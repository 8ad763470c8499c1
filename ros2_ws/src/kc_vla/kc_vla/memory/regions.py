"""What cameras had in view, as a message says it: kc_vla_msgs/CameraRegion as a view of the map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose, pose_matrix
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.views import CameraView

MOST_REGIONS = 8
"""A message has at most so many."""
_MOST_SIDE_PX, _MOST_DEPTHS = 20_000, 65_536
_FARTHEST_M = 20.0
"""No detector knows objects that are farther, whatever a message says."""


def regions_of(given: Sequence[Any], moved: Pose | None, found: Sequence[Detection]) -> list[CameraView]:
    """Return what the regions of a message show.

    Args:
        given: kc_vla_msgs/CameraRegion, as ROS gives them or decoded from a bag.
        moved: what brings their poses into the frame of the memory; None where they are in it.
        found: the detections of the same message: where there is no depth they hide what is behind them.

    Raises:
        GraphError: there are too many, or one has numbers that cannot be; the text says which.
    """
    if len(given) > MOST_REGIONS:
        raise GraphError(f"{len(given)} regions in one message: {MOST_REGIONS} are the most")
    boxes = np.array([each.position for each in found], float), np.array([each.size for each in found], float)
    before = boxes if found else None
    views = []
    for number, each in enumerate(given, 1):
        try:
            views.append(_view(each, moved, before))
        except GraphError as error:
            raise GraphError(f"region {number}: {error}") from error
    return views


def _view(
    region: Any, moved: Pose | None, before: tuple[NDArray[np.float64], NDArray[np.float64]] | None
) -> CameraView:
    place, turn = region.pose.position, region.pose.orientation
    numbers = place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w
    if not all(map(math.isfinite, (*numbers, *region.k, region.farthest))):
        raise GraphError("its pose, its matrix or its distance is not finite")
    if not 0.9 < math.hypot(*numbers[3:]) < 1.1:
        raise GraphError("its orientation is no unit quaternion")
    matrix = np.array(region.k, float).reshape(3, 3)
    if min(matrix[0, 0], matrix[1, 1]) <= 0.0 or matrix[2].tolist() != [0.0, 0.0, 1.0]:
        raise GraphError("its intrinsic matrix is none: send k of camera_info")
    size = int(region.width), int(region.height)
    if not (0 < size[0] <= _MOST_SIDE_PX and 0 < size[1] <= _MOST_SIDE_PX):
        raise GraphError(f"an image of {size[0]}x{size[1]} px")
    if region.farthest <= 0.0:
        raise GraphError("it ends before the camera: send farthest above 0 m")
    seen = pose_matrix(numbers[:3], numbers[3:])
    pose = seen if moved is None else moved @ seen
    x, y, z = (float(value) for value in pose[:3, 3])
    farthest_m = min(float(region.farthest), _FARTHEST_M)
    return CameraView((x, y, z), pose[:3, :3], matrix, size, farthest_m, _depth(region, size), before)


def _depth(region: Any, size: tuple[int, int]) -> NDArray[np.float32] | None:
    """Return the depth of a region, m, NaN where it is not known; None without."""
    columns, rows = int(region.depth_width), int(region.depth_height)
    if columns * rows != len(region.depth):
        raise GraphError(f"{len(region.depth)} depths, and it says {columns}x{rows}: send one for each cell")
    if not columns * rows:
        return None
    if columns > size[0] or rows > size[1] or columns * rows > _MOST_DEPTHS:
        raise GraphError(f"{columns}x{rows} depths for an image of {size[0]}x{size[1]} px: {_MOST_DEPTHS} are the most")
    depth = np.array(region.depth, np.float32).reshape(rows, columns) / np.float32(1000.0)
    return np.where(depth > 0.0, depth, np.float32(np.nan))
