"""`ros2 topic`: topics of the running graph."""

from __future__ import annotations

from collections.abc import Sequence

from ...subverbs import Subverb, run_subverb
from . import echo, hz, info, listing, pub

_SUBVERBS = {
    "list": Subverb("List the topics", listing.add_arguments, listing.run),
    "echo": Subverb("Print the messages of a topic", echo.add_arguments, echo.run),
    "hz": Subverb("Measure the rate of a topic", hz.add_arguments, hz.run),
    "info": Subverb("Show who publishes and subscribes", info.add_arguments, info.run),
    "pub": Subverb("Publish messages", pub.add_arguments, pub.run),
}


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    return run_subverb("ros2 topic", _SUBVERBS, arguments)
