"""`kc-vla train|export|eval selector`, `kc-vla annotate|eval rules`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kc_vla.bags.errors import BagError
from kc_vla.keyframes.onnx_sessions import InferenceError
from kc_vla.learning.config import METHODS, PRECISIONS
from kc_vla.learning.errors import LearningError
from kc_vla.models import ModelError, shipped_models

_SELECTOR = "keyframe_selector"
INTERRUPTED = 130


def main(argv: Sequence[str]) -> int:
    """Run a verb; return the exit status: 0, 1 for a failure told in one line, 2 for bad arguments, 130 interrupted."""
    options = _parser().parse_args(argv)
    # torch's idle threads spin, beside any other busy process at a thirtieth of the speed; read when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        options.run(options)
    except (LearningError, BagError, ModelError, InferenceError, OSError) as error:
        print(f"kc-vla {options.verb}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"kc-vla {options.verb}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _train(options: argparse.Namespace) -> None:
    from kc_vla.learning.config import load_config
    from kc_vla.learning.device import choose_device
    from kc_vla.learning.training import train_selector

    changes = dict(_pair(text) for text in options.set)
    config = load_config(options.config, changes)
    device = choose_device(options.device)
    train_selector(
        options.output, options.data, options.validation, config, options.method, device, trunk_of=options.trunk
    )
    print(f"{options.output}: trained; its curves are in curves.png. Next: kc-vla export selector {options.output}")


def _export(options: argparse.Namespace) -> None:
    from kc_vla.learning.release import release_selector
    from kc_vla.learning.run import Run

    chosen = release_selector(
        Run(options.training), options.data, options.validation, options.models, options.name, options.precision
    )
    for task, (threshold, f1) in chosen.items():
        print(f"{task:10} threshold {threshold:.2f}   F1 on validation {100 * f1:.1f} %")
    print(f"{options.models / options.name}")


def _eval(options: argparse.Namespace) -> None:
    if options.what == "rules":
        from kc_vla.learning.rule_annotation import report_rules

        print(report_rules(options.data))
        return
    from kc_vla.learning.report import report_selectors

    models = options.models or shipped_models()
    print(
        report_selectors(
            models, options.model or [_SELECTOR], options.data, options.output, options.disturbed, options.strips
        )
    )


def _annotate(options: argparse.Namespace) -> None:
    from kc_vla.learning.rule_annotation import write_rule_annotations

    for path in write_rule_annotations(options.data, options.output):
        print(path)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise LearningError(f"bad --set '{text}': write NAME=VALUE, as in stage_one.epochs=10")
    return name, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kc-vla", description="Learning of the keyframe selector.")
    verbs = parser.add_subparsers(dest="verb", required=True)

    train = _verb(verbs, "train", "train a keyframe selector; an interrupted training goes on", _train)
    _folder(train, "--data", "data/train", "episodes to learn from")
    _folder(train, "--validation", "data/validation", "episodes to choose the head by")
    _folder(train, "--output", "runs/selector", "folder of the run")
    train.add_argument("--config", type=Path, help="TOML file of settings (default: the paper's)")
    train.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a single setting; repeatable")
    train.add_argument("--method", choices=METHODS, default=METHODS[0], help="the paper's, or one of its baselines")
    train.add_argument("--trunk", type=Path, metavar="RUN", help="go on from the first stage of this run")
    train.add_argument("--device", default="auto", help="auto, cpu or cuda")

    export = _verb(verbs, "export", "ONNX files of a trained selector, thresholds by validation episodes", _export)
    export.add_argument("training", type=Path, help="folder of the run")
    _folder(export, "--data", "data/train", "for the ranges of 8-bit numbers")
    _folder(export, "--validation", "data/validation", "episodes to choose the thresholds by")
    _folder(export, "--models", "models", "folder with a registry")
    export.add_argument("--name", default=_SELECTOR, help=f"of the model ({_SELECTOR})")
    export.add_argument("--precision", choices=PRECISIONS, default=PRECISIONS[0], help="of the trunk (int8)")

    judge = _verb(verbs, "eval", "precision, recall, F1 on test episodes, tables and strips", _eval)
    _folder(judge, "--data", "data/test", "episodes to judge by")
    _folder(judge, "--output", "runs/eval", "folder for tables and strips")
    judge.add_argument("--models", type=Path, help="folder with a registry (default: the models shipped)")
    judge.add_argument("--model", action="append", help=f"name; repeatable, for a comparison ({_SELECTOR})")
    judge.add_argument("--disturbed", action="store_true", help="also with lost frames, other light, other speed")
    judge.add_argument("--strips", type=int, default=1000, help="pictures of at most so many episodes of a task")

    annotate = _verb(verbs, "annotate", "keyframes of recorded episodes by rules, without the simulator", _annotate)
    _folder(annotate, "--data", "data/train", "episodes to annotate")
    _folder(annotate, "--output", "runs/annotations", "folder for a .jsonl file of each data set")
    return parser


def _verb(verbs: Any, name: str, text: str, run: Callable[[argparse.Namespace], None]) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text)
    choices = {"eval": ["selector", "rules"], "annotate": ["rules"]}.get(name, ["selector"])
    parser.add_argument("what", choices=choices, help="the selector, or the rules of the task table")
    parser.set_defaults(run=run)
    return parser


def _folder(parser: argparse.ArgumentParser, name: str, default: str, text: str) -> None:
    parser.add_argument(name, type=Path, default=Path(default), help=f"{text} ({default})")
