"""`kc-vla report`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError
from kc_vla.cli.verbs import exit_status, main_parser


def main(words: Sequence[str]) -> int:
    """Make the report; return the exit status."""
    arguments = main_parser("report", _add_arguments).parse_args(words)
    return exit_status("report", lambda: _report(arguments), BagError)


def _add_arguments(report: argparse.ArgumentParser) -> None:
    report.add_argument("bag", help="bag folder, .mcap or .db3 file of one episode")
    report.add_argument("-o", "--output", help="folder (default: that of <episode>/bag; else <bag>-report beside it)")
    report.add_argument("--summary-only", action="store_true", help="neither video nor contact sheet")


def _report(arguments: argparse.Namespace) -> None:
    from kc_vla.reports.report import write_report  # heavy imports only for what needs them

    bag = Path(arguments.bag)
    beside = bag.resolve()
    own = beside.parent if beside.name == "bag" else beside.with_name(f"{beside.stem}-report")
    out = Path(arguments.output) if arguments.output else own
    report = write_report(bag, out, pictures=not arguments.summary_only)
    for line in report.lines():
        print(line)
