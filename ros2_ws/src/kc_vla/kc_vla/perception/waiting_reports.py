"""What an external detector reported and has not been looked at: each report waits for its image, within bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kc_vla.core.errors import StackError
from kc_vla.core.frame_tree import FrameTree, LateTransformError
from kc_vla.core.mounted_camera import Pose
from kc_vla.perception.detectors import DetectorError, DetectorReport, ListeningDetector
from kc_vla.perception.view_stream import RawFrame, ViewStream

_MOST_WAITING = 20
_MISSED = 10
"""Reports in a row without their image that are no problem yet: an image can be lost, above all at the start."""


@dataclass(frozen=True, eq=False)
class _Waiting:
    report: DetectorReport
    view: str
    topic: str
    came_s: float


@dataclass(frozen=True, eq=False)
class ReportedImage:
    """An image and what was reported of it; `where` is the pose of the report's frame, None for boxes."""

    raw: RawFrame
    report: DetectorReport
    where: Pose | None


class WaitingReports:
    """The newest reports of a detector, each of which is joined with its image.

    Attributes:
        problem: why reports have no image, in one line; empty where they have.
    """

    def __init__(
        self,
        detector: ListeningDetector,
        streams: Mapping[str, ViewStream],
        frames: FrameTree,
        target: str,
        patience_s: float,
    ) -> None:
        """Begin without any.

        Args:
            detector: that reports.
            streams: the images of each view.
            frames: where all frames are.
            target: the frame that objects are located in.
            patience_s: how long a report waits for its image, s.
        """
        self._detector, self._streams, self._frames = detector, streams, frames
        self._target, self._patience_s = target, patience_s
        self._waiting: deque[_Waiting] = deque(maxlen=_MOST_WAITING)
        self._missed = 0
        self.problem = ""

    def put(self, topic: str, report: DetectorReport, view: str, now_s: float) -> None:
        """Take a report of an image of a view; `now_s` is of a clock that never goes back."""
        self._waiting.append(_Waiting(report, view, topic, now_s))

    def view_of(self, topic: str, report: DetectorReport, view_in: Callable[[str], str]) -> str:
        """Return the view whose image a report is of.

        Args:
            topic: of the report.
            report: that is asked about.
            view_in: returns the view whose images are in a frame; empty where none is.

        Raises:
            DetectorError: It does not say, and neither does the option of the detector.
        """
        views = self._streams
        if self._detector.camera and self._detector.camera not in views:
            raise DetectorError(f"option 'camera' is {self._detector.camera}: the views are {', '.join(views)}")
        found = view_in(report.frame_id) or self._detector.camera
        if found or report.posed or len(views) == 1:
            return found or next(iter(views))
        frames = " and ".join(sorted(each.optical_frame or "-" for each in views.values()))
        raise DetectorError(
            f"detections on {topic} are in the frame '{report.frame_id[:60]}' and images in {frames}: set the option "
            "'camera' to the view that was looked at"
        )

    def next(self, now_s: float) -> ReportedImage | None:
        """Return the newest report whose image is complete; older ones of the same topic and view are dropped."""
        for each in [*self._waiting][::-1]:
            try:
                found = self._joined(each, now_s)
            except StackError as error:
                self._waiting.remove(each)
                self._missed += 1
                if self._missed >= _MISSED:
                    self.problem = str(error)
                continue
            if found is not None:
                self._missed, self.problem = 0, ""
                newer = [other for other in self._waiting if other.report.stamp_ns > each.report.stamp_ns]
                others = [other for other in self._waiting if (other.topic, other.view) != (each.topic, each.view)]
                self._waiting = deque([*newer, *(o for o in others if o not in newer)], _MOST_WAITING)
                return found
        return None

    def _joined(self, each: _Waiting, now_s: float) -> ReportedImage | None:
        """Return a report with its image; None while it may come.

        Raises:
            StackError: It will not.
        """
        stream = self._streams[each.view]
        is_late = now_s - each.came_s > self._patience_s
        raw = stream.nearest(each.report.stamp_ns, self._detector.tolerance_s, now_s)
        if raw is None:
            if is_late:
                raise DetectorError(stream.problem or f"detections of {each.view}, and no image of it yet")
            return None
        if not each.report.posed:
            return ReportedImage(raw, each.report, None)
        frame_id = each.report.frame_id or stream.optical_frame
        try:
            where = self._frames.lookup(self._target, frame_id, each.report.stamp_ns)
        except LateTransformError:
            if is_late:
                raise
            return None
        return ReportedImage(raw, each.report, where.pose)
