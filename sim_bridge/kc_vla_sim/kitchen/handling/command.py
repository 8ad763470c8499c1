"""`kc-vla eval skills`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla.core.options import options_in
from kc_vla.core.splits import seeds_of
from kc_vla.skills.interface import SkillError
from kc_vla.skills.skill_table import SkillWay
from kc_vla_sim.arguments import SKILLS
from kc_vla_sim.errors import SimulationError

if TYPE_CHECKING:
    from kc_vla_sim.kitchen.handling.skill_trial import SkillVerdict

_POLICY_IMAGES = 256
"""Size of the images that a policy gets, px, as in the graph."""
_ABOUT = """\
Let the arm do a round of the planner's skills in rendered kitchens: look around, open, close, pick up and put. It sees
what a detector makes of its images, or what one without errors would report. The simulator's truth judges each skill.
Writes results.jsonl and table.md. With --skill it does this skill alone, in kitchens that are prepared for it, by its
motion or by a learned policy, or by both.
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
        "--image-size",
        type=int,
        default=0,
        help="size of the images, px (256; 64 where truth alone looks at them)",
    )
    parser.add_argument("--skill", choices=SKILLS, help="this skill alone, in kitchens that are prepared for it")
    parser.add_argument(
        "--thing",
        default="",
        metavar="ID",
        help="with --skill: furniture of the skill (drawer_1, or stove for switches)",
    )
    parser.add_argument(
        "--by",
        action="append",
        choices=[each.value for each in SkillWay],
        help="with --skill: what does the skill; can be repeated, for both in the same kitchens (motion)",
    )
    parser.add_argument("--models", default="", help="folder of models with the policy (default: those shipped)")
    parser.add_argument("--policy", default="policy", metavar="MODEL", help="name of the policy there (policy)")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("runs/skills"), help="folder of the results (runs/skills)"
    )


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla_sim.kitchen.handling.one_skill import one_skill_table
    from kc_vla_sim.kitchen.handling.verdict_table import table

    if not options.skill and (options.by or options.thing):
        raise SkillError("--by and --thing go with --skill: a round of skills is done by motions")
    played = _one_skill(options) if options.skill else _rounds(options)
    options.output.mkdir(parents=True, exist_ok=True)
    verdicts: list[SkillVerdict] = []
    with (options.output / "results.jsonl").open("w") as results, closing(played):
        for each in played:
            verdicts.append(each)
            results.write(json.dumps(asdict(each)) + "\n")
            results.flush()
    text = one_skill_table(verdicts) if options.skill else table(verdicts)
    (options.output / "table.md").write_text(text)
    print(text)
    print(f"{options.output}: table and results")


def _rounds(options: argparse.Namespace) -> Generator[SkillVerdict]:
    """Yield what comes of a round of skills in each kitchen."""
    from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
    from kc_vla_sim.kitchen.handling.skill_trial import SkillTrial

    seeds = seeds_of(options.split, options.kitchens)
    arm = KitchenArm(seeds[0], **_arm_options(options))
    try:
        for seed in seeds:
            yield from SkillTrial(arm, seed).play()
    finally:
        arm.close()


def _one_skill(options: argparse.Namespace) -> Generator[SkillVerdict]:
    """Yield what comes of one skill in each kitchen that is prepared for it, by each way that is asked for."""
    from kc_vla_sim.kitchen.handling.one_skill import play_one
    from kc_vla_sim.kitchen.handling.prepared import prepared_for
    from kc_vla_sim.kitchen.handling.skill_policy import SkillPolicy

    layout, seeds = prepared_for(options.skill, options.thing), seeds_of(options.split, options.kitchens)
    ways = list(dict.fromkeys(map(SkillWay, options.by or [SkillWay.MOTION])))
    policy, given = None, _arm_options(options)
    if SkillWay.POLICY in ways:
        policy = SkillPolicy(options.models, options.policy)
        given["image_size"] = given["image_size"] or _POLICY_IMAGES
    yield from play_one(layout, seeds, ways, policy, **given)


def _arm_options(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "image_size": options.image_size,
        "detector": options.detector,
        "options": options_in(options.options, "--options"),
        "depth": not options.no_depth,
    }
