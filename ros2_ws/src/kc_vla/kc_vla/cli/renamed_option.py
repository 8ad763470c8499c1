"""Command-line options with another name than before: the former one is read for one more version, with a line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from kc_vla.core.deprecation import deprecated


def add_former_name(parser: argparse._ActionsContainer, former: str, today: str, dest: str) -> None:
    """Add the former name of an option to a parser; the help does not show it.

    Args:
        parser: parser that has the option.
        former: name of before, such as `--rig`.
        today: name of today, such as `--robot`.
        dest: attribute that both set.
    """

    class Former(argparse.Action):
        """Takes the option by its former name."""

        def __call__(
            self,
            parser: argparse.ArgumentParser,
            namespace: argparse.Namespace,
            values: str | Sequence[Any] | None,
            option_string: str | None = None,
        ) -> None:
            deprecated(f"{option_string} is called {today}")
            setattr(namespace, self.dest, values)

    parser.add_argument(former, dest=dest, action=Former, default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def add_robot(parser: argparse._ActionsContainer, default: str, text: str) -> None:
    """Add `--robot` to a parser, with that default and help."""
    parser.add_argument("--robot", default=default, help=text)
    add_former_name(parser, "--rig", "--robot", "robot")
