"""The node of a command, and waiting for what it looks for in the graph.

There is no daemon: each command discovers the graph anew, within a time-out.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import rclpy
import rclpy.utilities
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from ..errors import UsageError, check_home

DISCOVERY_TIMEOUT_S = 10.0
# Discovery has no end that a node could know of. On one busy machine the nodes of a stack come within 2 s, with gaps
# of up to 0.8 s: a graph that has stood still for this long counts as complete, one without any other node only after
# a longer wait.
_STILL_S = 1.6
_ALONE_S = 2.5
_STEP_S = 0.05

T = TypeVar("T")


def add_discovery_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of commands that look at the graph."""
    parser.add_argument(
        "--spin-time",
        type=float,
        default=DISCOVERY_TIMEOUT_S,
        help="longest time to wait for discovery, in seconds (default: %(default)s)",
    )
    parser.add_argument("--no-daemon", action="store_true", help="accepted and without effect: there is no daemon")


@contextlib.contextmanager
def command_node(name: str | None = None) -> Iterator[CommandNode]:
    """Yield the node of a command and take it down at the end."""
    check_home()
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = CommandNode(name or f"_ros2cli_{os.getpid()}")
    try:
        yield node
    finally:
        node.close()
        rclpy.utilities.try_shutdown()


class CommandNode:
    """A node that spins only while it waits, so that Ctrl-C always reaches the command."""

    def __init__(self, name: str) -> None:
        self.node = Node(name, start_parameter_services=False, enable_rosout=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)

    def close(self) -> None:
        """Destroy the node."""
        self._executor.shutdown()
        self.node.destroy_node()

    def spin_step(self, timeout_s: float = _STEP_S) -> None:
        """Handle what has arrived; wait at most `timeout_s`."""
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin_once(timeout_sec=timeout_s)

    def wait_for(self, look: Callable[[], T | None], timeout_s: float) -> T | None:
        """Return what `look` finds as soon as it finds it, or None after `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        while (found := look()) is None and time.monotonic() < deadline:
            self.spin_step()
        return found

    def settled(self, look: Callable[[], T], timeout_s: float) -> T:
        """Return what `look` finds once that has stood still for a while, at the latest after `timeout_s`."""
        begin_s = unchanged_since_s = time.monotonic()
        found = look()
        while (now_s := time.monotonic()) < begin_s + timeout_s:
            alone = len(self.node.get_node_names()) <= 1
            if now_s > unchanged_since_s + _STILL_S and (not alone or now_s > begin_s + _ALONE_S):
                break
            self.spin_step()
            now_found = look()
            if now_found != found:
                found, unchanged_since_s = now_found, time.monotonic()
        return found

    def result(self, future: Future, timeout_s: float, what: str) -> object:
        """Return the result of a service call; UsageError says that `what` did not answer."""
        deadline = time.monotonic() + timeout_s
        while not future.done():
            if time.monotonic() > deadline:
                raise UsageError(f"{what} did not answer within {timeout_s:g} s")
            self.spin_step()
        return future.result()

    def topic_types(self, topic: str) -> list[str]:
        """Return the types of a topic; none if nobody publishes or subscribes."""
        return dict(self.node.get_topic_names_and_types()).get(topic, [])

    def absolute(self, name: str) -> str:
        """Return the full name of a topic or service as typed by the user; UsageError if it is not valid."""
        from rclpy.expand_topic_name import expand_topic_name
        from rclpy.validate_full_topic_name import validate_full_topic_name

        try:
            expanded: str = expand_topic_name(name, self.node.get_name(), self.node.get_namespace())
            validate_full_topic_name(expanded)
        except Exception as error:
            raise UsageError(f"'{name}' is not a valid name: {' '.join(str(error).split())}") from error
        return expanded

    def topic_type(self, topic: str, timeout_s: float) -> str:
        """Return the type of a topic that a node uses; UsageError if there is none within `timeout_s`."""
        types = self.wait_for(lambda: self.topic_types(topic) or None, timeout_s)
        if types is None:
            raise UsageError(f"topic '{topic}' does not appear within {timeout_s:g} s (is its node running?)")
        if len(types) > 1:
            raise UsageError(f"topic '{topic}' has several types: {', '.join(types)}; give one of them")
        return types[0]
