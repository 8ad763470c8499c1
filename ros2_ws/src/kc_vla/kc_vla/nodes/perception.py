"""Node `perception`: camera images in, objects with an id, a place and a crop out, for the memories."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial

from vision_msgs.msg import Detection2DArray

from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.core.untrusted import one_line
from kc_vla.inference.worker import AtOnce, JobOutcome, Runner
from kc_vla.perception.detectors import DETECTORS, ObjectDetector, SkippedImageError, open_detector, open_listener
from kc_vla.perception.fresh_crops import FreshCrops
from kc_vla.perception.localization import Localizer
from kc_vla.perception.perceiver import Perceiver
from kc_vla.perception.reported_objects import ReportedObjects
from kc_vla.perception.supervision import SupervisedDetector
from kc_vla.perception.tracking import Tracker
from kc_vla.perception.tracks import TrackerSettings
from kc_vla.perception.view_stream import RawFrame
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError, seconds_since
from kc_vla.ros.perception_inputs import PerceptionInputs
from kc_vla.ros.perception_messages import boxes_message, perceived_message
from kc_vla.ros.perception_parameters import PerceptionParameters
from kc_vla.ros.process import run_node
from kc_vla.ros.report_queue import ReportedImage, ReportQueue
from kc_vla.ros.work import runner
from kc_vla_msgs.msg import ObjectDetections

_LOOK_S, _WATCH_S = 0.05, 0.5
_MOST_GIVEN_UP = 3
"""Detectors that never came back from an image: each leaves a thread behind."""
_RATE_WINDOW_S = 5.0
_MOST_LETTERS = 200

_Seen = tuple[ObjectDetections, Detection2DArray, list[str], float]
"""What is published, in 3-D and as boxes, why other things are not, and how long the look took, s."""


class PerceptionNode(StackNode):
    """The node `perception`, which finds objects in the images of the robot's cameras."""

    Parameters = PerceptionParameters
    parameters: PerceptionParameters

    def __init__(self) -> None:
        super().__init__("perception")
        self._lines: dict[str, str] = {}
        self._turns: defaultdict[str, float] = defaultdict(float)
        self._looked: Counter[str] = Counter()
        self._times: deque[float] = deque(maxlen=1000)
        self._busy, self._given_up, self._objects = False, 0, 0
        self._supervised: SupervisedDetector | None = None
        self._reports: ReportQueue | None = None
        self._work: Runner = AtOnce()

    def start(self) -> None:
        """Open the detector and begin to listen."""
        values = self.parameters
        self._published = self.advertise(ObjectDetections, topics.DETECTIONS, qos.STATE)
        self._supervised = self._reports = None
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
        if self._supervised is not None:
            self._supervised.abandon()

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
        if self._supervised is not None:
            told["detector_failures"] = self._supervised.failures + self._given_up
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
        run = f"{time.time_ns() // 1_000_000_000:x}"
        self._tracker = Tracker(TrackerSettings(farthest_m=values.farthest, trust_ids=True, run=run))
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
            self._open()
        self.every(_LOOK_S, self._look)

    def _open(self) -> None:
        values = self.parameters
        given = values.given_options()
        self._supervised = SupervisedDetector(values.detector, partial(open_detector, values.detector, given))
        self._begin(self._supervised)

    def _begin(self, detector: ObjectDetector) -> None:
        self._perceiver = Perceiver(detector, self._localizer, self._tracker)
        self._work = runner(self, False, f"detector '{self.parameters.detector}'", refusals=(Exception,))
        self._busy = False

    # -- what is seen -------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Look at the newest image that is complete, of the camera whose turn it is."""
        if self._busy or self._given_up > _MOST_GIVEN_UP:
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
        return message, boxes, found.refused, time.perf_counter() - began_s

    def _on_seen(self, work: Runner, raw: RawFrame, outcome: JobOutcome[_Seen]) -> None:
        if work is not self._work:
            return  # of a detector that was given up
        self._busy = False
        try:
            message, boxes, refused, seconds = outcome.result()
        except SkippedImageError:
            return
        except StackError as error:
            self._tell("detector", str(error))
            return
        except Exception as error:  # noqa: BLE001  # no image may end the node
            why = one_line(f"{type(error).__name__}: {error}")[:_MOST_LETTERS]
            self._tell("detector", f"an image of {raw.camera} is left out, looking at it failed: {why}")
            return
        self._publish(message)
        if self._boxes[raw.camera].get_subscription_count():
            self._boxes[raw.camera].publish(boxes)
        self._looked[raw.camera] += 1
        self._times.append(time.monotonic())
        self.statistics.add("look", seconds)
        self.statistics.add("image_to_detection", seconds_since(raw.published_ns))
        self._tell("detector", refused[0] if refused else "")
        self._look()

    def _publish(self, message: ObjectDetections) -> None:
        if not message.episode_id and self.episode is not None:
            message.episode_id = self.episode.id
        self._objects = len(message.detections)
        self._published.publish(message)

    # -- what is wrong ------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        if self._reports is None and self._supervised is None:
            heard = any(map(self.count_publishers, self._passed.topics))
            self._tell("truth", "" if heard else f"nobody publishes on {' or '.join(self._passed.topics)}")
            return
        now_s = time.monotonic()
        for view, stream in self._inputs.streams.items():
            self._tell(view, stream.stale(now_s, self._inputs.began_s) or stream.problem)
        if self._reports is not None:
            self._tell("silence", self._reports.silent())
        if self._work.busy_s > self.parameters.answer_timeout and self._supervised is not None:
            self._give_up(self._supervised)

    def _give_up(self, detector: SupervisedDetector) -> None:
        """Leave a detector that does not come back from an image to its thread, and open another one."""
        detector.abandon()
        self._given_up += 1
        silent = f"detector '{self.parameters.detector}' has not answered for {self.parameters.answer_timeout:g} s"
        if self._given_up > _MOST_GIVEN_UP:
            self.problem(f"{silent}, {self._given_up} times: nothing is looked at; start the node anew", ERROR)
            return
        self._tell("detector", f"{silent}: it is opened anew")
        try:
            self._open()
        except Exception as error:  # noqa: BLE001  # whatever a detector of another package raises
            self._given_up = _MOST_GIVEN_UP + 1
            self.problem(f"{one_line(str(error))[:_MOST_LETTERS]}: nothing is looked at", ERROR)

    def _tell(self, about: str, line: str) -> None:
        """Report a problem, or that there is none any more: another one that still stands is shown then."""
        if self._lines.get(about, "") == line:
            return
        self._lines[about] = line
        self.problem(line or next(filter(None, self._lines.values()), ""))


def main() -> None:
    """Run the node."""
    run_node(PerceptionNode)
