"""Node `bag_player`: a recorded bag as the topics it was recorded from, in the same order and with the same stamps."""

from __future__ import annotations

import time
from dataclasses import dataclass

from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image
from std_srvs.srv import Trigger

from kc_vla.bags.errors import BagError, one_line
from kc_vla.bags.messages import BagMessage
from kc_vla.core import topics
from kc_vla.replay.played_bag import PlayedBag
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.convert import image_message, time_message
from kc_vla.ros.message_types import UnknownTypeError, message_class
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.recorded_topics import check_name, has_header, profile_of

_TICK_S = 0.002
_CLOCK_HZ = 100.0
_FAREWELL = Duration(seconds=1)
"""How long a reader may take to get the last messages of a reliable topic."""


@dataclass(frozen=True)
class PlayerParameters(NodeParameters):
    """Parameters of the node."""

    bag: str = parameter("", "bag folder, .mcap or .db3 file")
    rate: float = parameter(1.0, "playback rate; 2: twice as fast as recorded", low=0.01, high=100.0, fixed=False)
    start: float = parameter(0.0, "s to skip at the beginning of the bag", low=0.0)
    loop: bool = parameter(False, "begin again at the end")
    paused: bool = parameter(False, "wait for the service bag_player/resume")
    topics: str = parameter("", "topics to play, separated by commas; empty: all")
    clock: bool = parameter(False, "publish the time of the bag on /clock, for nodes with use_sim_time")
    time: str = parameter(
        "recorded",
        "times by which messages are played; recorded: time of recording; stamped: stamp of the header",
        choices=("recorded", "stamped"),
    )
    decompress: bool = parameter(False, "publish compressed images as raw ones, on the topic without /compressed")
    wait: float = parameter(
        1.0, "s before the first message, in which subscribers discover the topics", low=0.0, high=60.0
    )


class BagPlayerNode(StackNode):
    """The node `bag_player`, which publishes a recorded bag."""

    Parameters = PlayerParameters
    parameters: PlayerParameters

    def __init__(self) -> None:
        super().__init__("bag_player")

    def start(self) -> None:
        """Open the bag, offer its topics, begin."""
        wanted = self.parameters
        self._published = 0
        now = time.monotonic()
        try:
            self._bag = PlayedBag(wanted.bag, wanted.topics, wanted.decompress)
            if self._bag.left_out:
                self.problem("; ".join(self._bag.left_out))
            for topic in self._bag.topics.values():
                check_name(topic.name, wanted.bag)
            classes = {name: message_class(topic.type) for name, topic in self._bag.topics.items()}
            stamped = {name for name, kind in classes.items() if has_header(kind)} if wanted.time == "stamped" else None
            self._playback = self._bag.begin(now, wanted.rate, wanted.start, wanted.loop, stamped)
            self._playback.pause(now)
        except UnknownTypeError as error:
            raise StartError(one_line(f"{error}, or leave its topics out with 'topics'")) from error
        except BagError as error:
            raise StartError(str(error)) from error
        self._outlets = {
            name: self.advertise(Image if topic.unpacked else classes[name], topic.name, profile_of(topic.qos))
            for name, topic in self._bag.topics.items()
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
        return {"published": self._published, "paused": playback.paused, "rounds": playback.rounds}

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
            if self._bag.damages:
                self.problem("; ".join(self._bag.damages), ERROR)
            for outlet in self._outlets.values():
                outlet.wait_for_all_acked(_FAREWELL)
            self.get_logger().info(f"end of {self.parameters.bag} after {self._published} messages")
            self.done = True

    def _publish(self, message: BagMessage) -> None:
        unpacked = self._bag.topics[message.topic].unpacked
        self._outlets[message.topic].publish(self._unpacked(message) if unpacked else message.data)
        self._published += 1

    def _unpacked(self, message: BagMessage) -> Image:
        picture, header = self._bag.unpack(message)
        return image_message(picture, Time(sec=header.stamp.sec, nanosec=header.stamp.nanosec), header.frame_id)

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


def main() -> None:
    """Run the node."""
    run_node(BagPlayerNode)
