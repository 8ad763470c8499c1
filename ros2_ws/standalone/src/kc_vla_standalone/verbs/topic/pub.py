"""`ros2 topic pub`."""

from __future__ import annotations

import argparse
import time

from rclpy.duration import Duration
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from ...ros.graph import CommandNode, command_node
from ...ros.interfaces import interface_class, message_from_yaml
from ...ros.qos import add_qos_arguments, profile_from

_WAITING_NOTE_S = 1.0
_ACKNOWLEDGE_S = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("topic_name", help="the topic")
    parser.add_argument("message_type", help="its type, such as std_msgs/msg/String")
    parser.add_argument("values", nargs="?", default="{}", help="the fields as a YAML dictionary")
    parser.add_argument("-r", "--rate", type=_rate, default=1.0, help="in Hz (default: %(default)s)")
    parser.add_argument("-p", "--print", type=int, default=1, metavar="N", help="print every N-th message only")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-1", "--once", action="store_true", help="publish once and end")
    group.add_argument("-t", "--times", type=int, default=0, help="publish this many times and end")
    parser.add_argument(
        "-w",
        "--wait-matching-subscriptions",
        type=int,
        help="wait for this many subscriptions first (default: 1 with --once and --times, else 0)",
    )
    parser.add_argument(
        "--keep-alive", type=float, default=0.1, help="seconds to stay after the last message (default: %(default)s)"
    )
    parser.add_argument("-n", "--node-name", help="name of the publishing node")
    add_qos_arguments(parser)


def run(options: argparse.Namespace) -> None:
    """Publish once, some times, or until Ctrl-C."""
    message_class = interface_class(options.message_type, "msg")
    times = 1 if options.once else options.times
    with command_node(options.node_name) as command:
        default = QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        # Made once before anything is waited for: an error in the values is told at once.
        message_from_yaml(message_class, options.values, command.node.get_clock().now().to_msg())
        topic = command.absolute(options.topic_name)
        publisher = command.node.create_publisher(message_class, topic, profile_from(options, default))
        wanted = options.wait_matching_subscriptions
        _wait_for_subscriptions(command, publisher, wanted if wanted is not None else min(times, 1))
        count = 0
        next_s = time.monotonic()
        while times == 0 or count < times:
            command.spin_step(max(0.0, next_s - time.monotonic()))
            if time.monotonic() < next_s:
                continue
            next_s += 1.0 / options.rate
            count += 1
            message = message_from_yaml(message_class, options.values, command.node.get_clock().now().to_msg())
            if options.print and count % options.print == 0:
                print(f"publishing #{count}: {message!r}\n", flush=True)
            publisher.publish(message)
        # A reader that this end has found may not have found this end yet: stay until it has what was published.
        publisher.wait_for_all_acked(Duration(seconds=_ACKNOWLEDGE_S))
        time.sleep(options.keep_alive)


def _wait_for_subscriptions(command: CommandNode, publisher: Publisher, wanted: int) -> None:
    while publisher.get_subscription_count() < wanted:
        if not command.wait_for(lambda: publisher.get_subscription_count() >= wanted or None, _WAITING_NOTE_S):
            print(f"Waiting for at least {wanted} matching subscription(s)...", flush=True)


def _rate(text: str) -> float:
    value = float(text)
    if not value > 0.0:
        raise argparse.ArgumentTypeError("the rate has to be greater than 0")
    return value
