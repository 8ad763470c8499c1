"""The option `--robot` of commands, and `--rig`, as it was called before."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from kc_vla.core.deprecation import deprecated


def add_robot(parser: argparse._ActionsContainer, default: str, text: str) -> None:
    """Add `--robot` to a parser, with that default and help."""
    parser.add_argument("--robot", default=default, help=text)
    parser.add_argument("--rig", dest="robot", action=_Former, default=argparse.SUPPRESS, help=argparse.SUPPRESS)


class _Former(argparse.Action):
    """Takes the option by its former name."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        deprecated(f"{option_string} is called --robot")
        setattr(namespace, self.dest, values)
