"""The perception of the stack at a simulator: images in, objects with ids and places out, in one process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kc_vla.perception.camera_fit import CameraFit
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import TRUTH, ObjectDetector, open_detector
from kc_vla.perception.localization import Localizer, LocalizerSettings
from kc_vla.perception.perceiver import Perceived, Perceiver
from kc_vla.perception.tracking import Tracker
from kc_vla.perception.tracks import TrackerSettings
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.kitchen.perceiving.camera_frames import camera_frames
from kc_vla_sim.kitchen.perceiving.truth_detector import TruthDetector
from kc_vla_sim.simulator import Simulator


class SimulatedPerception:
    """Looks at the images of a simulator as the node `perception` looks at those of cameras."""

    def __init__(self, detector: str, options: Mapping[str, Any], depth: bool = True) -> None:
        """Open the detector.

        Args:
            detector: name of a row of the detectors, or `TRUTH`.
            options: of the detector.
            depth: whether depth images are used.

        Raises:
            DetectorError: it cannot be had.
        """
        self._depth = depth
        self._truth = TruthDetector() if detector == TRUTH else None
        self._detector: ObjectDetector = self._truth or open_detector(detector, options)
        self.begin()

    def begin(self) -> None:
        """Begin an episode: nothing has been seen in it."""
        places = LocalizerSettings()
        settings = TrackerSettings(places.support_m, trust_ids=self._truth is not None)
        self._perceiver = Perceiver(self._detector, Localizer(places), Tracker(settings), CameraFit())

    def images(self, simulator: Simulator, frame: SimulatedFrame) -> list[CameraFrame]:
        """Return the images of a frame that the simulator drew with depth; `look` takes them one after the other."""
        if self._truth is not None:
            self._truth.show(frame)
        return list(camera_frames(simulator, frame, depth=True))

    def look(self, image: CameraFrame) -> Perceived:
        """Return what an image shows.

        Raises:
            DetectorError: the detector cannot look at it.
        """
        return self._perceiver.look(image if self._depth else replace(image, depth_m=None))

    def close(self) -> None:
        """Release the detector."""
        self._detector.close()
