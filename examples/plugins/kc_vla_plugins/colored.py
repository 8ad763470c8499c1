"""An object detector that knows things by their color: each patch of it is one thing."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kc_vla.core.options import OptionError, option
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import DetectorKind
from kc_vla.perception.image_detection import ImageDetection


@dataclass(frozen=True)
class ColoredOptions:
    """The options of the detector."""

    object_type: str = option("what such a thing is", "cube")
    color: tuple[float, ...] = option("red, green and blue, 0 to 255", (200.0, 30.0, 30.0))
    tolerance: float = option("by which each of the three may differ", 60.0, low=0.0, high=255.0)
    least: int = option("px of a patch that is a thing", 20, low=1, high=1_000_000)

    def __post_init__(self) -> None:
        if len(self.color) != 3:
            raise OptionError("option 'color' must be three numbers: red, green and blue")


class ColoredDetector:
    """See `kc_vla.perception.detectors.ObjectDetector`."""

    def __init__(self, options: ColoredOptions) -> None:
        self._options = options

    def detect(self, frame: CameraFrame) -> list[ImageDetection]:
        """See `ObjectDetector`."""
        wanted = self._options
        off = np.abs(frame.image.astype(float) - wanted.color).max(axis=2)
        count, _, patches, _ = cv2.connectedComponentsWithStats((off <= wanted.tolerance).astype(np.uint8))
        found = []
        for left, top, width, height, area in patches[1:count].tolist():
            if area >= wanted.least:
                box = PixelBox(float(left), float(top), float(left + width), float(top + height))
                found.append(ImageDetection(wanted.object_type, box, min(1.0, area / (width * height))))
        return found

    def close(self) -> None:
        """See `ObjectDetector`: nothing is held."""


COLORED = DetectorKind("things of one color", ColoredOptions, ColoredDetector)
