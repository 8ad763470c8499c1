"""What the subcommands that train and export share: settings, device and arithmetic of a run, and how they end."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kc_vla.bags.errors import BagError
from kc_vla.cli.interrupts import prompt_interrupts
from kc_vla.cli.verbs import exit_status
from kc_vla.core.errors import StackError
from kc_vla.inference.models import ModelError
from kc_vla.inference.onnx_sessions import InferenceError
from kc_vla.learning.common.config import ARITHMETICS
from kc_vla.learning.common.errors import LearningError

if TYPE_CHECKING:  # torch takes seconds to import, which --help does not need
    from kc_vla.learning.common.device import Device
    from kc_vla.learning.common.run import TrainingRun

Run = TypeVar("Run", bound="TrainingRun")
MODELS = Path("my_models")
"""Folder that a trained model is exported to where nothing else is said."""


def add_settings(parser: argparse.ArgumentParser, example: str, file: str = "TOML file of settings") -> None:
    """Add `--config` and `--set`, which `changed_settings` reads.

    Args:
        parser: of the subcommand.
        example: of one setting, as it follows `--set`.
        file: help of `--config`.
    """
    parser.add_argument("--config", type=Path, help=file)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"one setting, after those of the file, such as {example}; repeatable",
    )
    parser.set_defaults(example_setting=example)


def add_init(parser: argparse.ArgumentParser, text: str, models: str = "--models") -> None:
    """Add what a training begins with, which `init_of_training` reads: `--init`, and the folder of its model.

    Args:
        parser: of the subcommand.
        text: help of `--init`.
        models: option for the folder.
    """
    parser.add_argument("--init", metavar="RUN|MODEL", help=text)
    parser.add_argument(
        models,
        dest="init_models",
        type=Path,
        help="folder with the registry of --init's model (default: the models shipped)",
    )


def add_arithmetic(parser: argparse.ArgumentParser) -> None:
    """Add `--device` and `--precision`, which `device_of_training` reads."""
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument(
        "--precision",
        choices=ARITHMETICS,
        default=ARITHMETICS[0],
        help=f"precision of the arithmetic; auto: the faster one here, measured at the start ({ARITHMETICS[0]})",
    )


def add_entry(parser: argparse.ArgumentParser, name: str) -> None:
    """Add where a trained model goes: `--models`, `--name`, whose default is `name`, and `--replace`."""
    parser.add_argument(
        "--models",
        type=Path,
        default=MODELS,
        help=f"folder of models to add it to; the registry is made if it is missing ({MODELS})",
    )
    add_name(parser, name)


def add_name(parser: argparse.ArgumentParser, name: str) -> None:
    """Add what a model is to be called in a registry: `--name`, whose default is `name`, and `--replace`."""
    parser.add_argument("--name", default=name, help=f"its name there ({name})")
    parser.add_argument("--replace", action="store_true", help="replace a model of the same name")


def changed_settings(options: argparse.Namespace) -> dict[str, str]:
    """Return the values of `--set` by their dotted names, as text.

    Raises:
        LearningError: one is not of the form NAME=VALUE.
    """
    changes = {}
    for text in options.set:
        name, equals, value = text.partition("=")
        if not equals:
            raise LearningError(f"bad --set '{text}': write NAME=VALUE, as in {options.example_setting}")
        changes[name] = value
    return changes


def device_of_training(run: TrainingRun, options: argparse.Namespace) -> Device:
    """Return and print what a run computes with, by `--device` and `--precision`.

    Raises:
        LearningError: see `learning.common.device.choose_device`.
    """
    from kc_vla.learning.common.device import device_of_run

    device = device_of_run(run, options.device, options.precision)
    print(f"Computes on {device.name} in {device.precision}: {device.why}", flush=True)
    return device


def init_of_training(
    kind: type[Run], restored: Callable[[Path, str, Path], Run], options: argparse.Namespace
) -> Run | None:
    """Return what `--init` names, as `learning.common.run.run_or_model` does; None where it is left out."""
    from kc_vla.learning.common.run import run_or_model

    if options.init is None:
        return None
    return run_or_model(kind, restored, options.init, options.init_models, options.output)


def learning_status(verb: str, work: Callable[[], None]) -> int:
    """Run a subcommand that learns, or uses what was learned.

    Args:
        verb: its first word, at the beginning of each error.
        work: what it does.

    Returns:
        the exit status: 0, 1 for a failure shown in one line, 130 after Ctrl-C.
    """
    # torch's idle threads spin, beside any other busy process at a thirtieth of the speed; read when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    goes_on = ": the same command goes on" if verb == "train" else ""
    interrupted = f"kc-vla {verb}: interrupted{goes_on}"

    def interruptible() -> None:
        with prompt_interrupts(interrupted):
            work()

    failures = (LearningError, BagError, ModelError, InferenceError, StackError)
    return exit_status(verb, interruptible, *failures, interrupted=interrupted)
