"""Node `recorder`: records the topics of each episode in a bag, and publishes the path of the bag.

It listens to serialized messages and never decodes them, apart from the episode's status and result, and
what tells how many keyframe events there are.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import String

from kc_vla.bags.closing import BagClosing
from kc_vla.bags.recorder import EpisodeRecorder, RecorderState, RecorderStatus
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import TopicInfo
from kc_vla.core import topics
from kc_vla.core.episode import Episode
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.health import within
from kc_vla.ros.message_types import named_topics, type_name
from kc_vla.ros.parameters import parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.recording import RECORDED, STANDING, Recorded, offered, recorded_topics
from kc_vla.ros.robot import RobotParameters
from kc_vla_msgs.msg import EpisodeResult, EpisodeStatus, KeyframeEvent, KeyframeIndex

_POLL_S = 0.05
_LATE_NS = 500_000_000
"""A message that comes later than that was sent while this process stood still, or the machine did."""
_FAREWELL_S = 3.0
"""Time that a node which must end while an episode is open waits for the result: its publisher ends as well."""
_DEPTH = 100
"""Messages that wait for this node on each topic: more than a policy that acts on the newest would want."""


def _check_also(text: str) -> None:
    _require_new(named_topics(text), RECORDED)


def _require_new(also: Iterable[str], recorded: Iterable[Recorded]) -> None:
    known = {topic.lstrip("/") for topic, _, _ in recorded}
    for topic in also:
        if topic.lstrip("/") in known:
            raise ValueError(f"{topic} is recorded anyway")


@dataclass(frozen=True)
class RecorderParameters(RobotParameters):
    """Parameters of the node."""

    output_folder: str = parameter("runs", "folder for the bags; each episode gets <output_folder>/<episode id>/bag")
    storage: str = parameter("mcap", "storage format of the bags", choices=("mcap", "sqlite3"))
    also: str = parameter(
        "",
        "further topics to record, each with its type, separated by commas, such as 'tick std_msgs/msg/Empty'",
        check=_check_also,
    )
    grace: float = parameter(0.5, "s that the bag stays open after the end of the episode", low=0.0, high=60.0)
    result_timeout: float = parameter(5.0, "s to wait for the result of a finished episode", low=0.0, high=600.0)


class RecorderNode(StackNode):
    """The node `recorder`, which records each episode into one MCAP bag."""

    Parameters = RecorderParameters
    parameters: RecorderParameters

    def __init__(self) -> None:
        super().__init__("recorder")

    def start(self) -> None:
        """Listen to everything."""
        folder = Path(self.parameters.output_folder).expanduser().resolve()
        views = self.parameters.loaded_robot().views
        ours = recorded_topics(views)
        others = named_topics(self.parameters.also)
        try:
            _require_new(others, ours)  # the views are not known before
        except ValueError as error:
            raise StartError(f"parameter 'also': {error}") from error
        recorded = (*ours, *((topic, kind, qos.STATE) for topic, kind in others.items()))  # best effort hears each
        # Whatever is remapped, and in whatever namespace, a bag has our names: by them it is read.
        names = {topic: self.resolve_topic_name(topic, only_expand=True) for topic, _, _ in recorded}
        names |= {topic: f"/{topic.lstrip('/')}" for topic, _, _ in ours}
        infos = {names[topic]: TopicInfo(type_name(kind), offered(profile)) for topic, kind, profile in recorded}
        standing = [names[topic] for topic in STANDING]
        form = Storage(self.parameters.storage)
        self._recorder = EpisodeRecorder(folder, infos, _stack_version(), form, views, standing)
        self._hears: set[str] = set()
        self._closing = BagClosing()
        self._announced_ns = 0
        self._told_to_end_at: float | None = None
        self._result_may_come_at = 0.0
        self._told: RecorderStatus | None = None
        self._status = self.advertise(String, topics.RECORDER_STATUS, qos.STATUS)
        for topic, kind, profile in recorded:
            deep = QoSProfile(
                depth=max(_DEPTH, profile.depth), reliability=profile.reliability, durability=profile.durability
            )
            self.subscribe(kind, topic, self._taker(names[topic], topic), deep, raw=True)
        self.every(_POLL_S, self._poll)

    def stop(self) -> None:
        """Close the bag."""
        for status in self._recorder.close():
            self._tell(status)

    def lingers(self) -> bool:
        """Return whether the result of the open episode may still come.

        An interrupt reaches this node and the one that publishes it.
        """
        now = time.monotonic()
        if self._told_to_end_at is None:
            self._told_to_end_at = self._result_may_come_at = now
        if self.count_publishers(topics.EPISODE_RESULT):
            self._result_may_come_at = now
        in_time = now - self._told_to_end_at < _FAREWELL_S
        return (
            bool(self._recorder.recording)
            and not self.hurried
            and in_time
            and now - self._result_may_come_at < self.parameters.grace
        )

    def on_episode(self, episode: Episode) -> None:
        """Open the bag of a new episode; note the end of one."""
        if episode.running:
            if episode.id != self._closing.episode:
                self._closing.begin(episode.id)
                self._tell(
                    self._recorder.begin(
                        episode.id, episode.task, episode.seed, episode.instruction, self._announced_ns
                    )
                )
        elif not self._closing.episode:
            adopted = self._recorder.adopt(episode.id)  # this node was dead when the episode ended
            if adopted is not None:
                self._closing.adopt(episode.id, time.monotonic())
                self._tell(adopted)
        elif episode.id == self._closing.episode and self._closing.end(time.monotonic()):
            self._recorder.expect_next()

    def details(self) -> dict[str, object]:
        """Return what else the diagnostics report."""
        told = dict(self._told.as_dict()) if self._told is not None else {}
        return {"hears": " ".join(sorted(self._hears)), **told}

    def _taker(self, name: str, topic: str) -> Callable[[bytes, dict[str, int]], None]:
        return partial(self._take, name, topic)

    def _take(self, name: str, topic: str, data: bytes, info: dict[str, int]) -> None:
        self._hears.add(topic)
        if topic == topics.EPISODE_STATUS:  # first of all, so that a bag begins with its own announcement
            self._announced_ns = info["source_timestamp"]
            self._on_status(deserialize_message(data, EpisodeStatus))
        if info["received_timestamp"] - info["source_timestamp"] > _LATE_NS:
            self._closing.late()
        if topic == topics.DIAGNOSTICS and self.get_namespace() != "/":  # others tell there, too
            own = within(self, deserialize_message(data, DiagnosticArray))
            if not own.status:
                return
            data = serialize_message(own)
        if not self._recorder.add(name, data, info["source_timestamp"], info["received_timestamp"]):
            self.statistics.drop(topic)
        if topic == topics.EPISODE_RESULT:
            self._closing.result(deserialize_message(data, EpisodeResult).episode_id)
        elif topic == topics.KEYFRAME_EVENT:
            event = deserialize_message(data, KeyframeEvent)
            self._closing.event(event.episode_id, event.sequence)
        elif topic == topics.KEYFRAME_INDEX:
            index = deserialize_message(data, KeyframeIndex)
            self._closing.events(index.episode_id, index.events)

    def _poll(self) -> None:
        """Close the bag of a finished episode when its time has come, and publish what has changed."""
        values = self.parameters
        if self._recorder.recording and self._closing.due(time.monotonic(), values.grace, values.result_timeout):
            if not self._closing.has_result:
                self.get_logger().warning(
                    f"episode {self._closing.episode} has no result: its bag is closed without one"
                )
            self._recorder.finish()
        for status in self._recorder.poll():
            self._tell(status)
        progress = self._recorder.progress()
        if progress is not None:
            self._told = progress

    def _tell(self, status: RecorderStatus) -> None:
        """Publish how a recording stands, in words where it ended; of one that is another's, only in the log."""
        if status.state == RecorderState.ELSEWHERE:
            self.problem(status.error)
            return
        if status.state == RecorderState.FAILED:
            self.problem(status.error, ERROR)
        else:
            self.problem("")
        if status.state == RecorderState.CLOSED:
            lost = f", {status.dropped} dropped" if status.dropped else ""
            self.get_logger().info(f"recorded {status.messages} messages in {status.bag}{lost}")
        if self._told is None or status.episode_id in ("", self._closing.episode):
            self._told = status
        self._status.publish(String(data=json.dumps(status.as_dict())))


def _stack_version() -> str:
    try:
        return version("kc_vla")
    except PackageNotFoundError:
        return "source tree"  # run without installation


def main() -> None:
    """Run the node."""
    run_node(RecorderNode)
