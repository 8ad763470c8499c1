"""`kc-vla eval table1|table3`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError
from kc_vla.cli.numbers import positive
from kc_vla.cli.training import add_arithmetic, add_init, add_settings, changed_settings, init_of_training
from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla.core.splits import SplitError
from kc_vla.core.tasks import simulated_tasks
from kc_vla.keyframes.selectors import DRIVEN_SELECTOR, SELECTOR, fitting_selector
from kc_vla_sim.arguments import ask_processes, ask_seeds
from kc_vla_sim.errors import SimulationError
from kc_vla_sim.evaluate.regimes import TABLES

_ABOUT = """\
table1: what a memory is worth. One network is trained with keyframes, without a history, and with frames at a stride:
on the same data, for the same number of steps. Each result plays the same episodes. table3: what the order of the
keyframes is worth. The same command continues an interrupted run. Trainings, models, episodes, tables, JSON and plots
are in the output folder, which both tables can share.
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    from kc_vla.inference.models import ModelError
    from kc_vla.learning.common.errors import LearningError

    options = main_parser("eval", _add_arguments).parse_args(words)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # see kc_vla.cli.training
    interrupted = f"kc-vla eval {options.what}: interrupted: the same command goes on"
    failures = (LearningError, ModelError, StackError, SplitError, BagError, SimulationError)
    return exit_status("eval", lambda: _compare(options), *failures, interrupted=interrupted)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    tasks = sorted(simulated_tasks())
    rows = sorted({regime.name for table in TABLES.values() for regime in table})
    parser.description = _ABOUT
    parser.add_argument("what", choices=sorted(TABLES), help="which table")
    parser.add_argument(
        "--data", type=Path, action="append", help="episodes with plans; repeatable (default data/plans/train)"
    )
    parser.add_argument("--row", action="append", choices=rows, help="one of the rows; can be repeated (all)")
    parser.add_argument("--task", action="append", choices=tasks, help="can be repeated (all)")
    add_settings(parser, "steps=2000", "TOML file of the trainings' settings")
    begin = "begin every row with the weights of this run, or with a model, such as policy (default: from nothing)"
    add_init(parser, begin, "--init-models")
    add_arithmetic(parser)
    parser.add_argument(
        "--episodes", type=positive, default=50, help="episodes of each task, for the rows selector and condensed (50)"
    )
    parser.add_argument("--others", type=positive, default=20, help="episodes of each task, for all other rows (20)")
    ask_seeds(parser, "test")
    parser.add_argument("--variant", default="standard", help="standard, hard or paper (default standard)")
    parser.add_argument(
        "--selector",
        default="",
        help=f"selector (default {DRIVEN_SELECTOR} of those shipped, {SELECTOR} elsewhere)",
    )
    parser.add_argument(
        "--selector-models", default="", help="folder of models with this model (default: the shipped models)"
    )
    parser.add_argument("--image-size", type=positive, default=256, help="px of each camera (default 256)")
    parser.add_argument("--renderer", default="auto", help="auto, gpu or cpu (default auto)")
    ask_processes(parser)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/tables"), help="folder (default runs/tables)")


def _compare(options: argparse.Namespace) -> None:
    from kc_vla.learning.policy.config import load_policy_config
    from kc_vla.learning.policy.restoring import restored_run
    from kc_vla.learning.policy.run import PolicyRun
    from kc_vla_sim.evaluate.agent import Execution
    from kc_vla_sim.evaluate.command import EvaluationSetting
    from kc_vla_sim.evaluate.comparison import ComparisonOptions, compare

    setting = EvaluationSetting(
        models="",
        model="",
        selector_models=options.selector_models,
        selector=fitting_selector("learned", options.selector, options.selector_models),
        keyframes="",
        variant=options.variant,
        looks="standard",
        image_size=options.image_size,
        renderer=options.renderer,
        execution=Execution(),
        noise=0.0,
        films=False,
    )
    wanted = ComparisonOptions(
        table=options.what,
        rows=options.row or (),
        data=options.data or [Path("data/plans/train")],
        config=load_policy_config(options.config, changed_settings(options)),
        init=init_of_training(PolicyRun, restored_run, options),
        device=(options.device, options.precision),
        setting=setting,
        tasks=tuple(options.task or simulated_tasks()),
        episodes=options.episodes,
        others=options.others,
        split=options.split,
        skip=options.skip,
        processes=options.processes,
        output=options.output,
    )
    for line in compare(wanted):
        print(line)
