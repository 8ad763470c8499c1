"""`kc-vla eval kitchen`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.numbers import positive
from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla.core.options import options_in
from kc_vla_sim.arguments import ask_seeds
from kc_vla_sim.errors import SimulationError

_ABOUT = """\
Give an arm three to six instructions, one after the other, in kitchens that no choice has seen. It sees images alone,
moves by planned motions, plans by the grammar, and has each memory in turn. The simulator's truth judges each
instruction. Writes results.jsonl, table.md, times.png and videos. An interrupted run goes on with the same command.
"""
MEMORIES = ("both", "long", "short", "none")


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    return exit_status("eval", lambda: _evaluate(options), StackError, SimulationError, ValueError, OSError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["kitchen"], help="what is measured")
    parser.add_argument(
        "--memory",
        action="append",
        choices=MEMORIES,
        help="both memories, one of them, or none; can be repeated (all four)",
    )
    parser.add_argument(
        "--detector", default="learned", help="name of a detector, or truth: what the simulator knows (learned)"
    )
    parser.add_argument(
        "--options", default="", metavar="YAML", help="options of the detector, e.g. '{threshold: 0.4}'"
    )
    parser.add_argument(
        "--sketched",
        action="store_true",
        help="in place of the simulator: no physics, no images, and no skill fails that the arm can do",
    )
    ask_seeds(parser, "test")
    parser.add_argument("--kitchens", type=positive, default=40, help="how many are played (40)")
    parser.add_argument("--limit", type=float, default=180.0, help="most robot time of an instruction, s (180)")
    parser.add_argument("--videos", type=int, default=0, help="videos of instructions that were not done, at most (0)")
    parser.add_argument("--processes", type=positive, default=2, help="parallel processes (2)")
    parser.add_argument("-o", "--output", type=Path, help="folder for the results (runs/kitchen-...)")


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla_sim.kitchen.sequences.evaluation import SequenceOptions, SequenceSetting, evaluate_sequences

    how = "sketched" if options.sketched else options.detector
    output = options.output or Path(f"runs/kitchen-{how}-{options.split}")
    setting = SequenceSetting(how, options_in(options.options, "--options"), options.sketched, limit_s=options.limit)
    memories = tuple(dict.fromkeys(options.memory or MEMORIES))
    wanted = SequenceOptions(
        setting,
        memories,
        options.split,
        options.kitchens,
        options.processes,
        options.videos,
        output,
        options.skip,
    )
    print(evaluate_sequences(wanted))
    print(f"{output}: table, plot and results")
