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
_RUN = "runs/selector"
INTERRUPTED = 130

_WHATS = {"selector": "the network that selects keyframes", "rules": "the rules of the task table"}
_TRAIN = """\
Train a keyframe selector on recorded episodes (LeRobot v2.1 data sets with meta/keyframes.json, as `kc-vla collect`
makes them): first the trunk by metric learning, then the query head on its features. Curves and checkpoints are in the
run's folder; the same command goes on with a run that was interrupted.
---
examples:
  kc-vla train selector --config models/keyframe_selector/train.toml      the settings of the shipped model
  kc-vla train selector --set stage_one.epochs=10 --set image_size=128    a shorter one; that file names more settings
Then: kc-vla export selector runs/selector
"""
_EXPORT = """\
Make what the stack runs of a trained selector: ONNX files of trunk and head, and for each task the threshold that does
best on validation episodes. They are entered in the registry of a folder of models.
---
example:
  kc-vla export selector runs/selector --models models
Then: ros2 launch kc_vla maniskill.launch.py models:=models
"""
_EVAL = """\
Measure selectors, or the rules, on recorded episodes, free-running as in the stack: precision, recall, F1 and distance
in frames, as tables, and for each episode a picture of its scores and keyframes.
---
examples:
  kc-vla eval selector --models models
  kc-vla eval rules --data data/test
"""
_ANNOTATE = """\
Mark the keyframes of recorded episodes by the rules of the task table (gripper, heights, light), without the simulator:
a file <data set>.jsonl in the output folder, in the form of meta/annotations.jsonl, with phase, label and confidence of
each keyframe. The data sets stay as they are. To mark them by hand: kc-vla annotate page --help
---
example:
  kc-vla annotate rules --data data/train
"""


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
        goes_on = ": the same command goes on" if options.verb == "train" else ""
        print(f"kc-vla {options.verb}: interrupted{goes_on}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _train(options: argparse.Namespace) -> None:
    from kc_vla.learning.config import load_config
    from kc_vla.learning.device import choose_device
    from kc_vla.learning.training import train_selector

    changes = dict(_pair(text) for text in options.set)
    config = load_config(options.config, changes)
    device = choose_device(options.device)
    run = train_selector(
        options.output, options.data, options.validation, config, options.method, device, trunk_of=options.trunk
    )
    f1 = max(line["f1"] for line in run.read_log() if "f1" in line)
    print(f"{options.output}: trained, F1 {100 * f1:.1f} % on the validation episodes; its curves are in curves.png")
    print(
        f"Next: kc-vla export selector {options.output} --models my_models   (without it: in place of the shipped one)"
    )


def _export(options: argparse.Namespace) -> None:
    from kc_vla.learning.release import release_selector
    from kc_vla.learning.run import Run

    run = Run(options.run_folder)
    data, validation = options.data or Path(run.data["train"]), options.validation or Path(run.data["validation"])
    replaced = ", in place of the one that was there" if (options.models / options.name).exists() else ""
    chosen = release_selector(run, data, validation, options.models, options.name, options.precision)
    for task, (threshold, f1) in chosen.items():
        print(f"{task:10} threshold {threshold:.2f}   F1 on validation {100 * f1:.1f} %")
    chosen_by = f"models:={options.models}" + ("" if options.name == _SELECTOR else f" model:={options.name}")
    print(f"{options.models / options.name}{replaced}: the launch files take it with {chosen_by}")


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

    train = _verb(verbs, "train", "train a keyframe selector", _TRAIN, _train)
    _folder(train, "--data", "data/train", "episodes to learn from")
    _folder(train, "--validation", "data/validation", "episodes to choose the head by")
    _folder(train, "--output", _RUN, "folder of the run; one that was interrupted goes on there")
    train.add_argument("--config", type=Path, help="TOML file of settings (default: the paper's), e.g. the one below")
    train.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one setting, after those of the file; repeatable",
    )
    train.add_argument("--method", choices=METHODS, default=METHODS[0], help="the paper's, or one of its baselines")
    train.add_argument("--trunk", type=Path, metavar="RUN", help="go on from the first stage of this run")
    train.add_argument("--device", default="auto", help="auto, cpu or cuda")

    export = _verb(verbs, "export", "make ONNX files of a trained selector", _EXPORT, _export)
    export.add_argument(
        "run_folder", type=Path, metavar="run", help=f"folder of the training: --output of `kc-vla train`, e.g. {_RUN}"
    )
    export.add_argument(
        "--data",
        type=Path,
        help="episodes it was learnt from: its tasks, and the ranges of 8-bit numbers (the run's own)",
    )
    export.add_argument("--validation", type=Path, help="episodes to choose the thresholds by (the run's own)")
    _folder(export, "--models", "models", "folder of models to add it to; a registry is made where there is none")
    export.add_argument("--name", default=_SELECTOR, help=f"its name there ({_SELECTOR})")
    export.add_argument(
        "--precision",
        choices=PRECISIONS,
        default=PRECISIONS[0],
        help="numbers of the trunk: int8 is faster on a CPU (int8)",
    )

    judge = _verb(verbs, "eval", "measure selectors, or rules, on test episodes", _EVAL, _eval)
    _folder(judge, "--data", "data/test", "episodes to judge by")
    _folder(judge, "--output", "runs/eval", "folder for tables and strips")
    judge.add_argument("--models", type=Path, help="folder with a registry (default: the models shipped)")
    judge.add_argument("--model", action="append", help=f"name; repeatable, for a comparison ({_SELECTOR})")
    judge.add_argument("--disturbed", action="store_true", help="also with lost frames, other light, other speed")
    judge.add_argument("--strips", type=int, default=1000, help="pictures of at most so many episodes of a data set")

    annotate = _verb(verbs, "annotate", "mark keyframes of recorded episodes by rules", _ANNOTATE, _annotate)
    _folder(annotate, "--data", "data/train", "episodes to annotate")
    _folder(annotate, "--output", "runs/annotations", "folder for the files")
    return parser


def _verb(
    verbs: Any, name: str, text: str, more: str, run: Callable[[argparse.Namespace], None]
) -> argparse.ArgumentParser:
    """A verb with `text`, its help in a line, and `more`, what stands above its own help and, after ---, below."""
    above, _, below = more.partition("---\n")
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=text, description=above, epilog=below, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    whats = {"eval": ("selector", "rules"), "annotate": ("rules",)}.get(name, ("selector",))
    parser.add_argument(
        "what", choices=whats, metavar="|".join(whats), help=", or ".join(_WHATS[what] for what in whats)
    )
    parser.set_defaults(run=run)
    return parser


def _folder(parser: argparse.ArgumentParser, name: str, default: str, text: str) -> None:
    parser.add_argument(name, type=Path, default=Path(default), help=f"{text} ({default})")
