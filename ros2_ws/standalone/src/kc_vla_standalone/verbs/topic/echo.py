"""`ros2 topic echo`."""

from __future__ import annotations

import argparse
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from ...errors import UsageError
from ...ros.graph import CommandNode, add_discovery_arguments, command_node
from ...ros.interfaces import interface_class
from ...ros.message_text import TextOptions, field_of, message_csv, message_yaml
from ...ros.qos import adapted_to, add_qos_arguments, profile_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_discovery_arguments(parser)
    parser.add_argument("topic_name", help="the topic")
    parser.add_argument("message_type", nargs="?", help="its type, if nobody publishes it yet")
    add_qos_arguments(parser)
    parser.add_argument("--csv", action="store_true", help="values joined by commas, without names")
    parser.add_argument("--field", help="print a part of the message only, such as pose.position.x")
    parser.add_argument("-f", "--full-length", action="store_true", help="print long arrays and strings whole")
    parser.add_argument("-l", "--truncate-length", type=int, default=128, help="longest length (default: %(default)s)")
    parser.add_argument("--no-arr", action="store_true", help="print the lengths of arrays only")
    parser.add_argument("--no-str", action="store_true", help="print the lengths of strings only")
    parser.add_argument("--flow-style", action="store_true", help="collections in one line")
    parser.add_argument("--once", action="store_true", help="end after the first message")
    parser.add_argument("--timeout", type=float, help="give up when no message comes for this long, in seconds")


def run(options: argparse.Namespace) -> None:
    """Print messages until Ctrl-C, or the first one."""
    with command_node() as node:
        topic = node.absolute(options.topic_name)
        type_name = options.message_type or node.topic_type(topic, options.spin_time)
        received: list[Any] = []
        node.node.create_subscription(
            interface_class(type_name, "msg"), topic, received.append, _profile(node, topic, options)
        )
        _print_messages(node, received, options, topic)


def _profile(node: CommandNode, topic: str, options: argparse.Namespace) -> QoSProfile:
    node.wait_for(lambda: node.node.get_publishers_info_by_topic(topic) or None, timeout_s=0.5)
    publishers = node.node.get_publishers_info_by_topic(topic)
    profile = profile_from(options, adapted_to(publishers))
    if publishers and options.qos_reliability is None and profile.reliability == ReliabilityPolicy.BEST_EFFORT:
        mixed = {publisher.qos_profile.reliability for publisher in publishers}
        if len(mixed) > 1:
            print(f"# some publishers of '{topic}' are reliable and some best effort: listening as best effort")
    if publishers and options.qos_durability is None and profile.durability == DurabilityPolicy.VOLATILE:
        mixed_durability = {publisher.qos_profile.durability for publisher in publishers}
        if len(mixed_durability) > 1:
            print(f"# some publishers of '{topic}' are transient local and some volatile: listening as volatile")
    return profile


def _print_messages(node: CommandNode, received: list[Any], options: argparse.Namespace, topic: str) -> None:
    text_options = TextOptions(
        truncate_length=None if options.full_length else options.truncate_length,
        no_arrays=options.no_arr,
        no_strings=options.no_str,
        flow_style=options.flow_style,
    )
    while True:
        if options.timeout is None:
            node.spin_step()
        elif node.wait_for(lambda: received or None, options.timeout) is None:
            raise UsageError(f"no message on '{topic}' within {options.timeout:g} s")
        while received:
            message = received.pop(0)
            value = message if options.field is None else field_of(message, options.field)
            if options.csv:
                print(message_csv(value, text_options), flush=True)
            else:
                print(f"{message_yaml(value, text_options)}\n---", flush=True)
            if options.once:
                return
