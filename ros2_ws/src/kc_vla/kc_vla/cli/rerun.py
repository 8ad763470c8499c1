"""`kc-vla rerun export`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError
from kc_vla.cli.verbs import exit_status, main_parser


def main(words: Sequence[str]) -> int:
    """Write a file of Rerun's; return the exit status."""
    arguments = main_parser("rerun", _add_arguments).parse_args(words)
    return exit_status("rerun", lambda: _export(arguments), BagError)


def _add_arguments(rerun: argparse.ArgumentParser) -> None:
    actions = rerun.add_subparsers(dest="action", required=True, metavar="action")
    export = actions.add_parser("export", help="a recorded episode as a file that Rerun's viewer opens")
    export.add_argument("bag", type=Path, help="bag folder, .mcap or .db3 file of one episode")
    export.add_argument("-o", "--output", type=Path, help="file (default: <episode>.rrd beside the bag)")


def _export(arguments: argparse.Namespace) -> None:
    from kc_vla.reports.rerun.export import export_rerun  # heavy imports only for what needs them

    bag = arguments.bag.resolve()
    name = bag.parent.name if bag.name == "bag" else bag.stem
    print(*export_rerun(arguments.bag, arguments.output or bag.with_name(f"{name}.rrd")), sep="\n")
