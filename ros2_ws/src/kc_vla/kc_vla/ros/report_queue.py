"""The subscriptions to an external detector, whose reports wait for their images."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from kc_vla.cameras.decimation import Decimator
from kc_vla.core.untrusted import one_line
from kc_vla.perception.detectors import DetectorError, ListeningDetector
from kc_vla.perception.waiting_reports import ReportedImage, WaitingReports
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.message_types import UnknownTypeError, message_class
from kc_vla.ros.perception_inputs import PerceptionInputs
from kc_vla.ros.perception_parameters import PerceptionParameters

_MOST_LETTERS = 200
_IMAGES = "images of reports"
"""What a problem is about: reports whose images do not come."""


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
        self._waiting = WaitingReports(detector, inputs.streams, inputs.frames, inputs.target, values.patience)
        self._decimators: dict[tuple[str, str], Decimator] = {}
        self.heard = 0
        for topic, kind in detector.topics.items():
            node.subscribe(message_type(kind), topic, partial(self._take, topic), qos.STATE)

    def next(self) -> ReportedImage | None:
        """Return the newest report whose image is complete; older ones of the same topic and view are dropped."""
        found = self._waiting.next(time.monotonic())
        self._tell(_IMAGES, self._waiting.problem)
        return found

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
            view = "" if report is None else self._waiting.view_of(topic, report, self._inputs.view_of)
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
        self._waiting.put(topic, report, view, time.monotonic())
        self._ready()

    def _leave_out(self, topic: str, why: str) -> None:
        self._node.statistics.drop(topic)
        self._tell(topic, why)


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
