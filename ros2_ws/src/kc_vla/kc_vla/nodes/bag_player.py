"""Node `bag_player`: a recorded bag as the topics it was recorded from, in the same order and with the same stamps."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rclpy.exceptions import InvalidTopicNameException
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.validate_full_topic_name import validate_full_topic_name
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image
from std_srvs.srv import Trigger

from kc_vla.bags.errors import BagError, one_line
from kc_vla.bags.images import decode_image
from kc_vla.bags.joining_late import with_late_start
from kc_vla.bags.playback import Playback
from kc_vla.bags.reader import BagMessage, BagReader
from kc_vla.bags.topics import Qos
from kc_vla.core import topics
from kc_vla.episodes.stamped_time import in_stamped_time
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.convert import image_message, time_message
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node

_COMPRESSED = "sensor_msgs/msg/CompressedImage"
_KIND = re.compile(r"([a-z][a-z0-9_]*)/(?:msg/)?([A-Z]\w*)", re.ASCII)
_TICK_S = 0.002
_CLOCK_HZ = 100.0
_FAREWELL = Duration(seconds=1)
"""How long a reader may take to get the last messages of a reliable topic."""


@dataclass(frozen=True)
class PlayerParameters(NodeParameters):
    """Parameters of the node."""

    bag: str = parameter("", "bag folder, .mcap or .db3 file")
    rate: float = parameter(1.0, "times as fast as it was recorded", low=0.01, high=100.0, fixed=False)
    start: float = parameter(0.0, "s of the bag that are left out", low=0.0)
    loop: bool = parameter(False, "begin again at the end")
    paused: bool = parameter(False, "wait for the service bag_player/resume")
    topics: str = parameter("", "topics to play, with commas between; empty: all")
    clock: bool = parameter(False, "tell the time of the bag on /clock, for nodes with use_sim_time")
    time: str = parameter(
        "recorded",
        "when a message is due: as it was recorded, or stamped: as its sensor saw it",
        choices=("recorded", "stamped"),
    )
    decompress: bool = parameter(False, "publish compressed pictures as raw ones, on the topic without /compressed")
    wait: float = parameter(1.0, "s for others to find its topics before the first message", low=0.0, high=60.0)


class BagPlayerNode(StackNode):
    """See the module."""

    Parameters = PlayerParameters
    parameters: PlayerParameters

    def __init__(self) -> None:
        super().__init__("bag_player")

    def start(self) -> None:
        """Open the bag, offer its topics, begin."""
        wanted = self.parameters
        chosen = [name.strip() for name in wanted.topics.split(",") if name.strip()]
        self._chosen = [name if name.startswith("/") else f"/{name}" for name in chosen] or None
        self._published = 0
        try:
            self._reader = BagReader(Path(wanted.bag).expanduser())
            recorded = {topic: found for topic, found in self._reader.topics().items() if found.count}
            if missing := sorted(set(self._chosen or ()) - recorded.keys()):
                has = ", ".join(sorted(recorded)) or "no message"
                raise StartError(one_line(f"{wanted.bag} has no {', '.join(missing)}: it has {has}"))
            kinds = {topic: found.type for topic, found in recorded.items() if topic in (self._chosen or recorded)}
            self._packed = {topic for topic, kind in kinds.items() if wanted.decompress and kind == _COMPRESSED}
            for topic in kinds:
                _check_name(self._offered(topic), wanted.bag)
            self._stamped = {topic for topic, kind in kinds.items() if _has_header(kind)}
            self._latched = [topic for topic in kinds if recorded[topic].qos.transient_local]
            self._start = wanted.start
            now = time.monotonic()
            self._playback = Playback(self._messages, now, wanted.rate, wanted.start, wanted.loop, self._latched)
            self._playback.pause(now)
        except BagError as error:
            raise StartError(str(error)) from error
        self._outlets = {
            topic: self.advertise(
                Image if topic in self._packed else _message_class(kind),
                self._offered(topic),
                _profile(recorded[topic].qos),
            )
            for topic, kind in kinds.items()
        }
        self._time_topic = self.advertise(Clock, "/clock", qos.STATE) if wanted.clock else None
        self._begins_at = time.monotonic() + wanted.wait
        self._waits = not wanted.paused
        self.serve(Trigger, topics.PLAYER_PAUSE, self._pause)
        self.serve(Trigger, topics.PLAYER_RESUME, self._resume)
        self.serve(Trigger, topics.PLAYER_STEP, self._step)
        self.every(_TICK_S, self._tick)
        if self._time_topic is not None:
            self.every(1.0 / _CLOCK_HZ, self._tell_time)

    def on_parameters(self) -> None:
        """Play at another rate."""
        self._playback.set_rate(time.monotonic(), self.parameters.rate)

    def details(self) -> dict[str, object]:
        """Return how far it is."""
        playback = getattr(self, "_playback", None)
        if playback is None:
            return {}
        told = {"published": self._published, "paused": playback.paused, "rounds": playback.rounds}
        outlets = getattr(self, "_outlets", {})
        counts = {f"readers{self._offered(topic)}": o.get_subscription_count() for topic, o in outlets.items()}
        return told | counts

    def _offered(self, topic: str) -> str:
        return topic.removesuffix("/compressed") if topic in self._packed else topic

    def _messages(self) -> Iterator[BagMessage]:
        if self.parameters.time == "stamped":
            return in_stamped_time(self._reader.messages(self._chosen), self._stamped)
        start, self._start = self._start, 0.0  # a loop begins with what was left out at first
        if start > 0.0:
            return with_late_start(self._reader, self._chosen, self._latched, start)
        return self._reader.messages(self._chosen)

    def _tick(self) -> None:
        now = time.monotonic()
        if self._waits and now >= self._begins_at:
            self._waits = False
            self._playback.resume(now)
        try:
            for message in [] if self._playback.paused else self._playback.due(now):
                self._publish(message)
        except BagError as error:
            self.fail(str(error))
            return
        if self._playback.ended:
            if self._reader.damages:
                self.problem("; ".join(self._reader.damages), ERROR)
            for outlet in self._outlets.values():
                outlet.wait_for_all_acked(_FAREWELL)
            self.get_logger().info(f"end of {self.parameters.bag} after {self._published} messages")
            self.done = True

    def _publish(self, message: BagMessage) -> None:
        self._outlets[message.topic].publish(self._unpacked(message) if message.topic in self._packed else message.data)
        self._published += 1

    def _unpacked(self, message: BagMessage) -> Image:
        told = self._reader.decode(message)
        stamp = Time(sec=told.header.stamp.sec, nanosec=told.header.stamp.nanosec)
        return image_message(decode_image(told, message.topic), stamp, told.header.frame_id)

    def _tell_time(self) -> None:
        assert self._time_topic is not None
        self._time_topic.publish(Clock(clock=time_message(self._playback.clock_ns(time.monotonic()))))

    def _pause(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._waits = False
        self._playback.pause(time.monotonic())
        response.success, response.message = True, "paused"
        return response

    def _resume(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._waits = False
        self._playback.resume(time.monotonic())
        response.success, response.message = True, "plays"
        return response

    def _step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._waits = False
        message = self._playback.step(time.monotonic())
        if message is None:
            response.message = "the bag has ended"
            return response
        self._publish(message)
        response.success, response.message = True, message.topic
        return response


def _check_name(topic: str, bag: str) -> None:
    """Raises: StartError: no topic can be called so."""
    try:
        validate_full_topic_name(topic)
    except InvalidTopicNameException:
        told = one_line(f"{bag}: no topic can be called '{topic}'")
        raise StartError(f"{told}: choose others with 'topics'") from None


def _message_class(kind: str) -> Any:
    """The class of a type, e.g. sensor_msgs/msg/Image.

    Raises:
        StartError: nothing here knows it.
    """
    try:
        if not (parts := _KIND.fullmatch(kind)):
            raise ValueError
        found = getattr(import_module(f"{parts[1]}.msg"), parts[2])
        found.get_fields_and_field_types()
        return found
    except (ImportError, AttributeError, ValueError) as error:
        raise StartError(
            one_line(f"message type {kind} is not known here: build its package, or leave its topics out with 'topics'")
        ) from error


def _has_header(kind: str) -> bool:
    """Whether a message of this type begins with a stamp."""
    return next(iter(_message_class(kind).get_fields_and_field_types().values()), "") == "std_msgs/Header"


def _profile(offered: Qos) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=offered.depth,
        reliability=ReliabilityPolicy.RELIABLE if offered.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if offered.transient_local else DurabilityPolicy.VOLATILE,
    )


def main() -> None:
    """Run the node."""
    run_node(BagPlayerNode)
