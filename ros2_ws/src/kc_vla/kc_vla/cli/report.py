"""`kc-vla report`: of a recorded episode, or of a whole run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError
from kc_vla.cli.renamed_option import add_robot
from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError

_OF_AN_EPISODE = ("output", "path", "frame")


class RunOptionError(StackError):
    """An option that does not go with what is reported; the text says which."""


def main(words: Sequence[str]) -> int:
    """Make the report; return the exit status."""
    arguments = main_parser("report", _add_arguments).parse_args(words)
    return exit_status("report", lambda: _report(arguments), BagError, StackError)


def _add_arguments(report: argparse.ArgumentParser) -> None:
    report.add_argument(
        "bag",
        help="bag folder, .mcap or .db3 file of one episode; or the folder of a run, or its table run-*.json: "
        "a page of all episodes in there",
    )
    report.add_argument("-o", "--output", help="folder (default: that of <episode>/bag; else <bag>-report beside it)")
    kinds = report.add_mutually_exclusive_group()
    kinds.add_argument(
        "--summary-only", action="store_true", help="write only the summary, without video and contact sheet"
    )
    kinds.add_argument(
        "--path", action="store_true", help="write only tool_path.png: the tool's path and the running chunk"
    )
    report.add_argument("--frame", type=int, help="for --path: number of the frame to draw (default: four frames)")
    add_robot(report, "auto", "for --path: the recorded robot (auto: the robot with these joints)")
    report.add_argument("--missing", action="store_true", help="for a run: first make the missing reports of episodes")


def _report(arguments: argparse.Namespace) -> None:
    from kc_vla.reports.run.folder import is_run_folder, is_table  # heavy imports only for what needs them

    bag = Path(arguments.bag)
    if is_table(bag) or is_run_folder(bag):
        _run(bag, arguments)
        return
    if arguments.missing:
        raise RunOptionError(f"--missing is for the folder of a run, and {bag} is none")
    beside = bag.resolve()
    own = beside.parent if beside.name == "bag" else beside.with_name(f"{beside.stem}-report")
    out = Path(arguments.output) if arguments.output else own
    if arguments.path:
        _path(bag, out, arguments)
        return
    _episode(bag, out, pictures=not arguments.summary_only)


def _episode(bag: Path, out: Path, pictures: bool) -> None:
    from kc_vla.reports.report import write_report

    print(*write_report(bag, out, pictures).lines(), sep="\n")


def _run(path: Path, arguments: argparse.Namespace) -> None:
    from kc_vla.reports.run.folder import run_of
    from kc_vla.reports.run.run_page import write_run_page

    for option in _OF_AN_EPISODE:
        if getattr(arguments, option) not in (None, False):
            raise RunOptionError(f"--{option} is for one episode: the page of a run lies beside what it shows")
    run, failures = run_of(path), []
    for folder in run.without_summary() if arguments.missing else ():
        try:
            _episode(folder / "bag", folder, pictures=not arguments.summary_only)
        except BagError as error:
            failures.append(str(error))
    print(f"page: {write_run_page(path)}")
    if failures:
        raise BagError(f"no report of {len(failures)} episodes: {'; '.join(failures)}")


def _path(bag: Path, out: Path, arguments: argparse.Namespace) -> None:
    from kc_vla.bags.lock import require_finished
    from kc_vla.core.robot import load_robot
    from kc_vla.episodes.episode import RecordedEpisode
    from kc_vla.reports.tool_path import robot_of_bag
    from kc_vla.reports.tool_path_sheet import write_tool_path

    require_finished(bag)
    episode = RecordedEpisode(bag)
    robot = robot_of_bag(episode) if arguments.robot == "auto" else load_robot(arguments.robot)
    out.mkdir(parents=True, exist_ok=True)
    write_tool_path(episode, robot, out / "tool_path.png", arguments.frame)
    print(f"tool path: {out / 'tool_path.png'}")
