"""`kc-vla eval perception`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla.core.options import options_in
from kc_vla_sim.choices import ASSETS, STANDARD_ASSETS
from kc_vla_sim.errors import SimulationError

_ABOUT = """\
Let a robot look around in kitchens that no choice has seen, fill both memories with what its cameras show, and compare
what they hold with the truth: places, types and states, ghosts, what was put away, and old places that were seen empty.
Writes results.jsonl and table.md. An interrupted run goes on with the same command.
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    return exit_status("eval", lambda: _evaluate(options), StackError, SimulationError, ValueError, OSError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["perception"], help="what is measured")
    parser.add_argument(
        "--detector", default="learned", help="name of a detector, or truth: what the simulator knows (learned)"
    )
    parser.add_argument(
        "--options", default="", metavar="YAML", help="options of the detector, e.g. '{threshold: 0.4}'"
    )
    parser.add_argument("--no-depth", action="store_true", help="find places without depth images")
    parser.add_argument(
        "--looks",
        choices=["standard", "varied"],
        default="standard",
        help="visual randomization of the kitchens (standard)",
    )
    parser.add_argument(
        "--assets", choices=list(ASSETS), default=STANDARD_ASSETS, help="assets of the kitchens (shapes)"
    )
    parser.add_argument("--split", default="test", help="split of the seeds (test)")
    parser.add_argument("--kitchens", type=int, default=40, help="how many are played (40)")
    parser.add_argument("--seconds", type=float, default=120.0, help="most simulated time of each, s (120)")
    parser.add_argument("--looks-per-s", type=float, default=5.0, help="images of each camera in a second (5)")
    parser.add_argument("--unwatched", action="store_true", help="let no camera look while a thing moves")
    parser.add_argument("--image-size", type=int, default=256, help="size of the images of each camera, px (256)")
    parser.add_argument("--processes", type=int, default=2, help="parallel processes (2)")
    parser.add_argument("-o", "--output", type=Path, help="folder for the results (runs/perception-...)")


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla_sim.kitchen.asset_sets import find_assets
    from kc_vla_sim.kitchen.perceiving.evaluation import evaluate_perception, table
    from kc_vla_sim.kitchen.perceiving.trial import PerceptionSetting

    find_assets(options.assets)  # first: what is missing is said, or made, once
    setting = PerceptionSetting(
        options.detector,
        options_in(options.options, "--options"),
        not options.no_depth,
        options.looks,
        options.image_size,
        options.looks_per_s,
        options.seconds,
        options.unwatched,
        options.assets,
    )
    assets = "" if options.assets == STANDARD_ASSETS else f"-{options.assets}"
    depth = "-no-depth" if options.no_depth else ""
    unwatched = "-unwatched" if options.unwatched else ""
    output = options.output or Path(f"runs/perception-{options.detector}-{options.looks}{assets}{depth}{unwatched}")
    print(table(evaluate_perception(setting, options.split, options.kitchens, options.processes, output)))
    print(f"{output}: table and results")
