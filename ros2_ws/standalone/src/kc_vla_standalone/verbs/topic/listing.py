"""`ros2 topic list`."""

from __future__ import annotations

import argparse

from ...ros.graph import add_discovery_arguments, command_node


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_discovery_arguments(parser)
    parser.add_argument("-t", "--show-types", action="store_true", help="show the types too")
    parser.add_argument("-c", "--count-topics", action="store_true", help="print the number of topics only")
    parser.add_argument("--include-hidden-topics", action="store_true", help="topics with a leading _ too")


def run(options: argparse.Namespace) -> None:
    """Print the names."""
    with command_node() as node:
        topics = node.settled(node.node.get_topic_names_and_types, options.spin_time)
    shown = [(name, types) for name, types in sorted(topics) if options.include_hidden_topics or "/_" not in name]
    if options.count_topics:
        print(len(shown))
        return
    for name, types in shown:
        print(f"{name} [{', '.join(types)}]" if options.show_types else name)
