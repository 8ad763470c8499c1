"""What the images of a bag show, one after the other: a detector, places in 3-D and tracking, as in the node."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.reader import BagReader
from kc_vla.cameras.calibration import Calibration
from kc_vla.core.errors import StackError
from kc_vla.core.mounted_camera import MountedCamera
from kc_vla.core.topics import TOOL_POSE
from kc_vla.core.urdf import Placed
from kc_vla.perception.camera_fit import CameraFit
from kc_vla.perception.detectors import (
    DETECTORS,
    ObjectDetector,
    ReportedObjects,
    SkippedImageError,
    open_detector,
    open_listener,
)
from kc_vla.perception.localization import Localizer, LocalizerSettings
from kc_vla.perception.perceiver import Perceived, Perceiver
from kc_vla.perception.recorded.camera_topics import WantedTopics, cameras_of
from kc_vla.perception.recorded.map_frame import BASE_FRAME, map_frame
from kc_vla.perception.recorded.recorded_frames import JoinedImage, RecordedFrames
from kc_vla.perception.recorded.recorded_sources import FLANGE, RecordedSources
from kc_vla.perception.supervision import SupervisedDetector
from kc_vla.perception.tracking import Tracker
from kc_vla.perception.tracks import TrackerSettings
from kc_vla.perception.view_stream import StreamSettings

_BELOW_SUPPORT_M = 0.05
_TABLE_FRAMES = (BASE_FRAME, "base_link", "base")
"""Frames of arms, whose base stands on the surface that things stand on."""


@dataclass(frozen=True)
class LookSettings:
    """How the images of bags are looked at.

    Attributes:
        detector: name of a row of the detectors.
        options: of the detector.
        wanted: topics that a user names.
        frame: that objects are located in; empty: see `map_frame`.
        camera: where a camera is; None: /tf says where the cameras are.
        lens: of a camera without camera_info; None: there is none.
        rate: images a second that are looked at, of each camera.
        support_m: height of the surface that things stand on, m; None: 0 in the frame of an arm, else not known.
    """

    detector: str
    options: Mapping[str, Any]
    wanted: WantedTopics
    frame: str = ""
    camera: MountedCamera | None = None
    lens: Calibration | None = None
    rate: float = 5.0
    support_m: float | None = None


@dataclass(frozen=True, eq=False)
class RecordedLook:
    """What one image shows.

    Attributes:
        camera: name of its view.
        stamp_ns: of the image.
        log_ns: when what it needed was recorded, ns.
        seen: what it shows.
    """

    camera: str
    stamp_ns: int
    log_ns: int
    seen: Perceived


class RecordedLooks:
    """Looks at the images of one bag.

    Attributes:
        frame: that objects are located in.
        looked: images that were looked at, by view.
        refused: how often something was left out, by the reason.
        frames: the images of the bag.
    """

    def __init__(self, reader: BagReader, settings: LookSettings) -> None:
        """Find the cameras of the bag and open the detector.

        Raises:
            StackError: The detector cannot be had.
            BagReadError: The bag has no camera, nothing that the detector listens to, or no frame of a map.
        """
        cameras = cameras_of(reader, settings.wanted)
        placed, tool_pose = _placed(settings.camera, settings.frame)
        self.frame = settings.frame or map_frame(reader, cameras, placed)
        listens = bool(DETECTORS.get(settings.detector).listens)
        self._reported = ReportedObjects()
        listener = open_listener(settings.detector, settings.options) if listens else None
        sources = RecordedSources(
            cameras,
            StreamSettings(self.frame),
            placed,
            settings.lens,
            tool_pose,
            settings.rate,
        )
        self.frames = RecordedFrames(reader, sources, listener)
        self.looked: Counter[str] = Counter({each.view: 0 for each in cameras})
        self.refused: Counter[str] = Counter()
        self._detector: ObjectDetector = self._reported
        if not listens:
            opened = partial(open_detector, settings.detector, settings.options)
            self._detector = SupervisedDetector(settings.detector, opened)
        support_m = settings.support_m
        if support_m is None and (self.frame in _TABLE_FRAMES or settings.camera is not None):
            support_m = 0.0
        lowest_m = None if support_m is None else support_m - _BELOW_SUPPORT_M
        localizer = Localizer(LocalizerSettings(support_m, lowest_m))
        run = f"{time.time_ns() // 1_000_000:x}"
        tracker = Tracker(TrackerSettings(support_m, trust_ids=True, run=run))
        self._perceiver = Perceiver(self._detector, localizer, tracker, CameraFit())

    def close(self) -> None:
        """Release the detector."""
        self._detector.close()

    def after(self, since_ns: int = 0) -> Iterator[RecordedLook | None]:
        """Yield the objects in each image after a moment of the recording, and None after each message.

        Args:
            since_ns: log time, ns.

        Raises:
            BagReadError: A file cannot be read from the disk.
        """
        for found in self.frames.after(since_ns):
            look = None if found is None else self._look(found)
            if look is not None or found is None:
                yield look

    def _look(self, found: JoinedImage) -> RecordedLook | None:
        raw = found.raw
        if found.reported is not None:
            self._reported.put(found.reported.report, found.reported.where)
        try:
            seen = self._perceiver.look(raw.unpacked())
        except SkippedImageError:
            return None
        except StackError as error:
            self.frames.problems.note(str(error))
            return None
        self.frames.problems.note(seen.held)
        self.looked[raw.camera] += 1
        self.refused.update(seen.refused)
        return RecordedLook(raw.camera, raw.stamp_ns, found.log_ns, seen)


def detections_topic(reader: BagReader, detector: str, options: Mapping[str, Any]) -> str:
    """Return the topic of a detector whose messages are used directly, such as `truth`; empty for any other detector.

    Raises:
        BagReadError: The bag has no such topic.
        StackError: There is no such detector.
    """
    if not DETECTORS.get(detector).passes_on:
        return ""
    known = reader.topics()
    names = [each.strip("/") for each in open_listener(detector, options).topics]
    for topic in sorted(known):
        if any(topic.strip("/") == name or topic.endswith(f"/{name}") for name in names):
            return topic
    raise BagReadError(f"{reader.path} has nothing on {' or '.join(names)}: choose another --detector")


def _placed(camera: MountedCamera | None, frame: str) -> tuple[list[Placed], str]:
    """Return where a calibration places a camera, and the topic of the flange's poses where it is on the flange."""
    if camera is None:
        return [], ""
    if camera.in_hand:
        return [Placed(FLANGE, camera.frame, camera.pose)], f"/{TOOL_POSE}"
    return [Placed(frame or BASE_FRAME, camera.frame, camera.pose)], ""
