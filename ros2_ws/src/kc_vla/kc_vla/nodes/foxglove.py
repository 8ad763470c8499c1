"""Node `foxglove`: serves all topics of the running graph to Foxglove and Lichtblick, read-only.

A topic is listened to while a client wants it; images go on at a rate that is bounded. No publisher waits for
this node, and its process takes what time the others leave.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from kc_vla.bags.errors import BagError
from kc_vla.bags.schemas import collect_schema
from kc_vla.core.ports import FOXGLOVE
from kc_vla.live.foxglove import FoxgloveServer
from kc_vla.live.foxglove_access import ORIGINS
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.message_types import UnknownTypeError, message_class
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node
from kc_vla.web.serving import THIS_MACHINE, ListenError

_NICE = 10
"""Niceness of this process, which must not take time from a control loop."""
_LARGE = frozenset({"sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/PointCloud2"})
_LEFT_OUT = frozenset({"/parameter_events"})
_DEPTH = 100


@dataclass(frozen=True)
class FoxgloveParameters(NodeParameters):
    """Parameters of the node."""

    host: str = parameter("127.0.0.1", "address to listen at; 127.0.0.1: only this machine can connect")
    port: int = parameter(FOXGLOVE, "port to listen at; 0: any free one", low=0, high=65535)
    origins: str = parameter(
        "",
        "web pages that may connect, in addition to Foxglove's own and those of this machine, such as "
        "https://viewer.example, separated by commas",
    )
    picture_rate: float = parameter(
        10.0, "most images and point clouds of a topic that are forwarded per second", low=0.1, high=120.0, fixed=False
    )


class FoxgloveNode(StackNode):
    """The node `foxglove`, which serves all topics to Foxglove and Lichtblick."""

    Parameters = FoxgloveParameters
    parameters: FoxgloveParameters

    def __init__(self) -> None:
        super().__init__("foxglove")

    def start(self) -> None:
        """Listen, and offer the topics that there are, and those that come."""
        values = self.parameters
        self._types: dict[str, str] = {}
        self._heard: dict[str, Any] = {}
        self._next_at: dict[str, float] = {}
        changed = self.from_any_thread(self._watch)
        origins = (*ORIGINS, *(origin.strip() for origin in values.origins.split(",") if origin.strip()))
        try:
            self._server = FoxgloveServer(values.host, values.port, changed, origins)
        except ListenError as taken:
            try:
                self._server = FoxgloveServer(values.host, 0, changed, origins)
            except ListenError:
                raise StartError(str(taken)) from taken
            self.get_logger().warning(f"{taken}; another port is taken")
        self._look()
        self.every(1.0, self._look)
        name = "localhost" if values.host in THIS_MACHINE else values.host
        print(f"foxglove: open a connection to ws://{name}:{self._server.port}", flush=True)

    def stop(self) -> None:
        """Close it."""
        self._server.close()

    def details(self) -> dict[str, object]:
        """Return what is offered and wanted."""
        if not self.works:
            return {}
        return {"offered": len(self._server.offered), "wanted": len(self._server.wanted), "port": self._server.port}

    def _look(self) -> None:
        """Offer the topics that are new."""
        for topic, kinds in self.get_topic_names_and_types():
            if topic in self._types or topic in _LEFT_OUT or not self.count_publishers(topic):
                continue
            self._types[topic] = kinds[0]
            if len(kinds) > 1:
                self.problem(f"{topic} is of {len(kinds)} types, {', '.join(kinds)}: it is not shown")
                continue
            try:
                message_class(kinds[0])
                schema = collect_schema(kinds[0])
            except (UnknownTypeError, BagError) as error:
                self.problem(f"{topic} is not shown: {error}")
                continue
            self._server.offer(topic, schema, self._profile(topic).durability == DurabilityPolicy.TRANSIENT_LOCAL)

    def _watch(self) -> None:
        """Listen to what is wanted, and to nothing else."""
        wanted = self._server.wanted
        for topic in self._heard.keys() - wanted:
            self.unsubscribe(self._heard.pop(topic))
            self._server.forget(topic)
        for topic in wanted - self._heard.keys():
            kind = message_class(self._types[topic])
            take = partial(self._take, topic)
            self._heard[topic] = self.subscribe(kind, topic, take, self._profile(topic), raw=True)
        self._server.tell_again()

    def _profile(self, topic: str) -> QoSProfile:
        """Return what fits all that publish it."""
        offered = [each.qos_profile for each in self.get_publishers_info_by_topic(topic)]
        reliable = all(each.reliability == ReliabilityPolicy.RELIABLE for each in offered)
        stands = bool(offered) and all(each.durability == DurabilityPolicy.TRANSIENT_LOCAL for each in offered)
        return QoSProfile(
            depth=_DEPTH if stands else 10,
            reliability=ReliabilityPolicy.RELIABLE if reliable and stands else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if stands else DurabilityPolicy.VOLATILE,
        )

    def _take(self, topic: str, message: bytes) -> None:
        if self._types[topic] in _LARGE:
            now = time.monotonic()
            if now < self._next_at.get(topic, 0.0):
                return
            self._next_at[topic] = now + 1.0 / self.parameters.picture_rate
        self._server.put(topic, message)


def main() -> None:
    """Run the node."""
    os.nice(_NICE)
    run_node(FoxgloveNode)
