"""What can be said to `kc-vla sim`, `kc-vla collect` and `kc-vla eval policy`. Nothing here takes long to import."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from kc_vla.cli.numbers import not_negative, positive, share
from kc_vla.cli.renamed_option import add_former_name
from kc_vla.core.splits import SPLITS
from kc_vla.core.tasks import played_tasks, simulated_tasks
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.keyframes.selectors import DRIVEN_SELECTOR, SELECTOR
from kc_vla_sim.choices import ASSETS, STANDARD_ASSETS

ALL = "all"
"""In place of a task's name."""
CHECKS = ("experts", "probes", "determinism")
VISUAL_RANDOMIZATION = "--visual-randomization"
MODES = ("step", "chunk", "chunk-2", "chunk-5")
SKILLS = ("OpenObject", "CloseObject", "SwitchOn", "SwitchOff")
"""Skills for which kitchens can be prepared, see `kc_vla_sim.kitchen.handling.prepared`."""
_KEYFRAMES = ("learned", "events", "oracle", "none")

Verb = Callable[[argparse.Namespace], int]
"""Does what was asked for; returns the exit status."""


def parser_of(play: Verb, check: Verb, collect: Verb, evaluate: Verb) -> argparse.ArgumentParser:
    """Return the parser; what it gives has `run`, the verb asked for, and `prog`, what that is called."""
    parser = _Parser(prog="kc-vla sim", description="The memory benchmark in the simulator.")
    add = parser.add_subparsers(dest="verb", required=True, metavar="verb").add_parser
    plays = add("play", help="make a video of an episode of the expert")
    checks = add("check", help="experts, probes of state aliasing, determinism: the table")
    collects = add("collect", prog="kc-vla collect", help="record data sets of the experts' episodes")
    evaluates = add("eval", prog="kc-vla eval", help="play episodes of a learned policy: how often it succeeds")
    for verb, run, ask in (
        (plays, play, _ask_play),
        (checks, check, _ask_check),
        (collects, collect, _ask_collect),
        (evaluates, evaluate, _ask_evaluate),
    ):
        ask(verb)
        verb.set_defaults(run=run, prog=verb.prog)
        if verb is not checks:
            verb.add_argument(
                VISUAL_RANDOMIZATION, dest="looks", default="standard", help="standard or varied (default standard)"
            )
            add_former_name(verb, "--looks", VISUAL_RANDOMIZATION, "looks")
        verb.add_argument("--variant", default="standard", help="standard, hard or paper (default standard)")
        verb.add_argument("--renderer", default="auto", help="auto, gpu or cpu (default auto)")
    return parser


def ask_seeds(parser: argparse.ArgumentParser, split: str) -> None:
    """Ask which seeds are taken, of `split` where nobody says."""
    parser.add_argument("--split", default=split, choices=list(SPLITS), help=f"split of the seeds (default {split})")
    parser.add_argument(
        "--skip", type=not_negative, default=0, help="number of seeds to leave out at the start of the split (0)"
    )


def ask_processes(parser: argparse.ArgumentParser) -> None:
    """Ask how many processes work."""
    parser.add_argument("--processes", type=positive, default=os.cpu_count() or 1, help="(default: one per core)")


