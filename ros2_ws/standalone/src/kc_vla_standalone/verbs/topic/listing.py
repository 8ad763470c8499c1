"""`ros2 topic list`."""

from __future__ import annotations

import argparse

from ...ros.graph import command_node
from ...ros.listing import add_listing_arguments, print_listing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_listing_arguments(parser, "topics")


def run(options: argparse.Namespace) -> None:
    """Print the names."""
    with command_node() as node:
        topics = node.settled(node.node.get_topic_names_and_types, options.spin_time)
    print_listing(options, topics)
