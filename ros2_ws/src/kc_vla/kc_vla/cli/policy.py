"""`kc-vla train|export policy`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.learning_parser import add_camera
from kc_vla.cli.training import (
    MODELS,
    add_arithmetic,
    add_entry,
    add_init,
    add_settings,
    changed_settings,
    device_of_training,
    init_of_training,
    learning_status,
)
from kc_vla.keyframes.cameras import parse_cameras
from kc_vla.learning.policy.config import PRECISIONS

_RUN, _NAME = Path("runs/policy"), "policy"
_SIMULATED = "panda_sim"
"""The robot of the simulator."""
_TRAIN = """\
Train a policy that acts on the keyframes it remembers: on episodes with the expert's plans, as `kc-vla collect --plans`
makes them, or on recordings of a robot, as LeRobot data sets with keyframes (`kc-vla bag export`). Curves and
checkpoints are in the run's folder; the same command goes on with a run that was interrupted.
"""
_EXAMPLES = """\
examples:
  kc-vla collect --plans --output data/plans
  kc-vla train policy --data data/plans/train --set init=shipped
on from the policy that comes with the stack, such as for a desk of your own:
  kc-vla train policy --config models/policy/train.toml --init policy --set steps=2000 --output runs/mine
another round, with the corrections of a person (takeover:=):
  kc-vla train policy --data data/demos --data data/takeovers --from-takeovers --init runs/policy --output runs/round2
Then: kc-vla export policy runs/policy
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    verb = words[0]
    options = (_train_parser() if verb == "train" else _export_parser()).parse_args(words[2:])
    return learning_status(verb, lambda: (_train if verb == "train" else _export)(options))


def _train(options: argparse.Namespace) -> None:
    from kc_vla.learning.policy.config import load_policy_config
    from kc_vla.learning.policy.restoring import restored_run
    from kc_vla.learning.policy.run import PolicyRun
    from kc_vla.learning.policy.training import train_policy

    config = load_policy_config(options.config, changed_settings(options))
    PolicyRun.require_own(options.output)
    device = device_of_training(PolicyRun(options.output), options)
    run = train_policy(
        options.output,
        options.data or options.default_data,
        config,
        device,
        init_of_training(PolicyRun, restored_run, options),
        from_takeovers=options.from_takeovers,
        cameras=parse_cameras(options.camera) if options.camera else (),
    )
    last = run.read_log()[-1]
    print(f"{options.output}: trained; on episodes that were held out it is off by {_told(last)}; curves in curves.png")
    print(f"Next: kc-vla export policy {options.output} --models {MODELS}")


def _export(options: argparse.Namespace) -> None:
    from kc_vla.learning.policy.release import release_policy
    from kc_vla.learning.policy.run import PolicyRun

    run = PolicyRun(options.run)
    released = release_policy(run, options.models, options.name, options.precision, options.replace)
    if released < run.config.steps:
        print(
            f"Note: {options.run} has come to step {released} of {run.config.steps}: the command that began it goes "
            "on, then export it with --replace"
        )
    chosen = f"policy_models:={options.models}" + ("" if options.name == _NAME else f" policy_model:={options.name}")
    launched = "maniskill.launch.py" if run.robot == _SIMULATED else "piper.launch.py"
    print(f"{options.models / options.name}: {launched} takes it with policy:=learned {chosen}")


def _told(figures: dict[str, float]) -> str:
    names = {"moving_off": "where it moves", "waiting_off": "where it waits", "place_off": "in the next place"}
    found = [
        f"{1e3 * figures[key]:.1f} m{unit} {text}"
        for name, text in names.items()
        for unit in ("m", "rad")
        if (key := f"{name}_{unit}") in figures
    ]
    told = ", ".join(found)
    if (right := figures.get("right_place")) is not None:
        told += f", and knows where to go next in {right:.0%} of the frames in which it moves"
    return told


def _export_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kc-vla export policy",
        description="Make ONNX files of a trained policy, and enter them in the registry of a folder of models.",
    )
    parser.add_argument(
        "run", type=Path, help=f"folder of the training: --output of `kc-vla train policy`, e.g. {_RUN}"
    )
    add_entry(parser, _NAME)
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        default=PRECISIONS[0],
        help="precision of the backbone: 8 bits take less than half the time on a CPU (int8)",
    )
    return parser


def _train_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kc-vla train policy",
        description=_TRAIN,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    data, output = Path("data/plans/train"), _RUN
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        help=f"episodes with plans, a data set, or a folder of either; repeatable ({data})",
    )
    parser.set_defaults(default_data=[data])
    parser.add_argument("-o", "--output", type=Path, default=output, help=f"folder of the run ({output})")
    add_init(parser, f"begin with the weights of this run, such as a round before, or with a model, such as {_NAME}")
    parser.add_argument(
        "--from-takeovers",
        action="store_true",
        help="in data sets that mark takeovers, train only on the frames in which a person drove; use all frames of "
        "other data sets",
    )
    add_camera(parser, "view that the policy uses (all that the data have)")
    add_settings(parser, "steps=2000")
    add_arithmetic(parser)
    return parser