class _Parser(argparse.ArgumentParser):
    """Tells what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help tells more)\n")


def _ask_tasks(verb: argparse.ArgumentParser) -> None:
    names = [*sorted(simulated_tasks()), ALL]
    verb.add_argument("--task", action="append", choices=names, help="can be repeated (default all)")


def _ask_assets(verb: argparse.ArgumentParser, whose: str) -> None:
    help_line = f"{whose}: {' or '.join(ASSETS)} (default {STANDARD_ASSETS})"
    verb.add_argument("--assets", choices=list(ASSETS), default=STANDARD_ASSETS, help=help_line)


def _ask_play(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--task", required=True, choices=sorted(played_tasks()), help="name in the task table")
    verb.add_argument("--seed", type=not_negative, required=True, help="seed of the episode")
    verb.add_argument("--image-size", type=positive, default=256, help="px of each camera (default 256)")
    _ask_assets(verb, "assets of the task kitchen")
    verb.add_argument("--skip-waits", action="store_true", help="leave out the frames in which the arm only waits")
    verb.add_argument("-o", "--output", type=Path, help="file (default: TASK-VARIANT[-LOOKS]-SEED.mp4 here)")


def _ask_check(verb: argparse.ArgumentParser) -> None:
    _ask_tasks(verb)
    verb.add_argument("--only", action="append", choices=CHECKS, help="one of the checks; can be repeated")
    verb.add_argument(
        "--mode",
        action="append",
        choices=MODES,
        help="how experts are executed: planned at every step, or in chunks that come 0, 2 or 5 steps late; "
        "can be repeated",
    )
    verb.add_argument(
        "--split", default="test", choices=list(SPLITS), help="split of the seeds for experts and determinism"
    )
    verb.add_argument("--episodes", type=positive, default=100, help="episodes of each expert in each mode (100)")
    verb.add_argument("--probe-episodes", type=positive, default=400, help="episodes to train a probe on (400)")
    verb.add_argument("--repeats", type=positive, default=20, help="episodes per task that are played twice (20)")
    ask_processes(verb)
    verb.add_argument("--image-size", type=positive, default=96, help="px of the images (default 96)")
    verb.add_argument("--json", type=Path, metavar="FILE", help="also write the results to this file")


def _ask_collect(verb: argparse.ArgumentParser) -> None:
    _ask_tasks(verb)
    verb.add_argument("--episodes", type=positive, default=100, help="episodes of each task (default 100)")
    ask_seeds(verb, "train")
    verb.add_argument(
        "--image-size", type=positive, help="px of each camera, even (default 128, with --detections 256)"
    )
    ask_processes(verb)
    verb.add_argument("-o", "--output", type=Path, help="folder (default data, with --detections data/detections)")
    verb.add_argument(
        "--detections",
        action="store_true",
        help="for a detector: images of the kitchen with the objects in them and their depth; an episode is a scene",
    )
    verb.add_argument(
        "--moments", type=positive, default=6, metavar="N", help="with --detections: moments of each scene (6)"
    )
    verb.add_argument(
        "--played",
        action="store_true",
        help="with --detections: record moments of an arm that carries out the instructions of each kitchen, not "
        "random moments",
    )
    _ask_assets(verb, "assets of the kitchens, with --detections")
    verb.add_argument(
        "--plans",
        action="store_true",
        help="for a policy: record few frames, push the arm off its path at times, and store the expert's plan for "
        "each frame",
    )
    verb.add_argument(
        "--from-policy",
        nargs="?",
        const="policy",
        metavar="MODEL",
        help="as --plans, but a learned policy drives (DAgger); default: the model called policy",
    )
    verb.add_argument(
        "--whole",
        action="store_true",
        help="with --from-policy: record every frame and the executed actions, to train a selector on a policy's speed",
    )
    verb.add_argument(
        "--skill",
        choices=SKILLS,
        help="for a policy of a skill of the arm: record the planned motion of the skill in prepared kitchens",
    )
    verb.add_argument(
        "--thing",
        default="",
        metavar="ID",
        help="with --skill: furniture of the skill (drawer_1, or stove for switches)",
    )
    verb.add_argument(
        "--camera",
        action="append",
        choices=DEFAULT_VIEWS,
        help="with --skill: a camera whose images are kept; can be repeated (default both)",
    )
    verb.add_argument(
        "--events",
        action="store_true",
        help="with --plans: also store the keyframes that events select, for kc-vla train policy --set "
        "keyframes=events",
    )
    verb.add_argument(
        "--policy-models", default="", help="folder of models with this model (default: the shipped models)"
    )
    verb.add_argument(
        "--policy-share", type=share, default=0.8, help="share of the time in which the policy drives (default 0.8)"
    )
    verb.add_argument(
        "--late",
        type=not_negative,
        metavar="N",
        help="most frames by which the policy gets a keyframe late, as from a selector (12); use 0 for tasks with "
        "short cues",
    )
    verb.add_argument(
        "--stretch",
        type=positive,
        metavar="N",
        help="length of the segment that is recorded of each episode, frames (default: all)",
    )
    verb.add_argument(
        "--begin-by",
        type=not_negative,
        default=0,
        metavar="N",
        help="last frame at which such a segment may begin; the frame is random (0)",
    )


def _ask_evaluate(verb: argparse.ArgumentParser) -> None:
    verb.description = (
        "Play episodes of a learned selector and policy, each in lock-step. The same command goes on where it was "
        "interrupted. Writes table.md, results.json, episodes.jsonl, and a video of each failure."
    )
    verb.add_argument("what", choices=["policy"], help="what is measured")
    _ask_tasks(verb)
    verb.add_argument("--episodes", type=positive, default=50, help="episodes of each task (default 50)")
    ask_seeds(verb, "test")
    verb.add_argument("--models", default="", help="folder of models with the policy (default: those shipped)")
    verb.add_argument("--model", default="policy", help="name of the policy there (default policy)")
    verb.add_argument(
        "--selector-models", default="", help="folder of models with the selector (default: those shipped)"
    )
    verb.add_argument(
        "--selector",
        default="",
        help=f"its name there (default {DRIVEN_SELECTOR} of those shipped, {SELECTOR} elsewhere)",
    )
    verb.add_argument(
        "--keyframes",
        choices=_KEYFRAMES,
        help="origin of the keyframes: the learned selector, events (without labels), the simulator's truth "
        "(oracle), or none (default events for a policy that was trained with them, or else learned)",
    )
    verb.add_argument(
        "--execute-steps", type=positive, default=5, help="actions of a chunk before the next is requested (5)"
    )
    verb.add_argument(
        "--latency-steps",
        type=not_negative,
        default=0,
        help="control steps of 50 ms until a chunk is used, with --execute-steps at most 16 (default 0)",
    )
    verb.add_argument(
        "--blend-steps",
        type=not_negative,
        default=3,
        help="actions over which consecutive chunks are blended (default 3)",
    )
    verb.add_argument("--untold", action="store_true", help="do not give the policy the actions that run meanwhile")
    verb.add_argument(
        "--noise",
        type=share,
        default=0.0,
        help="scale of a chunk's initial noise: 0 the mean, 1 as in training (default 0)",
    )
    verb.add_argument("--image-size", type=positive, default=256, help="px of each camera (default 256)")
    verb.add_argument("--no-films", action="store_true", help="write no videos of failures")
    ask_processes(verb)
    verb.add_argument("-o", "--output", type=Path, default=Path("runs/policy_eval"), help="(default runs/policy_eval)")
