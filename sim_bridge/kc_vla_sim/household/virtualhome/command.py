"""`kc-vla eval virtualhome`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.numbers import positive
from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla_sim.arguments import ask_processes
from kc_vla_sim.household.command import MEMORIES

_ABOUT = """\
Play goals of VirtualHome (PyPI package eai-eval), single ones and chains of three to ten in one home, planned offline,
with memories, and each goal also without any. Families of goals are split into development and test. The same command
goes on where it was interrupted. Writes table.md, results.json and played.jsonl.
"""
_KINDS = ("single", "chain")
_SHOWN = ("furniture", "nothing")


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    return exit_status("eval", lambda: _evaluate(options), StackError, ValueError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["virtualhome"], help="what is measured")
    parser.add_argument(
        "--memory", action="append", choices=MEMORIES, help="as of kc-vla eval household; can be repeated (both)"
    )
    parser.add_argument("--kind", action="append", choices=_KINDS, help="single goals, chains; can be repeated (all)")
    parser.add_argument("--split", choices=["development", "test"], default="test", help="split of the families (test)")
    parser.add_argument("--goals", type=positive, default=1000, help="single goals, at most (1000: all)")
    parser.add_argument("--chains", type=positive, default=30, help="how many (30)")
    parser.add_argument(
        "--shown",
        action="append",
        choices=_SHOWN,
        help="what the long-term memory kept of the home before; can be repeated (furniture)",
    )
    ask_processes(parser)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/virtualhome"), help="folder for the results")


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla_sim.household.virtualhome.evaluation import VirtualHomeEvalOptions, evaluate
    from kc_vla_sim.household.virtualhome.trial import TrialSetting

    settings = [
        TrialSetting(memory, shown)
        for memory in options.memory or ("both",)
        for shown in dict.fromkeys(options.shown or _SHOWN[:1])
    ]
    wanted = VirtualHomeEvalOptions(
        settings=tuple(dict.fromkeys(settings)),
        kinds=tuple(dict.fromkeys(options.kind or _KINDS)),
        split=options.split,
        chains=options.chains,
        goals=options.goals,
        processes=options.processes,
        output=options.output,
    )
    for line in evaluate(wanted):
        print(line)
