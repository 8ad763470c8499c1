"""`kc-vla sim <verb>`, `kc-vla collect` and `kc-vla eval policy`: the simulation from a shell.

Beside the package, which takes seconds to import: see `_play`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from kc_vla.bags.errors import BagError
from kc_vla.cli.numbers import not_negative, positive
from kc_vla.core.errors import StackError
from kc_vla.core.splits import SPLITS, SplitError
from kc_vla.core.tasks import UnknownTaskError, simulated_tasks
from kc_vla.keyframes.sources import DRIVEN_SELECTOR, SELECTOR, fitting_selector

INTERRUPTED = 130
_ALL = "all"
_TASKS = "can be repeated (default all)"
_CHECKS = ("experts", "probes", "determinism")
_KEYFRAMES = ("learned", "events", "oracle", "none")
_MODES = ("step", "chunk", "chunk-2", "chunk-5")


def main(argv: Sequence[str]) -> int:
    """Run one verb; return the exit status.

    0 done and, for a check, all targets hold; 1 a target missed, or a file that cannot be written; 2 bad arguments or
    no renderer; 130 interrupted.
    """
    if tuple(argv[:2]) == ("eval", "household"):
        from kc_vla_sim.household.command import main as measure

        return measure(argv)
    if tuple(argv[:2]) == ("eval", "virtualhome"):
        from kc_vla_sim.household.virtualhome.command import main as judge

        return judge(argv)
    if tuple(argv[:2]) in {("eval", "table1"), ("eval", "table3")}:
        from kc_vla_sim.evaluate.comparison_command import main as compare

        return compare(argv)
    options = _parser().parse_args(argv)
    try:
        return _run(options)
    except KeyboardInterrupt:
        goes_on = ": the same command goes on" if options.run in (_collect, _evaluate) else ""
        return _fail(options, f"interrupted{goes_on}", status=INTERRUPTED)


def _run(options: argparse.Namespace) -> int:
    """Run the verb that was asked for; return the exit status."""
    try:
        from kc_vla_sim.errors import SimulationError  # a driver that is missing is told by the renderer, in one line
    except ImportError as error:
        return _fail(options, f"the simulation cannot be imported ({error}): run ./setup.sh", status=2)
    try:
        status: int = options.run(options)
    except (SimulationError, UnknownTaskError, SplitError) as error:
        return _fail(options, error, status=2)
    except (BagError, StackError, OSError) as error:
        return _fail(options, error, status=1)
    return status


def _play(options: argparse.Namespace) -> int:
    from kc_vla_sim.film.command import FilmOptions, play_to_film  # heavy imports, after the arguments were checked

    looks = "" if options.looks == "standard" else f"-{options.looks}"
    output = options.output or Path(f"{options.task}-{options.variant}{looks}-{options.seed}.mp4")
    wanted = FilmOptions(
        task=options.task,
        seed=options.seed,
        variant=options.variant,
        looks=options.looks,
        image_size=options.image_size,
        renderer=options.renderer,
        skip_waits=options.skip_waits,
        output=output,
    )
    print(play_to_film(wanted))
    return 0


def _check(options: argparse.Namespace) -> int:
    from kc_vla_sim.renderer import choose_renderer

    choose_renderer(options.renderer)  # first: what is missing is told at once, and the rest takes seconds to import
    from kc_vla_sim.check.command import CheckOptions, run_checks

    report = run_checks(
        CheckOptions(
            tasks=_tasks(options),
            variant=options.variant,
            checks=tuple(options.only or _CHECKS),
            modes=tuple(options.mode or _MODES),
            split=options.split,
            episodes=options.episodes,
            train_episodes=options.probe_episodes,
            repeats=options.repeats,
            processes=options.processes,
            image_size=options.image_size,
            renderer=options.renderer,
            json=options.json,
        )
    )
    print("\n".join(report.lines()))
    return 0 if report.holds else 1


def _collect(options: argparse.Namespace) -> int:
    from kc_vla.datasets.lerobot.errors import DataSetError
    from kc_vla_sim.collect.command import CollectOptions, collect, collect_plans
    from kc_vla_sim.collect.drivers import LATE, DrivingPolicy
    from kc_vla_sim.collect.planned import WHOLE, Stretch

    policy = None
    if options.from_policy is not None:
        policy = DrivingPolicy(
            options.policy_models,
            options.from_policy,
            options.policy_share,
            LATE if options.late is None else options.late,
        )
    wanted = CollectOptions(
        tasks=_tasks(options),
        episodes=options.episodes,
        split=options.split,
        variant=options.variant,
        looks=options.looks,
        image_size=options.image_size,
        processes=options.processes,
        output=options.output,
        renderer=options.renderer,
        policy=policy,
        skip=options.skip,
        stretch=Stretch(options.stretch, options.begin_by),
        events=options.events,
    )
    if options.whole and policy is None:
        raise DataSetError("--whole goes with --from-policy: without it every frame is recorded anyway")
    if options.policy_models and policy is None:
        raise DataSetError("--policy-models goes with --from-policy: without it an expert moves the arm")
    if options.late is not None and policy is None:
        raise DataSetError("--late goes with --from-policy: an expert needs no keyframes")
    plans = options.plans or (policy is not None and not options.whole)
    if wanted.stretch != WHOLE and not plans:
        raise DataSetError("--stretch and --begin-by leave the rest of an episode: they go with --plans, --from-policy")
    if options.events and not plans:
        raise DataSetError(
            "--events goes with --plans, --from-policy: where every frame is recorded they are found later"
        )
    for line in collect_plans(wanted) if plans else collect(wanted):
        print(line)
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    from kc_vla.policy.learned import find_policy
    from kc_vla_sim.evaluate.agent import Execution
    from kc_vla_sim.evaluate.command import EvalOptions, Setting, evaluate

    execution = Execution(options.execute_steps, options.blend_steps, options.latency_steps, not options.untold)
    setting = Setting(
        models=options.models,
        model=options.model,
        selector_models=options.selector_models,
        selector=fitting_selector("learned", options.selector, options.selector_models),
        keyframes=options.keyframes or find_policy(options.models, options.model).source,
        variant=options.variant,
        looks=options.looks,
        image_size=options.image_size,
        renderer=options.renderer,
        execution=execution,
        noise=options.noise,
        films=not options.no_films,
    )
    wanted = EvalOptions(
        setting, _tasks(options), options.episodes, options.split, options.processes, options.output, options.skip
    )
    for line in evaluate(wanted):
        print(line)
    return 0


def _tasks(options: argparse.Namespace) -> tuple[str, ...]:
    """Those asked for, in their order, each once."""
    asked: list[str] = options.task or [_ALL]
    return simulated_tasks() if _ALL in asked else tuple(dict.fromkeys(asked))


def _fail(options: argparse.Namespace, error: object, status: int) -> int:
    print(f"{options.prog}: {error}", file=sys.stderr)
    return status


class _Parser(argparse.ArgumentParser):
    """Tells what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help tells more)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="kc-vla sim", description="The memory benchmark in the simulator.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")

    play = verbs.add_parser("play", help="film an episode of the expert")
    play.add_argument("--task", required=True, choices=sorted(simulated_tasks()), help="name in the task table")
    play.add_argument("--seed", type=not_negative, required=True, help="of the episode")
    play.add_argument("--image-size", type=positive, default=256, help="px of each camera (default 256)")
    play.add_argument("--skip-waits", action="store_true", help="leave out what is drawn while the arm only waits")
    play.add_argument("-o", "--output", type=Path, help="file (default: TASK-VARIANT[-LOOKS]-SEED.mp4 here)")
    play.set_defaults(run=_play)

    check = verbs.add_parser("check", help="experts, probes of state aliasing, determinism: the table")
    check.add_argument("--task", action="append", choices=[*sorted(simulated_tasks()), _ALL], help=_TASKS)
    check.add_argument("--only", action="append", choices=_CHECKS, help="one of the checks; can be repeated")
    check.add_argument(
        "--mode",
        action="append",
        choices=_MODES,
        help="how experts are executed: planned at every step, or in chunks that come 0, 2 or 5 steps late; "
        "can be repeated",
    )
    check.add_argument("--split", default="test", choices=list(SPLITS), help="seeds of experts and determinism")
    check.add_argument("--episodes", type=positive, default=100, help="per expert and way of executing it (100)")
    check.add_argument("--probe-episodes", type=positive, default=400, help="that a probe learns from (400)")
    check.add_argument("--repeats", type=positive, default=20, help="episodes per task that are played twice (20)")
    check.add_argument("--processes", type=positive, default=os.cpu_count() or 1, help="(default: one per core)")
    check.add_argument("--image-size", type=positive, default=96, help="px of the pictures (default 96)")
    check.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    check.set_defaults(run=_check)

    collect = verbs.add_parser("collect", prog="kc-vla collect", help="record data sets of the experts' episodes")
    collect.add_argument("--task", action="append", choices=[*sorted(simulated_tasks()), _ALL], help=_TASKS)
    collect.add_argument("--episodes", type=positive, default=100, help="of each task (default 100)")
    collect.add_argument("--split", default="train", choices=list(SPLITS), help="to take seeds from (default train)")
    collect.add_argument("--skip", type=not_negative, default=0, help="seeds at its start that are left out (0)")
    collect.add_argument("--image-size", type=positive, default=128, help="px of each camera, even (default 128)")
    collect.add_argument("--processes", type=positive, default=os.cpu_count() or 1, help="(default: one per core)")
    collect.add_argument("-o", "--output", type=Path, default=Path("data"), help="folder (default data)")
    collect.add_argument(
        "--plans",
        action="store_true",
        help="for a policy: few frames, the arm pushed off its way at times, and what the expert would do from each",
    )
    collect.add_argument(
        "--from-policy",
        nargs="?",
        const="policy",
        metavar="MODEL",
        help="the same, but a learned policy drives, called policy by default: it is taught where it comes to",
    )
    collect.add_argument(
        "--whole",
        action="store_true",
        help="with --from-policy: every frame and what was done, for a selector that is to know a policy's tempo",
    )
    collect.add_argument(
        "--events",
        action="store_true",
        help="with plans: what events take for keyframes is kept too, for kc-vla train policy --set keyframes=events",
    )
    collect.add_argument("--policy-models", default="", help="folder of models with it (default: those shipped)")
    collect.add_argument(
        "--policy-share", type=_share, default=0.8, help="of the time in which it drives (default 0.8)"
    )
    collect.add_argument(
        "--late",
        type=not_negative,
        metavar="N",
        help="frames that it is given a keyframe late at most, as by a selector (12); 0 where cues are short",
    )
    collect.add_argument(
        "--stretch", type=positive, metavar="N", help="frames that are kept of each episode with plans (default: all)"
    )
    collect.add_argument(
        "--begin-by", type=not_negative, default=0, metavar="N", help="they begin at a frame drawn up to this one (0)"
    )
    collect.set_defaults(run=_collect)

    judge = verbs.add_parser(
        "eval", prog="kc-vla eval", help="play episodes of a learned policy: how often it succeeds"
    )
    judge.description = (
        "Play episodes of a learned selector and policy, each in lock-step. The same command goes on where "
        "it was interrupted. Writes table.md, results.json, episodes.jsonl, and a film of each failure."
    )
    judge.add_argument("what", choices=["policy"], help="what is measured")
    judge.add_argument("--task", action="append", choices=[*sorted(simulated_tasks()), _ALL], help=_TASKS)
    judge.add_argument("--episodes", type=positive, default=50, help="of each task (default 50)")
    judge.add_argument("--split", default="test", choices=list(SPLITS), help="to take seeds from (default test)")
    judge.add_argument("--skip", type=not_negative, default=0, help="seeds at its start that are left out (0)")
    judge.add_argument("--models", default="", help="folder of models with the policy (default: those shipped)")
    judge.add_argument("--model", default="policy", help="name of the policy there (default policy)")
    judge.add_argument(
        "--selector-models", default="", help="folder of models with the selector (default: those shipped)"
    )
    judge.add_argument(
        "--selector",
        default="",
        help=f"its name there (default {DRIVEN_SELECTOR} of those shipped, {SELECTOR} elsewhere)",
    )
    judge.add_argument(
        "--keyframes",
        choices=_KEYFRAMES,
        help="who chooses them: the learned selector, events that need no labels, the simulator's truth, or none "
        "is given (default events for a policy that was taught with them, or else learned)",
    )
    judge.add_argument("--execute-steps", type=positive, default=5, help="of a chunk before the next is asked for (5)")
    judge.add_argument(
        "--latency-steps",
        type=not_negative,
        default=0,
        help="control steps of 50 ms until a chunk is used, with --execute-steps at most 16 (default 0)",
    )
    judge.add_argument("--blend-steps", type=not_negative, default=3, help="fade from chunk to chunk (default 3)")
    judge.add_argument("--untold", action="store_true", help="do not tell the policy which actions run meanwhile")
    judge.add_argument(
        "--noise",
        type=_share,
        default=0.0,
        help="that a chunk begins with: 0 its middle, 1 as it was learnt (default 0)",
    )
    judge.add_argument("--image-size", type=positive, default=256, help="px of each camera (default 256)")
    judge.add_argument("--no-films", action="store_true", help="write no films of failures")
    judge.add_argument("--processes", type=positive, default=os.cpu_count() or 1, help="(default: one per core)")
    judge.add_argument("-o", "--output", type=Path, default=Path("runs/policy_eval"), help="(default runs/policy_eval)")
    judge.set_defaults(run=_evaluate)

    for verb in (play, collect, judge):
        verb.add_argument("--looks", default="standard", help="standard or varied (default standard)")
    for verb in (play, check, collect, judge):
        verb.set_defaults(prog=verb.prog)
        verb.add_argument("--variant", default="standard", help="standard, hard or paper (default standard)")
        verb.add_argument("--renderer", default="auto", help="auto, gpu or cpu (default auto)")
    return parser


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share from 0 to 1")
    return value
