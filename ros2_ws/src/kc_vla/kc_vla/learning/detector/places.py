"""Where a detection is in the camera's optical frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.detections.labels import ImageLabel
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.localization import Localizer, LocalizerSettings

Floats = NDArray[np.float32]
_ANYWHERE = LocalizerSettings(lowest_m=None)
"""Nothing is left out for its height: what is in a sink is below the worktop."""


def located_position(found: ImageDetection, label: ImageLabel, depth: Floats | None) -> list[NDArray[np.float64]]:
    """Return where the node `perception` locates an object in the camera's optical frame, m; none where it refuses.

    Args:
        found: by the detector.
        label: of the image, for its camera.
        depth: of the image (H, W), m, 0 where it is not known; None: the detector's own estimate counts.
    """
    width, height = label.size
    blank = np.zeros((height, width, 3), np.uint8)
    frame = CameraFrame(label.camera, 0, blank, label.matrix, label.pose, depth)
    objects = Localizer(_ANYWHERE).locate(frame, [found]).objects
    return [(np.array(each.position) - label.pose[:3, 3]) @ label.pose[:3, :3] for each in objects]
