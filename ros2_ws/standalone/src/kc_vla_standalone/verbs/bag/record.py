"""`ros2 bag record`."""

from __future__ import annotations

import argparse
import re
import signal
import time
from datetime import datetime
from functools import partial
from pathlib import Path

from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo

from kc_vla.bags.errors import BagWriteError
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import Qos, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter

from ...errors import UsageError
from ...ros.graph import CommandNode, command_node
from ...ros.interfaces import interface_class
from ...ros.qos import adapted_to

_LOOK_PERIOD_S = 0.1
_DEPTH = 100
"""Messages of a topic that may wait for this command."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("topic_names", nargs="*", metavar="topic", help="topics to record")
    parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC", help="the same")
    parser.add_argument("-a", "--all", "--all-topics", action="store_true", help="all topics but hidden ones")
    parser.add_argument("-e", "--regex", help="the topics whose whole name this expression describes")
    parser.add_argument("-o", "--output", type=Path, help="folder of the bag (default: rosbag2_ and the time)")
    parser.add_argument("-s", "--storage", default="mcap", choices=[str(storage) for storage in Storage])


def run(options: argparse.Namespace) -> None:
    """Record until Ctrl-C or SIGTERM; topics that appear later are recorded as well."""
    names = [*options.topic_names, *options.topics]
    if not (names or options.all or options.regex):
        raise UsageError("nothing to record: name topics, or give --all")
    try:
        pattern = re.compile(options.regex) if options.regex else None
    except re.error as error:
        raise UsageError(f"'{options.regex}' is no regular expression: {error}") from error
    folder = options.output or Path(f"rosbag2_{datetime.now():%Y_%m_%d-%H_%M_%S}")
    if folder.exists():
        raise UsageError(f"{folder} exists already: choose another output")
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: stopped.append(number))
    try:
        with command_node() as node:
            wanted = {node.absolute(name) for name in names}
            recording = _Recording(node, EpisodeBagWriter(folder, {}, None, storage=Storage(options.storage)))
            print(f"Recording into {folder}", flush=True)
            look_at = 0.0
            while not stopped:
                if time.monotonic() >= look_at:
                    look_at = time.monotonic() + _LOOK_PERIOD_S
                    for topic, types in node.node.get_topic_names_and_types():
                        hidden = any(part.startswith("_") for part in topic.split("/"))
                        if topic in wanted or (options.all and not hidden) or (pattern and pattern.fullmatch(topic)):
                            recording.listen(topic, types)
                node.spin_step()
            recording.close()
    except BagWriteError as error:
        raise UsageError(str(error)) from error


class _Recording:
    """What is being recorded."""

    def __init__(self, node: CommandNode, writer: EpisodeBagWriter) -> None:
        self._node, self._writer = node, writer
        self._known: set[str] = set()

    def listen(self, topic: str, types: list[str]) -> None:
        """Record a topic from now on, if a node publishes it and its type is known here."""
        publishers = self._node.node.get_publishers_info_by_topic(topic)
        if topic in self._known or not publishers:
            return
        self._known.add(topic)
        if len(types) > 1:
            print(f"'{topic}' has several types ({', '.join(types)}): it is not recorded", flush=True)
            return
        try:
            kind = interface_class(types[0], "msg")
            self._writer.declare(topic, TopicInfo(types[0], _offered(publishers)))
        except (UsageError, BagWriteError) as error:
            print(f"'{topic}' is not recorded: {error}", flush=True)
            return
        profile = adapted_to(publishers, _DEPTH)
        self._node.node.create_subscription(kind, topic, partial(self._take, topic), profile, raw=True)
        print(f"Subscribed to topic '{topic}'", flush=True)

    def _take(self, topic: str, data: bytes, info: dict[str, int]) -> None:
        self._writer.write(topic, data, info["source_timestamp"], info["received_timestamp"])

    def close(self) -> None:
        """Close the bag and say what is in it."""
        stats = self._writer.close()
        dropped = sum(stats.dropped.values())
        lost = f", {dropped} dropped because the disk was too slow" if dropped else ""
        print(f"Recorded {sum(stats.written.values())} messages in {self._writer.folder}{lost}", flush=True)


def _offered(publishers: list[TopicEndpointInfo]) -> Qos:
    """Return what the first of them offers; where the middleware does not report its depth, the usual one."""
    profile = publishers[0].qos_profile
    return Qos(
        reliable=profile.reliability == ReliabilityPolicy.RELIABLE,
        transient_local=profile.durability == DurabilityPolicy.TRANSIENT_LOCAL,
        depth=profile.depth or Qos.depth,
    )
