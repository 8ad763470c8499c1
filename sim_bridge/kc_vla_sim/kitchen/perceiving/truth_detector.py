"""A detector that reads the truth of the simulator: what perception costs is measured against it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.image_detection import ImageDetection
from kc_vla_sim.frame import GroundTruthObject, SimulatedFrame, VisibleObject

LEAST_PIXELS, LEAST_SHARE = 20, 0.15
"""What shows less of itself is not detected."""


class TruthDetector:
    """Reports what the cameras of the simulator show, each object by its id, and nothing that they do not show."""

    def __init__(self) -> None:
        self._frame: SimulatedFrame | None = None

    def show(self, frame: SimulatedFrame) -> None:
        """Set the moment that the next images are of."""
        self._frame = frame

    def detect(self, frame: CameraFrame) -> Sequence[ImageDetection]:
        """Return the objects that an image of the moment shows."""
        assert self._frame is not None
        objects = {each.object_id: each for each in self._frame.detections}
        return [
            _detection(objects[name], seen, frame)
            for name, seen in self._frame.visible[frame.camera].items()
            if seen.pixels >= LEAST_PIXELS and seen.share >= LEAST_SHARE
        ]

    def close(self) -> None:
        """Release nothing."""


def _detection(known: GroundTruthObject, seen: VisibleObject, frame: CameraFrame) -> ImageDetection:
    x, y, z = (np.linalg.inv(frame.pose) @ (*known.pose.position, 1.0))[:3].tolist()
    return ImageDetection(
        known.object_type,
        PixelBox(*map(float, seen.box)),
        confidence=1.0,
        state=known.state,
        attributes={name: text for name, text in known.attributes.items() if name in ("colour", "also")},
        object_id=known.object_id,
        size=known.size,
        position=(x, y, z),
    )
