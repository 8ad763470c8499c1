"""`kc-vla eval skills`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla.core.options import options_in
from kc_vla.core.splits import seeds_of
from kc_vla_sim.errors import SimulationError

_ABOUT = """\
Let the arm do a round of the planner's skills in rendered kitchens: look around, open, close, pick up and put. It sees
what a detector makes of its images, or what one without errors would report. The simulator's truth judges each skill.
Writes results.jsonl and table.md.
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    return exit_status("eval", lambda: _evaluate(options), StackError, SimulationError, ValueError, OSError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["skills"], help="what is measured")
    parser.add_argument("--split", default="development", help="split of the seeds (development)")
    parser.add_argument("--kitchens", type=int, default=20, help="number of kitchens (20)")
    parser.add_argument(
        "--detector", default="truth", help="name of a detector, or truth: what the simulator knows (truth)"
    )
    parser.add_argument(
        "--options", default="", metavar="YAML", help="options of the detector, e.g. '{threshold: 0.4}'"
    )
    parser.add_argument("--no-depth", action="store_true", help="find places without depth images")
    parser.add_argument(
        "--image-size", type=int, default=0, help="size of the images, px (256; 64 for truth, which needs no more)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("runs/skills"), help="folder of the results (runs/skills)"
    )


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
    from kc_vla_sim.kitchen.handling.skill_trial import SkillTrial, SkillVerdict
    from kc_vla_sim.kitchen.handling.verdict_table import table

    seeds = seeds_of(options.split, options.kitchens)
    options.output.mkdir(parents=True, exist_ok=True)
    verdicts: list[SkillVerdict] = []
    arm = KitchenArm(
        seeds[0],
        options.image_size,
        detector=options.detector,
        options=options_in(options.options, "--options"),
        depth=not options.no_depth,
    )
    try:
        with (options.output / "results.jsonl").open("w") as results:
            for seed in seeds:
                for each in SkillTrial(arm, seed).play():
                    verdicts.append(each)
                    results.write(json.dumps(asdict(each)) + "\n")
                    results.flush()
    finally:
        arm.close()
    text = table(verdicts)
    (options.output / "table.md").write_text(text)
    print(text)
    print(f"{options.output}: table and results")
