"""`kc-vla <verb>`: what is done with the stack from a shell, beside launching it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError, BagReadError
from kc_vla.datasets.exchange.cli import add_export, add_import


def _report(arguments: argparse.Namespace) -> None:
    from kc_vla.reports.report import write_report  # heavy imports only for the verb that needs them

    bag = Path(arguments.bag)
    beside = bag.resolve()
    own = beside.parent if beside.name == "bag" else beside.with_name(f"{beside.stem}-report")
    out = Path(arguments.output) if arguments.output else own
    report = write_report(bag, out, pictures=not arguments.summary_only)
    for line in report.lines():
        print(line)


def _bag_info(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.inspect import look_into

    for bag in arguments.bags:
        print(*look_into(Path(bag)).lines(), sep="\n")


def _bag_check(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.inspect import look_into

    troubled = 0
    for bag in arguments.bags:
        facts = look_into(Path(bag), decode=True)
        print(*facts.lines(), sep="\n")
        troubled += bool(facts.troubles)
    if troubled:
        raise BagReadError(f"{troubled} of {len(arguments.bags)} bags are not well, see above")


def _bag_repair(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.inspect import repair

    for bag in arguments.bags:
        troubles = repair(Path(bag))
        print(*(troubles or [f"{bag} is whole"]), sep="\n")


def _bag_cut(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.cut_and_merge import cut
    from kc_vla.bags.storage import Storage

    storage = Storage(arguments.storage) if arguments.storage else None
    bag, output = Path(arguments.bag), Path(arguments.output)
    copied = cut(bag, output, arguments.begin, arguments.end, arguments.topics, storage)
    print(*copied.lines(), sep="\n")


def _bag_merge(arguments: argparse.Namespace) -> None:
    from kc_vla.bags.cut_and_merge import merge
    from kc_vla.bags.storage import Storage

    storage = Storage(arguments.storage) if arguments.storage else None
    print(*merge(Path(arguments.output), [Path(bag) for bag in arguments.bags], storage).lines(), sep="\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kc-vla", description="Tools of the kc_vla robot stack.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")
    report = verbs.add_parser("report", help="video, contact sheet and summary of a recorded episode")
    report.add_argument("bag", help="bag folder, .mcap or .db3 file of one episode")
    report.add_argument("-o", "--output", help="folder (default: that of <episode>/bag; else <bag>-report beside it)")
    report.add_argument("--summary-only", action="store_true", help="neither video nor contact sheet")
    report.set_defaults(run=_report)
    bag = verbs.add_parser("bag", help="look into recorded bags, check, cut, merge them, make torn ones whole")
    actions = bag.add_subparsers(dest="action", required=True, metavar="action")
    for name, text, run in (
        ("info", "topics, times and sizes", _bag_info),
        ("check", "the same, and whether every message can be read", _bag_check),
        ("repair", "make torn or damaged files whole, in their place", _bag_repair),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("bags", nargs="+", metavar="bag", help="bag folder, .mcap or .db3 file")
        action.set_defaults(run=run)
    add_export(actions)
    add_import(actions)
    cut = actions.add_parser("cut", help="a part of a bag as a new bag")
    cut.add_argument("bag", help="bag folder, .mcap or .db3 file")
    cut.add_argument("output", help="folder of the new bag; it must not exist")
    cut.add_argument("--from", dest="begin", type=float, default=0.0, metavar="S", help="s from its first message")
    cut.add_argument(
        "--to", dest="end", type=float, default=float("inf"), metavar="S", help="s since its first message"
    )
    cut.add_argument("--topics", nargs="+", metavar="TOPIC", help="topics to keep (default: all)")
    merge = actions.add_parser("merge", help="several bags as one new bag, in the order of time")
    merge.add_argument("output", help="folder of the new bag; it must not exist")
    merge.add_argument("bags", nargs="+", metavar="bag", help="bag folder, .mcap or .db3 file")
    for action, run in ((cut, _bag_cut), (merge, _bag_merge)):
        action.add_argument("--storage", choices=("mcap", "sqlite3"), help="of the new bag (default: as the first)")
        action.set_defaults(run=run)
    verbs.add_parser("sim", help="film, check and measure the simulated tasks: kc-vla sim --help")
    for verb, text in (
        ("train", "train a keyframe selector on recorded episodes: kc-vla train selector --help"),
        ("export", "make ONNX files of a trained selector: kc-vla export selector --help"),
        ("tune", "choose the thresholds of a selector anew: kc-vla tune selector --help"),
        ("eval", "measure a selector on recorded episodes: kc-vla eval selector --help"),
        ("annotate", "mark keyframes of recorded episodes, on a page or by rules: kc-vla annotate page|rules --help"),
    ):
        verbs.add_parser(verb, help=text)
    verbs.add_parser("calibrate", help="cameras, hand-eye, joint offsets, latency: kc-vla calibrate --help")
    verbs.add_parser("collect", help="record data sets of the experts' episodes: kc-vla collect --help")
    return parser


def _simulate(verb: str, argv: Sequence[str]) -> int:
    """Leave the command line of `verb` to the simulation, which need not be installed on a robot."""
    try:
        from kc_vla_sim_cli import main as simulate
    except ModuleNotFoundError:
        print(f"kc-vla {verb}: the package kc_vla_sim is not installed: run ./setup.sh", file=sys.stderr)
        return 2
    status: int = simulate(argv)
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; return the exit status: 0, 1 for a failure told in a line, 2 for bad arguments, 130 interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["sim"]:
        return _simulate("sim", words[1:])
    if words[:1] == ["collect"]:
        return _simulate("collect", words)
    if words[:1] == ["calibrate"]:
        from kc_vla.calibration.cli import main as calibrate

        return calibrate(words[1:])
    if words[:2] == ["annotate", "page"]:
        from kc_vla.annotate.cli import main as annotate

        return annotate(words[2:])
    if words[:1] in (["train"], ["export"], ["tune"], ["eval"], ["annotate"]):
        from kc_vla.learning.cli import main as learn

        return learn(words)
    arguments = _parser().parse_args(words)
    try:
        arguments.run(arguments)
    except (BagError, OSError) as error:
        print(f"kc-vla {arguments.verb}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"kc-vla {arguments.verb}: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
