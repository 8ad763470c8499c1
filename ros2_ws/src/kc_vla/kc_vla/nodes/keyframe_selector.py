"""Node `keyframe_selector`: images in, of one camera or more, a score for every frame and keyframe events out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from std_msgs.msg import Header

from kc_vla.core import topics
from kc_vla.core.episode import Episode
from kc_vla.core.options import OptionError, options_in
from kc_vla.inference.devices import DEVICES
from kc_vla.inference.worker import JobOutcome, NoResultError
from kc_vla.keyframes.joining import Index, Joining, Start
from kc_vla.keyframes.live import WAITING_FRAMES, FrameToScore, LiveSelector, ScoredFrame
from kc_vla.keyframes.scoring import SourceError, views_for
from kc_vla.keyframes.selectors import SELECTOR, SELECTORS, open_selector
from kc_vla.keyframes.smoothing import WINDOW_FRAMES
from kc_vla.keyframes.synchronizer import SyncedFrame, Synchronizer
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError, seconds_since
from kc_vla.ros.convert import event_message, index_from, nanoseconds, score_message
from kc_vla.ros.health import CANNOT_SELECT
from kc_vla.ros.parameters import parameter, without_defaults
from kc_vla.ros.process import run_node
from kc_vla.ros.robot import RobotParameters
from kc_vla.ros.streams import listen_for_sights, sight_in
from kc_vla.ros.work import runner
from kc_vla_msgs.msg import KeyframeEvent, KeyframeIndex, KeyframeScore


@dataclass(frozen=True)
class SelectorParameters(RobotParameters):
    """Parameters of the node."""

    selector: str = parameter(
        "oracle", f"what scores the frames: {', '.join(SELECTORS.names())}", check=SELECTORS.get, former="source"
    )
    threshold: float = parameter(
        -1.0, "a score above it makes a candidate; -1: the selector's own threshold", low=-1.0, high=1.0, fixed=False
    )
    model: str = parameter(SELECTOR, "name in the registry of models, for the selectors `learned` and `events`")
    models_folder: str = parameter("", "folder of the registry of models; empty: the shipped models")
    device: str = parameter("auto", "device for the model", choices=DEVICES)
    threads: int = parameter(1, "CPU threads for the model", low=1, high=64)
    options: str = parameter(
        "", "options of the selector that have no parameter here, such as those of another package, e.g. '{every: 5}'"
    )
    window_frames: int = parameter(
        WINDOW_FRAMES, "debounce window: frames without a later candidate that confirm one", low=1, high=1000
    )
    wait_timeout: float = parameter(3.0, "s that a score may take before the node warns", low=0.1, high=60.0)
    sync_tolerance: float = parameter(
        0.02,
        "most s between an image of the first view and the other images or joint state of its frame",
        low=0.0,
        high=1.0,
    )


class KeyframeSelectorNode(StackNode):
    """The node `keyframe_selector`, which scores every frame and publishes keyframe events."""

    Parameters = SelectorParameters
    parameters: SelectorParameters

    def __init__(self) -> None:
        super().__init__("keyframe_selector")
        self._runs_on = "-"
        self._looks = False  # frames of this episode are looked at
        self._forget()

    def start(self) -> None:
        """Subscribe to what the selector needs."""
        values = self.parameters
        try:
            given = options_in(values.options, "parameter 'options'")
            backend = open_selector(values.selector, given, without_defaults(values))
            views = views_for(backend, values.loaded_robot().views)
        except (SourceError, OptionError) as error:
            raise StartError(str(error)) from error
        self._runs_on = backend.runs_on
        self._selector = LiveSelector(backend, values.window_frames)
        inline = SELECTORS.get(values.selector).inline
        self._work = runner(self, inline, f"selector '{values.selector}'", WAITING_FRAMES, refusals=(ValueError,))
        self._view = views[0]
        beside = dict.fromkeys((*views[1:], *(need for need in backend.needs if need not in views)))
        self._streams = Synchronizer(views[0], beside, round(values.sync_tolerance * 1e9), exact=["oracle"])
        self._joining = Joining()
        self._index: Index | None = None
        self._scores = self.advertise(KeyframeScore, topics.KEYFRAME_SCORE, qos.EVENT)
        self._changes = self.advertise(KeyframeEvent, topics.KEYFRAME_EVENT, qos.EVENT_LOG)
        self.watch_episodes()
        self.subscribe(KeyframeIndex, topics.KEYFRAME_INDEX, self._on_index, qos.STATUS)
        listen_for_sights(self, views, backend.needs, self._on_sample)
        if not inline:
            self.every(0.5, self._watch)

    def stop(self) -> None:
        """Leave a selector that computes to itself."""
        self._looks = False
        self._work.close()

    def on_episode(self, episode: Episode) -> None:
        """Begin the phases of a new episode."""
        self._looks = episode.running
        if episode.running:
            self._streams.reset(after_ns=episode.start_ns - 1)
            self._forget()
            self._joining.begin()
            self.problem("")
            self._work.begin(partial(self._selector.begin, episode), self._on_begun)

    def details(self) -> dict[str, object]:
        """Return where in the task the selector is."""
        phase = self._found.phase if self._found is not None else 0
        here: dict[str, object] = {"episode": "none", "phase": "none"}
        if self._looks and self.episode is not None:
            here = {"episode": self.episode.id, "phase": phase}
        refused = {CANNOT_SELECT: self._refused} if self._refused else {}
        return {**here, "source": self.parameters.selector, "runs on": self._runs_on, **refused}

    def _forget(self) -> None:
        """Forget all that is known of an episode."""
        self._refused = ""
        self._events = 0
        self._found: ScoredFrame | None = None
        self._last: KeyframeScore | None = None
        self._start: Start | None = None
        self._remark = self._unsound = ""
        self._is_late = False

    def _on_begun(self, outcome: JobOutcome[str]) -> None:
        try:
            self._remark = outcome.result()
        except NoResultError:
            return  # the next episode has begun
        except ValueError as error:
            self._looks = False
            self.problem(f"no keyframes in this episode: {error}", ERROR)
            if self.episode is not None:
                self._refused = self.episode.id
                self.publish_diagnostics()  # whoever waits for keyframes waits in vain
            return
        if self._remark:
            self.problem(self._remark)

    def _on_index(self, index: KeyframeIndex) -> None:
        self._index = index_from(index)

    def _on_sample(self, stream: str, stamp_ns: int, message: object, published_ns: int) -> None:
        if not self._looks:
            return
        if stream == self._view and self._last is not None and stamp_ns == nanoseconds(self._last.header.stamp):
            self._scores.publish(self._last)  # a frame shown again: somebody has not got its score
            return
        for moment in self._streams.put(stream, stamp_ns, (message, published_ns)):
            self._look(moment)
        for name, count in self._streams.incomplete.items():
            self.statistics.dropped[name] = count

    def _look(self, moment: SyncedFrame) -> None:
        episode = self.episode
        assert episode is not None
        frame = episode.frame_of(moment.stamp_ns)
        if self._start is None and not self._join(episode, frame):
            self._streams.reset(after_ns=moment.stamp_ns - 1)  # in lock-step this very frame is shown again
            return
        assert self._start is not None
        look = FrameToScore(frame, sight_in(moment), self.parameters.threshold, self._start)
        image, published_ns = moment[self._view]
        self._work.submit(
            partial(self._selector.take, look), partial(self._on_found, episode, frame, image.header, published_ns)
        )

    def _join(self, episode: Episode, frame: int) -> bool:
        """Return whether the selector can start at this frame."""
        self._start = self._joining.start(episode.id, frame, self._index)
        if self._start is None:
            return False
        self._events = self._start.events
        if self._start.held is not None:
            self.get_logger().info(f"goes on at frame {frame} with {len(self._start.held)} keyframes from the buffer")
        if self._start.problem:
            self.problem(self._start.problem)
        return True

    def _on_found(
        self, episode: Episode, frame: int, header: Header, published_ns: int, outcome: JobOutcome[ScoredFrame | None]
    ) -> None:
        try:
            found = outcome.result()
        except NoResultError:
            return  # of another episode; or passed over, as the gap before the next frame tells
        if found is None:
            return
        if self._last is not None and frame > self._last.frame_index + 1:
            self.statistics.drop(topics.image_topic(self._view), frame - self._last.frame_index - 1)
        self._found = found
        self.statistics.add("score", found.seconds)
        source = self.parameters.selector
        for event in found.events:
            self._changes.publish(event_message(event, episode, self._events, source, header.frame_id))
            self._events += 1
        self._last = score_message(found, episode, frame, self._events, source, header)
        self._scores.publish(self._last)
        self.statistics.add("camera_to_event", seconds_since(published_ns))
        if self._is_late or found.problem != self._unsound:
            self._is_late, self._unsound = False, found.problem
            self.problem(found.problem or self._remark)

    def _watch(self) -> None:
        """Report that the selector holds everything up."""
        timeout = self.parameters.wait_timeout
        if self._work.busy_s > timeout:
            self._is_late = True
            self.problem(
                f"selector '{self.parameters.selector}' has not answered for {timeout:g} s: no frame is scored"
            )


def main() -> None:
    """Run the node."""
    run_node(KeyframeSelectorNode)
