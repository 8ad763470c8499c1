"""What an external detector reported and has not been looked at: each report waits for its image, within bounds."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from kc_vla.cameras.decimation import Decimator
from kc_vla.core.errors import StackError
from kc_vla.core.frame_tree import LateTransformError
from kc_vla.core.mounted_camera import Pose
from kc_vla.core.untrusted import one_line
from kc_vla.perception.detectors import DetectorError, DetectorReport, ListeningDetector
from kc_vla.perception.view_stream import RawFrame
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.message_types import UnknownTypeError, message_class
from kc_vla.ros.perception_inputs import PerceptionInputs
from kc_vla.ros.perception_parameters import PerceptionParameters

_MOST_WAITING = 20
_MOST_LETTERS = 200
_IMAGES = "images of reports"
"""What a problem is about: reports whose images do not come."""
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


class ReportQueue:
    """The subscriptions to an external detector."""

    def __init__(
        self,
        node: StackNode,
        detector: ListeningDetector,
        inputs: PerceptionInputs,
        values: PerceptionParameters,
        tell: Callable[[str, str], None],
        ready: Callable[[], None],
    ) -> None:
        """Listen.

        Args:
            node: that is starting.
            detector: says on which topics, and reads what comes.
            inputs: of the cameras.
            values: parameters of the node.
            tell: is given what a problem is about, and the problem in one line; an empty line where there is none.
            ready: called after each report.

        Raises:
            StartError: a message type is not known here.
        """
        self._node, self._detector, self._inputs, self._values = node, detector, inputs, values
        self._tell, self._ready = tell, ready
        self._waiting: deque[_Waiting] = deque(maxlen=_MOST_WAITING)
        self._decimators: dict[tuple[str, str], Decimator] = {}
        self.heard, self._missed = 0, 0
        for topic, kind in detector.topics.items():
            node.subscribe(message_type(kind), topic, partial(self._take, topic), qos.STATE)

    def next(self) -> ReportedImage | None:
        """Return the newest report whose image is complete; older ones of the same topic and view are dropped."""
        now_s = time.monotonic()
        for each in [*self._waiting][::-1]:
            try:
                found = self._joined(each, now_s)
            except StackError as error:
                self._waiting.remove(each)
                self._missed += 1
                if self._missed >= _MISSED:
                    self._tell(_IMAGES, str(error))
                continue
            if found is not None:
                self._missed = 0
                self._tell(_IMAGES, "")
                newer = [other for other in self._waiting if other.report.stamp_ns > each.report.stamp_ns]
                others = [other for other in self._waiting if (other.topic, other.view) != (each.topic, each.view)]
                self._waiting = deque([*newer, *(o for o in others if o not in newer)], _MOST_WAITING)
                return found
        return None

    def silent(self) -> str:
        """Return that nobody publishes on any topic of the detector, in one line; empty where a node does."""
        if time.monotonic() - self._inputs.began_s < self._values.stale_after:
            return ""
        if any(self._node.count_publishers(each) for each in self._detector.topics):
            return ""
        return f"nobody publishes on {' or '.join(self._detector.topics)}: start the detector, or name its topics"

    def _take(self, topic: str, message: Any) -> None:
        self.heard += 1
        try:
            report = self._detector.hear(topic, message)
            view = "" if report is None else self._view(topic, report)
        except DetectorError as error:
            self._leave_out(topic, str(error))
            return
        except Exception as error:  # noqa: BLE001  # whatever a detector of another package raises
            why = one_line(f"{type(error).__name__}: {error}")[:_MOST_LETTERS]
            self._leave_out(topic, f"a message on {topic} is left out, the detector failed: {why}")
            return
        if report is None:
            return
        if not self._decimators.setdefault((topic, view), Decimator(self._values.rate)).takes(report.stamp_ns):
            return
        self._tell(topic, report.remark)
        self._waiting.append(_Waiting(report, view, topic, time.monotonic()))
        self._ready()

    def _leave_out(self, topic: str, why: str) -> None:
        self._node.statistics.drop(topic)
        self._tell(topic, why)

    def _view(self, topic: str, report: DetectorReport) -> str:
        """Return the view whose image a report is of."""
        views = self._inputs.streams
        if self._detector.camera and self._detector.camera not in views:
            raise DetectorError(f"option 'camera' is {self._detector.camera}: the robot's views are {', '.join(views)}")
        found = self._inputs.view_of(report.frame_id) or self._detector.camera
        if found or report.posed or len(views) == 1:
            return found or next(iter(views))
        frames = " and ".join(sorted(each.optical_frame or "-" for each in views.values()))
        raise DetectorError(
            f"detections on {topic} are in the frame '{report.frame_id[:60]}' and images in {frames}: set the option "
            "'camera' to the view that was looked at"
        )

    def _joined(self, each: _Waiting, now_s: float) -> ReportedImage | None:
        """Return a report with its image; None while it may come.

        Raises:
            StackError: it will not.
        """
        stream = self._inputs.streams[each.view]
        is_late = now_s - each.came_s > self._values.patience
        raw = stream.nearest(each.report.stamp_ns, self._detector.tolerance_s, now_s)
        if raw is None:
            if is_late:
                raise DetectorError(stream.problem or f"detections of {each.view}, and no image of it yet")
            return None
        if not each.report.posed:
            return ReportedImage(raw, each.report, None)
        frame_id = each.report.frame_id or stream.optical_frame
        try:
            where = self._inputs.frames.lookup(self._inputs.target, frame_id, each.report.stamp_ns)
        except LateTransformError:
            if is_late:
                raise
            return None
        return ReportedImage(raw, each.report, where.pose)


def message_type(name: str) -> type:
    """Return the class of a message type.

    Raises:
        StartError: nothing here knows it.
    """
    try:
        return message_class(name)  # type: ignore[no-any-return]  # of an interface package
    except UnknownTypeError as error:
        package = name.partition("/")[0].replace("_", "-")
        raise StartError(f"{error}: apt install ros-$ROS_DISTRO-{package}, or run setup.sh again") from error
