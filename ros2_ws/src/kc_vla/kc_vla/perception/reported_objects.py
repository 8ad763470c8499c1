"""What an external detector reported of an image, in the place of a detector that looks at it."""

from __future__ import annotations

from collections.abc import Sequence

from kc_vla.core.mounted_camera import Pose
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import DetectorReport
from kc_vla.perception.image_detection import ImageDetection


class ReportedObjects:
    """An `ObjectDetector` that returns what the last report says."""

    def __init__(self) -> None:
        self._report: DetectorReport | None = None
        self._where: Pose | None = None

    def put(self, report: DetectorReport, where: Pose | None) -> None:
        """Take the report of the next image, and the pose of its frame in the frame that objects are located in."""
        self._report, self._where = report, where

    def detect(self, frame: CameraFrame) -> Sequence[ImageDetection]:
        """Return the objects of the last report."""
        return () if self._report is None else self._report.in_image(frame, self._where)

    def close(self) -> None:
        """Do nothing."""
