"""Node `perception`: camera images in, objects with an id, a place and a crop out, for the memories."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial

from vision_msgs.msg import Detection2DArray

from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.inference.worker import AtOnce, JobOutcome, Runner
from kc_vla.perception.camera_fit import CameraFit
from kc_vla.perception.detector_keeper import DetectorKeeper, GivenUpDetector, failed_look
from kc_vla.perception.detectors import (
    DETECTORS,
    ObjectDetector,
    ReportedObjects,
    SkippedImageError,
    open_detector,
    open_listener,
)
from kc_vla.perception.fresh_crops import FreshCrops
from kc_vla.perception.localization import Localizer
from kc_vla.perception.perceiver import Perceived, Perceiver
from kc_vla.perception.standing_problems import StandingProblems
from kc_vla.perception.tracking import Tracker
from kc_vla.perception.tracks import TrackerSettings
from kc_vla.perception.view_stream import RawFrame
from kc_vla.perception.waiting_reports import ReportedImage
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError, seconds_since
from kc_vla.ros.perception_inputs import PerceptionInputs
from kc_vla.ros.perception_messages import boxes_message, perceived_message
from kc_vla.ros.perception_parameters import PerceptionParameters
from kc_vla.ros.process import run_node
from kc_vla.ros.report_queue import ReportQueue
from kc_vla.ros.work import runner
from kc_vla_msgs.msg import ObjectDetections

_LOOK_S, _WATCH_S = 0.05, 0.5
_RATE_WINDOW_S = 5.0

_Seen = tuple[ObjectDetections, Detection2DArray, Perceived, float]
"""What is published, in 3-D and as boxes, what was perceived, and how long the look took, s."""


class PerceptionNode(StackNode):
    """The node `perception`, which finds objects in the images of the robot's cameras."""

    Parameters = PerceptionParameters
    parameters: PerceptionParameters

    def __init__(self) -> None:
        super().__init__("perception")
        self._problems = StandingProblems()
        self._turns: defaultdict[str, float] = defaultdict(float)
        self._looked: Counter[str] = Counter()
        self._times: deque[float] = deque(maxlen=1000)
        self._busy, self._objects = False, 0
        self._keeper: DetectorKeeper | None = None
        self._reports: ReportQueue | None = None
        self._work: Runner = AtOnce()

    def start(self) -> None:
        """Open the detector and begin to listen."""
        values = self.parameters
        self._published = self.advertise(ObjectDetections, topics.DETECTIONS, qos.STATE)
        self._keeper = self._reports = None
        try:
            row = DETECTORS.get(values.detector)
            if row.passes_on:
                self._pass_on()
            else:
                self._begin_to_look(row.listens)
        except (StackError, ValueError) as error:
            raise StartError(str(error)) from error
        self.every(_WATCH_S, self._watch)

    def stop(self) -> None:
        """Leave a detector that computes to itself."""
        self._work.close()
        if self._keeper is not None:
            self._keeper.abandon()

    def details(self) -> dict[str, object]:
        """Return what was looked at."""
        now_s = time.monotonic()
        lately = sum(now_s - each < _RATE_WINDOW_S for each in self._times)
        told: dict[str, object] = {
            "detector": self.parameters.detector,
            "images_a_second": f"{lately / _RATE_WINDOW_S:.1f}",
            "objects": self._objects,
        }
        told |= {f"looked/{view}": count for view, count in self._looked.items()}
        if self._keeper is not None:
            told["detector_failures"] = self._keeper.failures
        if self._reports is not None:
            told["reports"] = self._reports.heard
        return told

    # -- what begins --------------------------------------------------------------------------------------------

    def _pass_on(self) -> None:
        """Publish what an external node says as it is."""
        self._passed = open_listener(self.parameters.detector, self.parameters.given_options())
        for topic in self._passed.topics:
            self.subscribe(ObjectDetections, topic, self._publish, qos.STATE)

    def _begin_to_look(self, listens: Sequence[str]) -> None:
        values = self.parameters
        self._localizer = Localizer(values.localizer())
        support_m, run = self._localizer.settings.support_m, f"{time.time_ns() // 1_000_000_000:x}"
        self._tracker = Tracker(TrackerSettings(support_m, farthest_m=values.farthest, trust_ids=True, run=run))
        self._fit = CameraFit() if values.camera_check else None
        self._crops = FreshCrops(values.crop_longest)
        views = values.loaded_robot().views
        self._boxes = {view: self.advertise(Detection2DArray, topics.boxes_topic(view), qos.IMAGE) for view in views}
        self._reported = ReportedObjects()
        listener = open_listener(values.detector, values.given_options()) if listens else None
        self.watch_episodes()
        rate = 0.0 if listens else values.rate
        self._inputs = PerceptionInputs(self, values, rate, self._tell, self._look)
        if listener is not None:
            self._reports = ReportQueue(self, listener, self._inputs, values, self._tell, self._look)
            self._begin(self._reported)
        else:
            open_it = partial(open_detector, values.detector, values.given_options())
            self._keeper = DetectorKeeper(values.detector, open_it, values.answer_timeout)
            self._begin(self._keeper.detector)
        self.every(_LOOK_S, self._look)

    def _begin(self, detector: ObjectDetector) -> None:
        self._perceiver = Perceiver(detector, self._localizer, self._tracker, self._fit)
        self._work = runner(self, False, f"detector '{self.parameters.detector}'", refusals=(Exception,))
        self._busy = False

    # -- what is seen -------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Look at the newest image that is complete, of the camera whose turn it is."""
        if self._busy or (self._keeper is not None and self._keeper.over):
            return
        if self._reports is not None:
            if (found := self._reports.next()) is not None:
                self._submit(found.raw, partial(self._see_reported, found))
            return
        now_s = time.monotonic()
        for stream in sorted(self._inputs.streams.values(), key=lambda each: self._turns[each.view]):
            if (raw := stream.newest(now_s)) is not None:
                self._submit(raw, partial(self._see, raw))
                return

    def _submit(self, raw: RawFrame, job: Callable[[], _Seen]) -> None:
        self._busy = True
        self._turns[raw.camera] = time.monotonic()
        if moved := self._inputs.streams[raw.camera].moved(raw):
            self.note(moved)
        self._work.submit(job, partial(self._on_seen, self._work, raw))

    def _see_reported(self, found: ReportedImage) -> _Seen:
        self._reported.put(found.report, found.where)
        return self._see(found.raw)

    def _see(self, raw: RawFrame) -> _Seen:
        """Look at an image; this runs in the thread of the detector."""
        began_s = time.perf_counter()
        frame = raw.unpacked()
        found = self._perceiver.look(frame)
        message = perceived_message(found, self._inputs.target, raw.stamp_ns, partial(self._crops.of, frame))
        boxes = boxes_message(found, raw.image.header)
        return message, boxes, found, time.perf_counter() - began_s

    def _on_seen(self, work: Runner, raw: RawFrame, outcome: JobOutcome[_Seen]) -> None:
        if work is not self._work:
            return  # of a detector that was given up
        self._busy = False
        try:
            message, boxes, found, seconds = outcome.result()
        except SkippedImageError:
            return
        except StackError as error:
            self._tell("detector", str(error))
            return
        except Exception as error:  # noqa: BLE001  # no image may end the node
            self._tell("detector", failed_look(raw.camera, error))
            return
        self._publish(message)
        if self._boxes[raw.camera].get_subscription_count():
            self._boxes[raw.camera].publish(boxes)
        self._looked[raw.camera] += 1
        self._times.append(time.monotonic())
        self.statistics.add("look", seconds)
        self.statistics.add("image_to_detection", seconds_since(raw.published_ns))
        self._tell("detector", found.refused[0] if found.refused else "")
        self._tell(f"place of {raw.camera}", found.held)
        self._look()

    def _publish(self, message: ObjectDetections) -> None:
        if not message.episode_id and self.episode is not None:
            message.episode_id = self.episode.id
        self._objects = len(message.detections)
        self._published.publish(message)

    # -- what is wrong ------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        if self._reports is None and self._keeper is None:
            heard = any(map(self.count_publishers, self._passed.topics))
            self._tell("truth", "" if heard else f"nobody publishes on {' or '.join(self._passed.topics)}")
            return
        now_s = time.monotonic()
        for view, stream in self._inputs.streams.items():
            self._tell(view, stream.stale(now_s, self._inputs.began_s) or stream.problem)
        if self._reports is not None:
            self._tell("silence", self._reports.silent())
        elif self._keeper is not None and (given_up := self._keeper.check(self._work.busy_s)) is not None:
            self._go_on(given_up)

    def _go_on(self, given_up: GivenUpDetector) -> None:
        if given_up.successor is None:
            self.problem(given_up.line, ERROR)
            return
        self._tell("detector", given_up.line)
        self._begin(given_up.successor)

    def _tell(self, about: str, line: str) -> None:
        """Report a problem, or that there is none any more: another one that still stands is shown then."""
        if (shown := self._problems.changed(about, line)) is not None:
            self.problem(shown)


def main() -> None:
    """Run the node."""
    run_node(PerceptionNode)
