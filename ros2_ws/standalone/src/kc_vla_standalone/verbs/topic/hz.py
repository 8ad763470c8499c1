"""`ros2 topic hz`."""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections import deque

from rclpy.qos import qos_profile_sensor_data

from ...ros.graph import add_discovery_arguments, command_node
from ...ros.interfaces import interface_class

_REPORT_PERIOD_S = 1.0


class RateMeter:
    """Rate and jitter of arrivals in a window of messages."""

    def __init__(self, window: int) -> None:
        self._arrivals_s: deque[float] = deque(maxlen=window)
        self._new = False

    def add(self, arrival_s: float) -> None:
        """Count a message that came at this time."""
        self._arrivals_s.append(arrival_s)
        self._new = True

    def report(self) -> str | None:
        """Return the text for what has come so far; None before there is a period, or without news."""
        if len(self._arrivals_s) < 2:
            return None
        if not self._new:
            return "no new messages"
        self._new = False
        arrivals = list(self._arrivals_s)
        periods = [after - before for before, after in itertools.pairwise(arrivals)]
        rate_hz = len(periods) / sum(periods)
        return (
            f"average rate: {rate_hz:.3f}\n\tmin: {min(periods):.3f}s max: {max(periods):.3f}s "
            f"std dev: {statistics.pstdev(periods):.5f}s window: {len(arrivals)}"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_discovery_arguments(parser)
    parser.add_argument("topic_name", help="the topic")
    parser.add_argument("-w", "--window", type=_window, default=10000, help="messages (default: %(default)s)")


def run(options: argparse.Namespace) -> None:
    """Print the rate once a second until Ctrl-C."""
    with command_node() as node:
        topic = node.absolute(options.topic_name)
        message_class = interface_class(node.topic_type(topic, options.spin_time), "msg")
        meter = RateMeter(options.window)
        # raw: the arrival counts, the content would only cost time.
        node.node.create_subscription(
            message_class, topic, lambda data: meter.add(time.monotonic()), qos_profile_sensor_data, raw=True
        )
        next_report_s = time.monotonic() + _REPORT_PERIOD_S
        while True:
            node.spin_step()
            if time.monotonic() >= next_report_s:
                next_report_s += _REPORT_PERIOD_S
                text = meter.report()
                if text is not None:
                    print(text, flush=True)


def _window(text: str) -> int:
    value = int(text)
    if value < 2:
        raise argparse.ArgumentTypeError("the window is at least 2 messages")
    return value
