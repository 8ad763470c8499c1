"""`kc-vla report`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError
from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError


def main(words: Sequence[str]) -> int:
    """Make the report; return the exit status."""
    arguments = main_parser("report", _add_arguments).parse_args(words)
    return exit_status("report", lambda: _report(arguments), BagError, StackError)


def _add_arguments(report: argparse.ArgumentParser) -> None:
    report.add_argument("bag", help="bag folder, .mcap or .db3 file of one episode")
    report.add_argument("-o", "--output", help="folder (default: that of <episode>/bag; else <bag>-report beside it)")
    kinds = report.add_mutually_exclusive_group()
    kinds.add_argument("--summary-only", action="store_true", help="neither video nor contact sheet")
    kinds.add_argument("--path", action="store_true", help="only the tool's way and the running chunk, tool_path.png")
    report.add_argument("--frame", type=int, help="for --path: the number of the frame, in place of some")
    report.add_argument("--rig", default="auto", help="for --path: the robot that was recorded (auto: by its joints)")


def _report(arguments: argparse.Namespace) -> None:
    from kc_vla.reports.report import write_report  # heavy imports only for what needs them

    bag = Path(arguments.bag)
    beside = bag.resolve()
    own = beside.parent if beside.name == "bag" else beside.with_name(f"{beside.stem}-report")
    out = Path(arguments.output) if arguments.output else own
    if arguments.path:
        _path(bag, out, arguments)
        return
    report = write_report(bag, out, pictures=not arguments.summary_only)
    for line in report.lines():
        print(line)


def _path(bag: Path, out: Path, arguments: argparse.Namespace) -> None:
    from kc_vla.bags.lock import require_finished
    from kc_vla.core.rig import load_rig
    from kc_vla.episodes.episode import RecordedEpisode
    from kc_vla.reports.tool_path import rig_of_bag
    from kc_vla.reports.tool_path_sheet import write_tool_path

    require_finished(bag)
    episode = RecordedEpisode(bag)
    rig = rig_of_bag(episode) if arguments.rig == "auto" else load_rig(arguments.rig)
    out.mkdir(parents=True, exist_ok=True)
    write_tool_path(episode, rig, out / "tool_path.png", arguments.frame)
    print(f"tool path: {out / 'tool_path.png'}")
