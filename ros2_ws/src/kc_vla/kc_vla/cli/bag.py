"""`kc-vla bag info|check|repair|export|import|cut|merge`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError, BagReadError
from kc_vla.cli.exchange import add_export, add_import
from kc_vla.cli.verbs import exit_status, main_parser


def main(words: Sequence[str]) -> int:
    """Do something with bags; return the exit status."""
    arguments = main_parser("bag", _add_arguments).parse_args(words)
    return exit_status("bag", lambda: arguments.run(arguments), BagError)


def _add_arguments(bag: argparse.ArgumentParser) -> None:
    actions = bag.add_subparsers(dest="action", required=True, metavar="action")
    for name, text, run in (
        ("info", "topics, times and sizes", _info),
        ("check", "the same, and whether every message can be read", _check),
        ("repair", "make torn or damaged files whole, in their place", _repair),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("bags", nargs="+", metavar="bag", help="bag folder, .mcap or .db3 file")
        action.set_defaults(run=run)
    add_export(actions)
    add_import(actions)
    cut = actions.add_parser("cut", help="a part of a bag as a new bag")
    cut.add_argument("bag", help="bag folder, .mcap or .db3 file")
    cut.add_argument("output", help="folder of the new bag; it must not exist")
    cut.add_argument(
        "--from",
        dest="begin",
        type=float,
        default=0.0,
        metavar="S",
        help="begin of the cut, s after the first message of the bag",
    )
    cut.add_argument(
        "--to",
        dest="end",
        type=float,
        default=float("inf"),
        metavar="S",
        help="end of the cut, s after the first message of the bag",
    )
    cut.add_argument("--topics", nargs="+", metavar="TOPIC", help="topics to keep (default: all)")
    merge = actions.add_parser("merge", help="several bags as one new bag, in the order of time")
    merge.add_argument("output", help="folder of the new bag; it must not exist")
    merge.add_argument("bags", nargs="+", metavar="bag", help="bag folder, .mcap or .db3 file")
    for action, run in ((cut, _cut), (merge, _merge)):
        action.add_argument(
            "--storage",
            choices=("mcap", "sqlite3"),
            help="storage format of the new bag (default: that of the first bag)",
        )
        action.set_defaults(run=run)


def _info(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.inspect import look_into  # heavy imports only for what needs them

    for bag in arguments.bags:
        print(*look_into(Path(bag)).lines(), sep="\n")


def _check(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.inspect import look_into

    troubled = 0
    for bag in arguments.bags:
        facts = look_into(Path(bag), decode=True)
        print(*facts.lines(), *([] if facts.troubles else ["  well: every message can be read"]), sep="\n")
        troubled += bool(facts.troubles)
    if troubled:
        raise BagReadError(f"{troubled} of {len(arguments.bags)} bags are not well, see above")


def _repair(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.inspect import repair

    for bag in arguments.bags:
        troubles = repair(Path(bag))
        print(*(troubles or [f"{bag} is whole"]), sep="\n")


def _cut(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.cut_and_merge import cut
    from kc_vla.bags.storage import Storage

    storage = Storage(arguments.storage) if arguments.storage else None
    bag, output = Path(arguments.bag), Path(arguments.output)
    copied = cut(bag, output, arguments.begin, arguments.end, arguments.topics, storage)
    print(*copied.lines(), sep="\n")


def _merge(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.cut_and_merge import merge
    from kc_vla.bags.storage import Storage

    storage = Storage(arguments.storage) if arguments.storage else None
    print(*merge(Path(arguments.output), [Path(bag) for bag in arguments.bags], storage).lines(), sep="\n")
