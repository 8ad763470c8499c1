"""From one camera image to objects with ids: a detector, places in 3-D, and tracking, in one call."""

from __future__ import annotations

from dataclasses import dataclass, field

from kc_vla.perception.camera_fit import CameraFit
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import ObjectDetector
from kc_vla.perception.inferred_drawers import inferred_drawers, with_own_fronts
from kc_vla.perception.localization import Localizer
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.seen_region import SeenRegion, region_of
from kc_vla.perception.tracking import Tracker


@dataclass(frozen=True)
class Perceived:
    """What one image shows.

    Attributes:
        objects: with their ids; see `Tracked.objects`.
        region: what was in view, for a memory to conclude from what is not in `objects`; None where nothing may be
            concluded, as long as it is not decided whether an object is gone or just was not detected.
        gone: ids of the objects that are not there any more.
        refused: what was left out and why, a line each.
        held: why all that this camera shows is held back, in a line; empty where it is not.
    """

    objects: list[LocatedObject]
    region: SeenRegion | None = None
    gone: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    held: str = ""


class Perceiver:
    """Looks at images of all cameras of a robot, for one thread."""

    def __init__(
        self, detector: ObjectDetector, localizer: Localizer, tracker: Tracker, fit: CameraFit | None = None
    ) -> None:
        """Put these together; the caller closes the detector.

        Args:
            detector: finds objects in images.
            localizer: finds their places.
            tracker: knows them again.
            fit: notices a camera that was moved; None: each camera is where it is said to be.
        """
        self._detector, self._localizer, self._tracker, self._fit = detector, localizer, tracker, fit

    def look(self, frame: CameraFrame) -> Perceived:
        """Return what an image shows.

        Raises:
            DetectorError: The detector cannot look at this image.
            CameraFrameError: The lens of the camera is of a model that is not known.
        """
        frame, problem = self._localizer.with_valid_depth(frame)
        held = None if self._fit is None else self._fit.check(frame)
        if held is not None:
            return Perceived([], refused=problem, held=held)
        found = self._detector.detect(frame)
        located = self._localizer.locate_valid(frame, found)
        objects = with_own_fronts(located.objects)
        missed = inferred_drawers(located.frame, objects)
        tracked = self._tracker.update(located.frame, [*objects, *missed])
        region = None
        if not tracked.undecided:
            region = region_of(located.frame, self._localizer.settings.farthest_m)
        return Perceived(tracked.objects, region, tracked.gone, [*problem, *located.refused, *tracked.refused])
