"""`kc-vla eval household`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.numbers import positive
from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla_sim.arguments import ask_processes

_ABOUT = """\
Play sequences of household tasks in the symbolic household, planned offline, with each memory, and each task also
without any: how often the goals are reached, and how much exploration and time a memory saves. The same command goes on
where it was interrupted. Writes table.md, results.json, played.jsonl and plots.
"""
MEMORIES = ("both", "long", "short", "none", "history", "context")
_KINDS = ("simple", "composite", "complex")


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    return exit_status("eval", lambda: _evaluate(options), StackError, ValueError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["household"], help="what is measured")
    parser.add_argument(
        "--memory",
        action="append",
        choices=MEMORIES,
        help="both memories, one of them, none, the last things seen, or those handled; can be repeated (all)",
    )
    parser.add_argument(
        "--kind",
        action="append",
        choices=(*_KINDS, "house"),
        help="kind of sequences; house: in houses of two floors; can be repeated (all but house)",
    )
    parser.add_argument(
        "--split", choices=["development", "test"], default="test", help="split of the sequences (test)"
    )
    parser.add_argument("--sequences", type=positive, default=120, help="most sequences of each kind (120: all)")
    parser.add_argument(
        "--disturbed",
        action="store_true",
        help="a person moves, hides or uses a thing between two tasks, and the detector errs",
    )
    parser.add_argument(
        "--no-feedback", action="store_true", help="the robot does not react to the results of its plan"
    )
    parser.add_argument(
        "--shown",
        choices=["furniture", "all", "inside"],
        default="furniture",
        help="what the long-term memory kept of the home before: what stands there, also all that lay open, or also "
        "what was inside of all that opens (furniture)",
    )
    parser.add_argument(
        "--capacity", action="append", type=positive, help="units of the short-term memory; can be repeated (100)"
    )
    parser.add_argument(
        "--growth",
        action="store_true",
        help="in place of all that: how costs grow with 10 to 200 tasks in one home and 100 to 10,000 things",
    )
    ask_processes(parser)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/household"), help="folder for the results")


def _evaluate(options: argparse.Namespace) -> None:
    if options.growth:
        from kc_vla_sim.household.growth_evaluation import grow

        for text in grow(options.output):
            print(text)
        return
    from kc_vla_sim.household.evaluation import HouseholdEvalOptions, evaluate
    from kc_vla_sim.household.trial import TrialArm

    arms = [
        TrialArm(memory, options.disturbed, not options.no_feedback, options.shown, capacity)
        for memory in options.memory or MEMORIES
        for capacity in options.capacity or [100]
    ]
    wanted = HouseholdEvalOptions(
        arms=tuple(dict.fromkeys(arms)),
        kinds=tuple(options.kind or _KINDS),
        split=options.split,
        count=options.sequences,
        processes=options.processes,
        output=options.output,
    )
    for line in evaluate(wanted):
        print(line)
