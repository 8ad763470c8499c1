"""Node `keyframe_selector`: images in, of one camera or both, a score for every frame and keyframe events out."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path

from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import Image, JointState

from kc_vla.core import topics
from kc_vla.core.episode import Episode
from kc_vla.core.rig import gripper_joints
from kc_vla.inference.models import ModelError, shipped_models
from kc_vla.inference.onnx_sessions import InferenceError
from kc_vla.keyframes.learned import LearnedSource, SelectorNetwork
from kc_vla.keyframes.model import load_selector
from kc_vla.keyframes.selector import Held, KeyframeSelector
from kc_vla.keyframes.smoothing import GreedySmoother
from kc_vla.keyframes.sources import OracleSource, RuleSource, Sight, Source
from kc_vla.keyframes.synchronizer import Moment, Synchronizer
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError, seconds_since
from kc_vla.ros.convert import image_pixels, nanoseconds, pose_array, time_message
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.streams import listen
from kc_vla_msgs.msg import KeyframeEvent, KeyframeIndex, KeyframeScore

JOIN_PATIENCE_S = 20.0
"""How long a selector that starts in the middle of an episode waits for the buffer to tell what is committed."""


@dataclass(frozen=True)
class SelectorParameters(NodeParameters):
    """Parameters of the node."""

    source: str = parameter("oracle", "what scores the frames", choices=("oracle", "rules", "learned"))
    threshold: float = parameter(
        -1.0, "a score above it makes a candidate; -1: as the source has it", low=-1.0, high=1.0, fixed=False
    )
    model: str = parameter("keyframe_selector", "of source `learned`, a name in the registry of models")
    models_folder: str = parameter("", "folder with that registry; empty: that of the models shipped with the stack")
    device: str = parameter("auto", "that the model runs on", choices=("auto", "cpu", "cuda"))
    threads: int = parameter(1, "of the CPU for the model", low=1, high=64)
    window_frames: int = parameter(5, "quiet frames that commit a candidate", low=1, high=1000)
    sync_tolerance: float = parameter(
        0.02, "s between an image and the wrist image or joint state beside it", low=0.0, high=1.0
    )


class KeyframeSelectorNode(StackNode):
    """See the module."""

    Parameters = SelectorParameters
    parameters: SelectorParameters

    def __init__(self) -> None:
        super().__init__("keyframe_selector")

    def start(self) -> None:
        """Subscribe to what the source needs."""
        self._source = self._make_source()
        tolerance_ns = round(self.parameters.sync_tolerance * 1e9)
        self._streams = Synchronizer("third_person", self._source.needs, tolerance_ns, exact=["oracle"])
        self._selector: KeyframeSelector | None = None
        self._index: KeyframeIndex | None = None
        self._events = 0
        self._last: KeyframeScore | None = None
        self._joining_since: float | None = None
        self._scores = self.advertise(KeyframeScore, topics.KEYFRAME_SCORE, qos.EVENT)
        self._changes = self.advertise(KeyframeEvent, topics.KEYFRAME_EVENT, qos.EVENT_LOG)
        self.watch_episodes()
        self.subscribe(KeyframeIndex, topics.KEYFRAME_INDEX, self._on_index, qos.STATUS)
        for kind, topic, profile, name in (
            (KeyframeScore, topics.ORACLE_SCORE, qos.EVENT, "oracle"),
            (JointState, topics.JOINT_STATES, qos.STATE, "joints"),
            (PoseStamped, topics.TOOL_POSE, qos.STATE, "tool_pose"),
            (Image, topics.WRIST_IMAGE, qos.IMAGE, "wrist"),
        ):
            if name in self._source.needs:
                listen(self, kind, topic, profile, name, self._on_sample)
        listen(self, Image, topics.THIRD_PERSON_IMAGE, qos.IMAGE, "third_person", self._on_sample)

    def on_episode(self, episode: Episode) -> None:
        """Begin the phases of a new episode."""
        if not episode.running:
            self._selector = None
            return
        try:
            scoring = self._source.begin(episode)
        except ValueError as error:
            self._selector = None
            self.problem(f"no keyframes in this episode: {error}", ERROR)
            return
        self._scorer, self._own_threshold = scoring.scorer, scoring.threshold
        smoother = GreedySmoother(self._threshold(), self.parameters.window_frames, scoring.middle)
        self._selector = KeyframeSelector(scoring.labels, smoother)
        self._streams.reset(after_ns=episode.start_ns - 1)
        self._events, self._last, self._joining_since = 0, None, None
        self.problem(scoring.remark)

    def on_parameters(self) -> None:
        """Take the new threshold from the next frame on."""
        if self._selector is not None:
            self._selector.threshold = self._threshold()

    def details(self) -> dict[str, object]:
        """Return where in the task the selector is."""
        selector = getattr(self, "_selector", None)
        return {
            "phase": selector.phase if selector else "none",
            "source": self.parameters.source,
            "runs on": self._runs_on,
        }

    def _make_source(self) -> Source:
        self._runs_on = "-"
        if self.parameters.source == "oracle":
            return OracleSource()
        if self.parameters.source == "rules":
            return RuleSource()
        folder = self.parameters.models_folder
        try:
            model = load_selector(Path(folder).expanduser() if folder else shipped_models(), self.parameters.model)
            network = SelectorNetwork(model, self.parameters.device, self.parameters.threads)
        except (ModelError, InferenceError) as error:
            raise StartError(str(error)) from error
        self._runs_on = network.provider
        return LearnedSource(network)

    def _threshold(self) -> float:
        """The threshold that was asked for, or the source's own."""
        return self._own_threshold if self.parameters.threshold < 0 else self.parameters.threshold

    def _on_index(self, index: KeyframeIndex) -> None:
        self._index = index

    def _on_sample(self, stream: str, stamp_ns: int, message: object, published_ns: int) -> None:
        if self._selector is None:
            return
        if stream == "third_person" and self._last is not None and stamp_ns == nanoseconds(self._last.header.stamp):
            self._scores.publish(self._last)  # a frame shown again: somebody has not got its score
            return
        for moment in self._streams.put(stream, stamp_ns, (message, published_ns)):
            self._process(moment)
        for name, count in self._streams.incomplete.items():
            self.statistics.dropped[name] = count

    def _process(self, moment: Moment) -> None:
        assert self.episode is not None
        assert self._selector is not None
        frame = self.episode.frame_of(moment.stamp_ns)
        if self._last is None and frame > 0 and not self._join(frame):
            self._streams.reset(after_ns=moment.stamp_ns - 1)  # in lock-step this very frame is shown again
            return
        image, published_ns = moment["third_person"]
        self._count_gap(frame)
        began = time.perf_counter()
        score, events = math.nan, []
        if frame > self._selector.last_frame:
            phase = self._selector.phase
            score = self._scorer.score(_sight(moment), phase)
            events = self._selector.update(frame, score)
        self.statistics.add("score", time.perf_counter() - began)
        for event in events:
            message = KeyframeEvent(
                episode_id=self.episode.id,
                sequence=self._events,
                type=int(event.decision),
                frame_index=event.frame,
                decided_at_frame=event.decided_at,
                phase=event.phase,
                label=event.label,
                score=event.score,
                source=self.parameters.source,
            )
            message.header.frame_id = image.header.frame_id
            message.header.stamp = time_message(self.episode.start_ns + event.frame * self.episode.period_ns)
            self._changes.publish(message)
            self._events += 1
        self._last = KeyframeScore(
            header=image.header,
            episode_id=self.episode.id,
            frame_index=frame,
            phase=self._selector.phase,
            score=score,
            threshold=self._selector.threshold,
            source=self.parameters.source,
            events=self._events,
        )
        self._scores.publish(self._last)
        self.statistics.add("camera_to_event", seconds_since(published_ns))

    def _count_gap(self, frame: int) -> None:
        if self._last is not None and frame > self._last.frame_index + 1:
            self.statistics.drop("third_person/image_raw", frame - self._last.frame_index - 1)

    def _join(self, frame: int) -> bool:
        """Take up an episode in its middle from what the buffer holds; False to let this frame pass."""
        assert self.episode is not None
        assert self._selector is not None
        index = self._index
        if index is not None and index.episode_id == self.episode.id:
            if index.events == 0 and not index.frame_indices:
                return True  # the buffer knows of nothing either: this is the first frame that anybody saw
            columns = (index.frame_indices, index.phases, index.scores, index.committed)
            held = [Held(*row) for row in zip(*columns, strict=True)]
            self._selector.restore(held, min(index.newest_frame, frame))
            self._events = index.events
            self.get_logger().info(f"goes on at frame {frame} with {len(held)} keyframes from the buffer")
            return True
        now = time.monotonic()
        self._joining_since = self._joining_since or now
        if now - self._joining_since < JOIN_PATIENCE_S:
            return False
        self.problem(f"starts at frame {frame} without the keyframes before it: keyframe_buffer does not tell of any")
        return True


def _sight(moment: Moment) -> Sight:
    """Return what the scorer may look at; the joints called finger or gripper add up to the opening."""
    pixels = image_pixels(moment["third_person"][0])
    if "wrist" in moment.samples:
        return Sight(moment.stamp_ns, pixels, wrist=image_pixels(moment["wrist"][0]))
    if "oracle" in moment.samples:
        return Sight(moment.stamp_ns, pixels, oracle=moment["oracle"][0].score)
    if "joints" not in moment.samples:
        return Sight(moment.stamp_ns, pixels)
    joints, pose = moment["joints"][0], moment["tool_pose"][0].pose
    opening = sum(joints.position[k] for k in gripper_joints(joints.name))
    return Sight(moment.stamp_ns, pixels, gripper=float(opening), tool_position=pose_array(pose)[:3])


def main() -> None:
    """Run the node."""
    run_node(KeyframeSelectorNode)
