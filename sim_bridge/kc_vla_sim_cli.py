"""`kc-vla sim <verb>`, `kc-vla collect` and `kc-vla eval policy`: the simulation from a shell.

What takes seconds to import is imported by the verb that needs it, after its arguments were checked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError
from kc_vla.core.errors import StackError
from kc_vla.core.extras import advice
from kc_vla.core.splits import SplitError
from kc_vla.core.tasks import UnknownTaskError, simulated_tasks
from kc_vla.keyframes.selectors import fitting_selector
from kc_vla_sim.arguments import ALL, CHECKS, MODES, parser_of
from kc_vla_sim.choices import STANDARD_ASSETS

INTERRUPTED = 130


def main(argv: Sequence[str]) -> int:
    """Run one verb; return the exit status.

    0 done and, for a check, all targets hold; 1 a target missed, or a file that cannot be written; 2 bad arguments or
    no renderer; 130 interrupted.
    """
    if tuple(argv[:2]) == ("eval", "household"):
        from kc_vla_sim.household.command import main as measure

        return measure(argv)
    if tuple(argv[:2]) == ("eval", "ask"):
        from kc_vla_sim.household.questions.command import main as ask

        return ask(argv)
    if tuple(argv[:2]) == ("eval", "episodic"):
        from kc_vla_sim.evaluate.episodic_command import main as remember

        return remember(argv)
    if tuple(argv[:2]) == ("eval", "perception"):
        from kc_vla_sim.kitchen.perceiving.command import main as look

        return look(argv)
    if tuple(argv[:2]) == ("eval", "skills"):
        from kc_vla_sim.kitchen.handling.command import main as handle

        return handle(argv)
    if tuple(argv[:2]) == ("eval", "kitchen"):
        from kc_vla_sim.kitchen.sequences.command import main as follow

        return follow(argv)
    if tuple(argv[:2]) == ("eval", "virtualhome"):
        from kc_vla_sim.household.virtualhome.command import main as judge

        return judge(argv)
    if tuple(argv[:2]) in {("eval", "table1"), ("eval", "table3")}:
        from kc_vla_sim.evaluate.comparison_command import main as compare

        return compare(argv)
    options = parser_of(_play, _check, _collect, _evaluate).parse_args(argv)
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
        if isinstance(error, ModuleNotFoundError) or advice(error):
            raise  # `kc-vla` says what brings it
        return _fail(options, f"the simulation cannot be imported ({error}): run ./setup.sh", status=2)
    try:
        status: int = options.run(options)
    except (SimulationError, UnknownTaskError, SplitError) as error:
        return _fail(options, error, status=2)
    except (BagError, StackError, OSError) as error:
        return _fail(options, error, status=1)
    return status


def _play(options: argparse.Namespace) -> int:
    from kc_vla_sim.film.command import FilmOptions, play_to_film

    looks = "" if options.looks == "standard" else f"-{options.looks}"
    assets = "" if options.assets == STANDARD_ASSETS else f"-{options.assets}"
    output = options.output or Path(f"{options.task}-{options.variant}{looks}{assets}-{options.seed}.mp4")
    wanted = FilmOptions(
        task=options.task,
        seed=options.seed,
        variant=options.variant,
        looks=options.looks,
        image_size=options.image_size,
        renderer=options.renderer,
        skip_waits=options.skip_waits,
        output=output,
        assets=options.assets,
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
            checks=tuple(options.only or CHECKS),
            modes=tuple(options.mode or MODES),
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
    if options.detections:
        return _collect_detections(options)
    if options.skill:
        return _collect_skill(options)
    from kc_vla.datasets.lerobot.errors import DataSetError
    from kc_vla_sim.collect.command import CollectOptions, collect, collect_plans
    from kc_vla_sim.collect.drivers import LATE, DrivingPolicy
    from kc_vla_sim.collect.planned import WHOLE, PlannedSegment

    if options.assets != STANDARD_ASSETS:
        raise DataSetError("--assets goes with --detections: the other tasks have no kitchen")
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
        image_size=options.image_size or 128,
        processes=options.processes,
        output=options.output or Path("data"),
        renderer=options.renderer,
        policy=policy,
        skip=options.skip,
        stretch=PlannedSegment(options.stretch, options.begin_by),
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


def _collect_detections(options: argparse.Namespace) -> int:
    from kc_vla.datasets.lerobot.errors import DataSetError
    from kc_vla_sim.renderer import choose_renderer

    renderer = "cpu" if choose_renderer(options.renderer) == "sapien_cpu" else "gpu"  # they draw a little differently
    from kc_vla_sim.collect.detections import DetectionSetting, collect_detections

    setting = DetectionSetting(
        options.looks, options.image_size or 256, renderer, options.moments, options.assets, options.played
    )
    if options.played and options.assets != STANDARD_ASSETS:
        raise DataSetError("--played goes with the kitchens of standard assets: leave --assets out")
    output = options.output or Path("data/detections")
    for line in collect_detections(setting, options.split, options.episodes, options.skip, options.processes, output):
        print(line)
    return 0


def _collect_skill(options: argparse.Namespace) -> int:
    from kc_vla.datasets.lerobot.errors import DataSetError
    from kc_vla_sim.collect.command import checked_setting
    from kc_vla_sim.collect.skill_command import SkillOptions, collect_skill
    from kc_vla_sim.geometry import VIEWS

    if options.task or options.from_policy is not None:
        raise DataSetError("--skill has the arm's motion move it in kitchens: leave --task and --from-policy out")
    wanted = SkillOptions(
        skill=options.skill,
        thing=options.thing,
        setting=checked_setting(options.variant, options.looks, options.image_size or 128, options.renderer),
        views=tuple(view for view in VIEWS if view in (options.camera or VIEWS)),
        episodes=options.episodes,
        split=options.split,
        skip=options.skip,
        processes=options.processes,
        output=options.output or Path("data/skills"),
    )
    for line in collect_skill(wanted):
        print(line)
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    from kc_vla.policy.learned import find_policy
    from kc_vla_sim.evaluate.agent import Execution
    from kc_vla_sim.evaluate.command import EvalOptions, EvaluationSetting, evaluate

    execution = Execution(options.execute_steps, options.blend_steps, options.latency_steps, not options.untold)
    setting = EvaluationSetting(
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
    """Return those asked for, in their order, each once."""
    asked: list[str] = options.task or [ALL]
    return simulated_tasks() if ALL in asked else tuple(dict.fromkeys(asked))


def _fail(options: argparse.Namespace, error: object, status: int) -> int:
    print(f"{options.prog}: {error}", file=sys.stderr)
    return status
