"""A depth image without stray pixels, as the check of a camera's pose and the report of what was in view take it."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.perception.camera_frame import CameraFrame

_SPECKLE = 5
"""Side of the window, px, whose median removes stray pixels."""


@lru_cache(maxsize=2)  # two parts of perception ask for that of one image
def smooth_depth(frame: CameraFrame) -> NDArray[np.float32]:
    """Return the depth of an image that has one (H, W), m, infinite where it is not known; not to be changed."""
    assert frame.depth_m is not None
    return smoothed(frame.depth_m)


def smoothed(depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a depth image (H, W), m, without stray pixels, and infinite where it is not known."""
    known = np.where(depth > 0.0, depth, np.float32(np.inf))  # NaN is not above 0
    return np.asarray(cv2.medianBlur(known, _SPECKLE), np.float32) if min(known.shape) >= _SPECKLE else known
