"""What is perceived of a kitchen for the arm's skills: by a detector that looks at images, or the truth."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.perception.detectors import TRUTH
from kc_vla.perception.taken import taken_of
from kc_vla.skills.perceived import PerceivedThing, things_of
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.kitchen.perceiving.simulated_perception import SimulatedPerception
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.simulator import Simulator

_LEAST_PIXELS = 6
"""What shows less of itself in all views is not seen."""
TRUTH_IMAGE_SIZE, IMAGE_SIZE = 64, 256
"""Usual size of the images, px: the truth only counts pixels in them, a detector was trained with the other."""


class ArmPerception(Protocol):
    """Reports what a drawn frame shows.

    Attributes:
        image_size: that the simulator draws for it, px.
        needs_depth: whether the simulator draws depth, too.
        first_looks: looks at the beginning after which what stands in view is reported.
    """

    image_size: int
    needs_depth: bool
    first_looks: int

    def begin(self) -> None:
        """Begin an episode: nothing has been seen in it."""
        ...

    def see(
        self, simulator: Simulator, frame: SimulatedFrame, scene: PerceivedScene, kept: Collection[str] = ()
    ) -> None:
        """Report what the present frame shows to a scene, which keeps some ids, see `PerceivedScene.take`."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class TruthPerception:
    """Reports the simulator's truth, as a detector without errors would: the node publishes the same."""

    needs_depth, first_looks = False, 1

    def __init__(self, image_size: int = TRUTH_IMAGE_SIZE) -> None:
        """Take the size of the images, px."""
        self.image_size = image_size

    def begin(self) -> None:
        """Begin an episode."""

    def see(
        self, simulator: Simulator, frame: SimulatedFrame, scene: PerceivedScene, kept: Collection[str] = ()
    ) -> None:
        """Report what the views of a frame show."""
        scene.take(perceived_in(frame, _stamp_s(frame)), _stamp_s(frame))

    def close(self) -> None:
        """Release nothing."""


class ImagePerception:
    """Reports what a detector, depth and tracking make of the images; nothing of the truth gets through."""

    first_looks = 3

    def __init__(
        self, detector: str, options: Mapping[str, Any], image_size: int = IMAGE_SIZE, depth: bool = True
    ) -> None:
        """Open the detector.

        Args:
            detector: name of a row of the detectors.
            options: of the detector.
            image_size: of the cameras, px.
            depth: whether depth images are used.

        Raises:
            DetectorError: it cannot be had.
        """
        self.image_size, self.needs_depth = image_size, True
        self._perception = SimulatedPerception(detector, options, depth)

    def begin(self) -> None:
        """Begin an episode: nothing has been seen in it."""
        self._perception.begin()

    def see(
        self, simulator: Simulator, frame: SimulatedFrame, scene: PerceivedScene, kept: Collection[str] = ()
    ) -> None:
        """Report what the cameras show, one after the other."""
        for image in self._perception.images(simulator, frame):
            found = self._perception.look(image)
            view = taken_of(found, image.stamp_ns).view
            scene.take(things_of(found.objects, _stamp_s(frame)), _stamp_s(frame), view, kept, found.gone)

    def close(self) -> None:
        """Release the detector."""
        self._perception.close()


def arm_perception(
    detector: str = TRUTH, options: Mapping[str, Any] | None = None, image_size: int = 0, depth: bool = True
) -> ArmPerception:
    """Return the perception with a detector.

    Args:
        detector: name of a row of the detectors, or "truth".
        options: of the detector.
        image_size: of the cameras, px; 0: what is usual for the detector.
        depth: whether depth images are used.

    Raises:
        DetectorError: it cannot be had.
    """
    if detector == TRUTH:
        return TruthPerception(image_size or TRUTH_IMAGE_SIZE)
    return ImagePerception(detector, options or {}, image_size or IMAGE_SIZE, depth)


def perceived_in(frame: SimulatedFrame, stamp_s: float) -> Iterator[PerceivedThing]:
    """Yield what the views of a frame show, as a detector without errors reports it."""
    for each in frame.detections:
        shown = (view[each.object_id].pixels for view in frame.visible.values() if each.object_id in view)
        if max(shown, default=0) < _LEAST_PIXELS:
            continue
        yield PerceivedThing(
            each.object_id,
            each.object_type,
            np.array(each.pose.position),
            Rotation.from_quat(each.pose.quaternion),
            np.array(each.size),
            each.state,
            each.attributes,
            1.0,
            stamp_s,
        )


def _stamp_s(frame: SimulatedFrame) -> float:
    return frame.index / CONTROL_RATE
