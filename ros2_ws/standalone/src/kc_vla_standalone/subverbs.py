"""A verb with subverbs, such as `ros2 topic echo`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Subverb:
    """One subverb: its line of help, its arguments, and what it does (returns an exit code or None for 0)."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int | None]


def run_subverb(prog: str, subverbs: Mapping[str, Subverb], arguments: Sequence[str]) -> int:
    """Parse the arguments and run the subverb that they name."""
    parser = argparse.ArgumentParser(prog=prog)
    choices = parser.add_subparsers(required=True, metavar="subverb")
    for name, subverb in subverbs.items():
        sub_parser = choices.add_parser(name, help=subverb.help, description=subverb.help)
        subverb.add_arguments(sub_parser)
        sub_parser.set_defaults(run=subverb.run)
    options = parser.parse_args(arguments)
    return options.run(options) or 0
