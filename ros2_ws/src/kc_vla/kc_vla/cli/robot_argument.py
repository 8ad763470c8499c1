"""The option `--robot` of commands, and `--rig`, as it was called before."""

from __future__ import annotations

import argparse

from kc_vla.cli.renamed_option import add_former_name


def add_robot(parser: argparse._ActionsContainer, default: str, text: str) -> None:
    """Add `--robot` to a parser, with that default and help."""
    parser.add_argument("--robot", default=default, help=text)
    add_former_name(parser, "--rig", "--robot", "robot")
