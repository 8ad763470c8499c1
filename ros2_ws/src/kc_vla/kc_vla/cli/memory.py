"""`kc-vla eval replacement`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.numbers import positive
from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.memory.evaluation.requests import RequestsError

_ABOUT = """\
Hit rates of the replacement policies of the short-term memory: on 200 household tasks one after the other, drawn anew
for each stream, on generated requests, or on traces of requests (one integer a line). Writes table.md, results.json
and, but for generated requests, plots.
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    return exit_status("eval", lambda: _evaluate(options), RequestsError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["replacement"], help="what is measured")
    parser.add_argument("--streams", type=positive, default=50, help="number of each kind (default 50)")
    parser.add_argument("--tasks", type=Path, metavar="FILE", help="annotated ALFRED tasks (default: those shipped)")
    parser.add_argument(
        "--generated", action="store_true", help="measure on loops, scans, pools, shifts and recency, beside Caffeine's"
    )
    parser.add_argument("--trace", type=Path, action="append", metavar="FILE", help="measure on this; can be repeated")
    parser.add_argument("--size", type=positive, action="append", help="units, with --trace (512) or --generated")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/replacement"), help="folder for the results")


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla.memory.evaluation.replacement import (
        GENERATED_SIZES,
        evaluate_generated,
        evaluate_household,
        evaluate_traces,
        table,
    )

    if options.size and not (options.trace or options.generated):
        raise RequestsError("--size is for --trace and --generated: household tasks are measured at 5 to 25 units")
    if options.generated and (options.trace or options.tasks):
        raise RequestsError("--generated measures on requests of its own: leave out --trace and --tasks")
    if options.generated:
        rows = evaluate_generated(options.output, options.streams, options.size or GENERATED_SIZES)
    elif options.trace:
        rows = evaluate_traces(options.output, options.trace, options.size or [512])
    else:
        rows = evaluate_household(options.output, options.streams, options.tasks)
    print(table(rows), end="")
    print(f"{options.output}: table{'' if options.generated else ', plots'} and figures")
