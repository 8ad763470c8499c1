"""`kc-vla <verb>`: what is done with the stack from a shell, beside launching it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError


def _report(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.report import write_report  # heavy imports only for the verb that needs them

    bag = Path(arguments.bag)
    report = write_report(bag, Path(arguments.output) if arguments.output else bag.resolve().parent)
    for line in report.lines():
        print(line)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kc-vla", description="Tools of the kc_vla robot stack.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")
    report = verbs.add_parser("report", help="video, contact sheet and summary of a recorded episode")
    report.add_argument("bag", help="bag folder or .mcap file of one episode")
    report.add_argument("-o", "--output", help="folder to write into (default: beside the bag)")
    report.set_defaults(run=_report)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; return the exit status: 0, 1 for a failure told in one line, 2 for bad arguments."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except (BagError, OSError) as error:
        print(f"kc-vla {arguments.verb}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
