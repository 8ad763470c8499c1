"""The images of a bag, each joined with its lens, its depth and where its camera was, as the node joins live ones.

The clock is that of the recording: what would still be waited for in the graph is waited for in the bag.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.messages import BagMessage, MessageRef
from kc_vla.bags.reader import BagReader
from kc_vla.cameras.calibration import Calibration, calibration_of
from kc_vla.cameras.decimation import Decimator
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core.frame_tree import FrameTree, WrongTransformError, placed_frames
from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.stamps import nanoseconds
from kc_vla.core.urdf import Placed
from kc_vla.media.images import ImageError
from kc_vla.media.packed_images import sized
from kc_vla.perception.detectors import DetectorError, ListeningDetector
from kc_vla.perception.recorded.camera_topics import RecordedCamera
from kc_vla.perception.recorded.recorded_sources import FLANGE, RecordedProblems, RecordedSources
from kc_vla.perception.view_stream import RawFrame, ViewStream, views_by_frame
from kc_vla.perception.waiting_reports import ReportedImage, WaitingReports

TRANSFORMS = "tf2_msgs/msg/TFMessage"
_STATIC = "tf_static"
_PRIMED_NS = 5_000_000_000
"""So much of a bag is read before a moment from which it goes on: transforms and depth of the first image."""


@dataclass(frozen=True, eq=False)
class JoinedImage:
    """An image that is complete.

    Attributes:
        raw: the image.
        log_ns: when the newest message that it needed was recorded, ns.
        reported: what an external detector reported of it; None of a detector that looks at images.
    """

    raw: RawFrame
    log_ns: int
    reported: ReportedImage | None = None


class RecordedFrames:
    """The complete images of one bag.

    Attributes:
        frames: where all frames are at present.
        problems: what was wrong so far.
        read: messages that were read so far.
    """

    def __init__(self, reader: BagReader, sources: RecordedSources, detector: ListeningDetector | None = None) -> None:
        """Find what belongs together; `detector` is one that listens, None for one that looks at images.

        Raises:
            BagReadError: The bag has nothing that the detector listens to.
        """
        self._reader, self._sources, self._detector = reader, sources, detector
        self.frames, self.problems, self.read = FrameTree(sources.placed), RecordedProblems(), 0
        self.streams = {
            each.view: ViewStream(each.view, self.frames, sources.settings, bool(each.depth))
            for each in sources.cameras
        }
        rate = 0.0 if detector is not None else sources.rate
        self._decimators = {each.view: Decimator(rate) for each in sources.cameras}
        self._report_decimators: dict[tuple[str, str], Decimator] = {}
        self._waiting: WaitingReports | None = None
        known = {name: topic for name, topic in reader.topics().items() if topic.count}
        self._transforms = [name for name, topic in known.items() if topic.type == TRANSFORMS]
        self._roles: dict[str, tuple[str, RecordedCamera]] = {}
        for each in sources.cameras:
            self._roles |= {each.images: ("image", each), each.info: ("info", each), each.depth: ("depth", each)}
        self._roles.pop("", None)
        self._heard: dict[str, str] = {}
        if detector is not None:
            settings = sources.settings
            self._waiting = WaitingReports(detector, self.streams, self.frames, settings.frame, settings.patience_s)
            self._heard = _heard_topics(reader, {name: topic.type for name, topic in known.items()}, detector)
        self._prime()

    def topics(self) -> list[str]:
        """Return the topics that are read."""
        tool = [self._sources.tool_pose] if self._sources.tool_pose else []
        return [*self._roles, *self._transforms, *self._heard, *tool]

    def count(self) -> int:
        """Return the number of messages that are read in all."""
        known = self._reader.topics()
        return sum(known[name].count for name in self.topics() if name in known)

    def after(self, since_ns: int = 0) -> Iterator[JoinedImage | None]:
        """Yield each image that is complete after a moment of the recording, and None after each message.

        Args:
            since_ns: log time; images that were complete before are not looked at.

        Raises:
            BagReadError: A file cannot be read from the disk.
        """
        log_ns = 0
        for message in self._reader.messages(self.topics(), max(0, since_ns - _PRIMED_NS)):
            log_ns = message.ref.log_time_ns
            self.read += 1
            try:
                self._put(message, log_ns / 1e9)
            except (BagReadError, ImageError, WrongTransformError, CalibrationError, DetectorError) as error:
                self.problems.note(f"a message on {message.topic} is left out: {error}")
            for found in self._complete(log_ns / 1e9, log_ns):
                if log_ns > since_ns:
                    yield found
            yield None
        yield from self._complete(math.inf, log_ns)
        for stream in self.streams.values():
            self.problems.note(stream.problem)

    def _complete(self, now_s: float, log_ns: int) -> Iterator[JoinedImage]:
        if self._waiting is not None:
            while (reported := self._waiting.next(now_s)) is not None:
                yield JoinedImage(reported.raw, log_ns, reported)
            self.problems.note(self._waiting.problem)
            return
        for stream in self.streams.values():
            before, stream.problem = stream.problem, ""
            while (raw := stream.newest(now_s)) is not None:
                yield JoinedImage(raw, log_ns)
            if stream.problem != before:
                self.problems.note(stream.problem)

    # -- what comes -------------------------------------------------------------------------------------------

    def _prime(self) -> None:
        """Take what stands: /tf_static may have been recorded late, and the first camera_info after the first image."""
        standing = [name for name in self._transforms if name.endswith(_STATIC)]
        for refs in self._reader.index(standing).values() if standing else ():
            for ref in refs:
                self._take_fixed(ref)
        for each in self._sources.cameras:
            stream = self.streams[each.view]
            lens = (self._first_lens(each.info) if each.info else None) or self._sources.lens
            stream.put_lens(lens)
            self.problems.note(each.remark)
            if lens is None:
                self.problems.note(
                    f"no camera_info of {each.images}, or one of zeros: name its topic with --info, or the file of its "
                    "lens with --lens"
                )

    def _first_lens(self, topic: str) -> Calibration | None:
        refs = self._reader.index([topic]).get(topic, [])
        try:
            return calibration_of(self._reader.decode(self._reader.load(refs[0])), topic) if refs else None
        except (BagReadError, CalibrationError) as error:
            self.problems.note(str(error))
            return None

    def _take_fixed(self, ref: MessageRef) -> None:
        try:
            self.frames.put_fixed(placed_frames(self._reader.decode(self._reader.load(ref))))
        except (BagReadError, WrongTransformError) as error:
            self.problems.note(f"a message on {ref.topic} is left out: {error}")

    def _put(self, message: BagMessage, now_s: float) -> None:
        topic, decoded = message.topic, self._reader.decode(message)
        if topic in self._transforms:
            placed = placed_frames(decoded)
            if topic.endswith(_STATIC):
                self.frames.put_fixed(placed)
            for each, told in zip(placed, decoded.transforms, strict=True):
                if not topic.endswith(_STATIC):
                    self.frames.put([each], nanoseconds(told.header.stamp))
        elif topic in self._heard:
            self._hear(topic, decoded, now_s)
        elif topic in self._roles:
            self._see(*self._roles[topic], decoded, now_s)
        else:
            self._put_flange(decoded)

    def _see(self, role: str, camera: RecordedCamera, message: Any, now_s: float) -> None:
        stream = self.streams[camera.view]
        if role == "info":
            stream.put_lens(calibration_of(message, camera.info) or self._sources.lens)
            return
        stamp_ns = nanoseconds(message.header.stamp)
        if stamp_ns <= 0:
            raise ImageError("it has no stamp: nothing can be seen beside it")
        if role == "depth":
            stream.put_depth(sized(message), stamp_ns, now_s)
        elif self._decimators[camera.view].takes(stamp_ns):
            stream.put_image(sized(message), stamp_ns, now_s)

    def _hear(self, topic: str, message: Any, now_s: float) -> None:
        assert self._detector is not None
        assert self._waiting is not None
        name = self._heard[topic]
        report = self._detector.hear(name, message)
        if report is None:
            return
        view = self._waiting.view_of(topic, report, lambda frame: views_by_frame(self.streams.values()).get(frame, ""))
        decimator = self._report_decimators.setdefault((topic, view), Decimator(self._sources.rate))
        if decimator.takes(report.stamp_ns):
            self.problems.note(report.remark)
            self._waiting.put(topic, report, view, now_s)

    def _put_flange(self, message: Any) -> None:
        at, turn = message.pose.position, message.pose.orientation
        position, quaternion = (at.x, at.y, at.z), (turn.x, turn.y, turn.z, turn.w)
        if not np.isfinite((*position, *quaternion)).all() or not any(quaternion):
            return
        placed = Placed(
            message.header.frame_id or self._sources.settings.frame, FLANGE, pose_matrix(position, quaternion)
        )
        self.frames.put([placed], nanoseconds(message.header.stamp))


def _heard_topics(reader: BagReader, known: Mapping[str, str], detector: ListeningDetector) -> dict[str, str]:
    """Return by the topics of the bag the names that a detector knows them by: these, or all of a type there is."""
    found = {}
    for name, kind in detector.topics.items():
        full = f"/{name.strip('/')}"
        if known.get(full) == kind:
            found[full] = name
    if not found:
        for topic, kind in known.items():
            alike = [name for name, wanted in detector.topics.items() if wanted == kind]
            if len(alike) == 1:
                found[topic] = alike[0]
    if not found:
        kinds = " or ".join(sorted(set(detector.topics.values())))
        raise BagReadError(f"{reader.path} has no {kinds}: record the detector's topic, or name another --detector")
    return found
