"""Lists of names with their types, as `ros2 topic list` and `ros2 service list` print them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from .graph import add_discovery_arguments


def add_listing_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the arguments of a list of `what`, such as "topics"."""
    add_discovery_arguments(parser)
    parser.add_argument("-t", "--show-types", action="store_true", help="show the types too")
    parser.add_argument("-c", f"--count-{what}", dest="only_count", action="store_true", help="print the number only")
    parser.add_argument(
        f"--include-hidden-{what}", dest="hidden_too", action="store_true", help=f"{what} with a leading _ too"
    )


def print_listing(options: argparse.Namespace, found: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Print names, each with its types, in their order, as the options say."""
    shown = [(name, types) for name, types in sorted(found) if options.hidden_too or "/_" not in name]
    if options.only_count:
        print(len(shown))
        return
    for name, types in shown:
        print(f"{name} [{', '.join(types)}]" if options.show_types else name)
