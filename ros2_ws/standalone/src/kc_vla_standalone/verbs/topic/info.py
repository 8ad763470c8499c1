"""`ros2 topic info`."""

from __future__ import annotations

import argparse

from rclpy.topic_endpoint_info import TopicEndpointInfo

from ...ros.graph import add_discovery_arguments, command_node
from ...ros.qos import describe_profile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_discovery_arguments(parser)
    parser.add_argument("topic_name", help="the topic")
    parser.add_argument("-v", "--verbose", action="store_true", help="show nodes and quality of service")


def run(options: argparse.Namespace) -> None:
    """Print the type and the number of publishers and subscriptions, and each of them if asked."""
    with command_node() as command:
        topic = command.absolute(options.topic_name)
        command.topic_type(topic, options.spin_time)
        node = command.node
        publishers, subscriptions = command.settled(
            lambda: (node.get_publishers_info_by_topic(topic), node.get_subscriptions_info_by_topic(topic)),
            options.spin_time,
        )
        print(f"Type: {', '.join(command.topic_types(topic))}\n")
    for title, endpoints in (("Publisher", publishers), ("Subscription", subscriptions)):
        print(f"{title} count: {len(endpoints)}\n")
        if options.verbose:
            for endpoint in endpoints:
                print("\n".join(_described(endpoint)) + "\n")


def _described(endpoint: TopicEndpointInfo) -> list[str]:
    gid = ".".join(f"{byte:02x}" for byte in endpoint.endpoint_gid)
    return [
        f"Node name: {endpoint.node_name}",
        f"Node namespace: {endpoint.node_namespace}",
        f"Topic type: {endpoint.topic_type}",
        f"Topic type hash: {endpoint.topic_type_hash}",
        f"Endpoint type: {endpoint.endpoint_type.name}",
        f"GID: {gid}",
        "QoS profile:",
        *describe_profile(endpoint.qos_profile),
    ]
