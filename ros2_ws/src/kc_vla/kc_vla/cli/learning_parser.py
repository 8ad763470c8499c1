"""The command lines of `kc-vla train|export|tune|eval selector`, `annotate|eval rules` and `eval events`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kc_vla.cli.training import MODELS, add_arithmetic, add_entry, add_name, add_settings
from kc_vla.keyframes.selectors import SELECTOR
from kc_vla.learning.selector.config import INIT_PARTS, METHODS, PRECISIONS

Run = Callable[[argparse.Namespace], None]
_RUN = "runs/selector"
DATA, VALIDATION = Path("data/train"), Path("data/validation")
"""The episodes to train on, and to choose by, where nothing else is said."""
EVAL = Path("runs/eval")
"""Where the tables of selectors go likewise."""

_WHATS = {
    "selector": "the network that selects keyframes",
    "rules": "the rules of the task table",
    "events": "the end of a motion, a grip or a change of the scene; needs no labels",
}
_TRAIN = """\
Train a keyframe selector on recorded episodes (LeRobot data sets, 2.0 to 3.0, with keyframes, as `kc-vla collect`
makes them): first the trunk by metric learning, then the query head on its features. Curves and checkpoints are in the
run's folder; the same command goes on with a run that was interrupted.
---
examples:
  kc-vla train selector --config models/keyframe_selector/train.toml      the settings of the shipped model
  kc-vla train selector --set stage_one.epochs=10 --set image_size=128    a shorter one; that file names more settings
few episodes, so on from the shipped model, the head alone:
  kc-vla train selector --config models/keyframe_selector/train.toml --init keyframe_selector --method no-metric
Then: kc-vla export selector runs/selector
"""
_EXPORT = """\
Export a trained selector for the stack: ONNX files of backbone and head, and for each task the threshold that does
best on validation episodes. They are entered in the registry of a folder of models.
---
example:
  kc-vla export selector runs/selector
Then: ros2 launch kc_vla maniskill.launch.py models:=my_models
"""
_TUNE = """\
Choose the thresholds of a selector anew on validation episodes, and nothing else: for a robot or a camera of which
there are too few episodes to train. The network is copied as it is; thresholds that do best already stay.
---
example:
  kc-vla tune selector --validation data/validation/mine
Then: ros2 launch kc_vla piper.launch.py models:=my_models
"""
_EVAL = """\
Measure selectors, the rules or the events on recorded episodes, free-running as in the stack: precision, recall, F1 and
distance in frames, as tables, and for each episode an image of a selector's scores and keyframes.
---
examples:
  kc-vla eval selector --models my_models
  kc-vla eval rules --data data/test
  kc-vla eval events --data data/test
"""
_ANNOTATE = """\
Mark the keyframes of recorded episodes by the rules of the task table (gripper, heights, light), without the simulator:
a file <data set>.jsonl in the output folder, in the form of meta/annotations.jsonl, with phase, label and confidence of
each keyframe. The data sets stay as they are. To mark them by hand: kc-vla annotate page --help
---
example:
  kc-vla annotate rules --data data/train
"""


def learning_parser(runs: Mapping[str, Run]) -> argparse.ArgumentParser:
    """Return the parser of the subcommands' arguments; `runs` has what each subcommand does with them."""
    parser = argparse.ArgumentParser(prog="kc-vla", description="Learning of the keyframe selector.")
    verbs = parser.add_subparsers(dest="verb", required=True)

    train = _verb(verbs, "train", "train a keyframe selector", _TRAIN, runs["train"])
    _folders(train, "--data", f"episodes to learn from, repeatable ({DATA})")
    _folders(train, "--validation", f"episodes to choose the head by, repeatable ({VALIDATION})")
    _folder(train, "--output", _RUN, "folder of the run; one that was interrupted goes on there")
    add_settings(train, "stage_one.epochs=10", "TOML file of settings (default: the paper's), e.g. the one below")
    train.add_argument("--method", choices=METHODS, default=METHODS[0], help="the paper's, or one of its baselines")
    train.add_argument("--init", metavar="MODEL", help=f"begin with the weights of a model, e.g. {SELECTOR}")
    train.add_argument(
        "--init-parts",
        default=",".join(INIT_PARTS),
        metavar="PARTS",
        help="`trunk` (the backbone), `head` or both (`trunk,head`)",
    )
    train.add_argument("--models", type=Path, help="folder with the registry of --init (default: the models shipped)")
    train.add_argument(
        "--trunk", type=Path, metavar="RUN", help="take the backbone of this run, and train only the second stage"
    )
    train.add_argument(
        "--tasks",
        type=Path,
        metavar="YAML",
        help="tasks of the data that are not in the task table: see docs/data_sets.md",
    )
    add_camera(train, "view that the selector uses, such as wrist; several views are used side by side (third_person)")
    add_arithmetic(train)

    export = _verb(verbs, "export", "make ONNX files of a trained selector", _EXPORT, runs["export"])
    export.add_argument(
        "run_folder", type=Path, metavar="run", help=f"folder of the training: --output of `kc-vla train`, e.g. {_RUN}"
    )
    learnt_from = "episodes of the training, for the tasks and the ranges of 8-bit numbers"
    _folders(export, "--data", f"{learnt_from}; repeatable (the run's own)")
    _folders(export, "--validation", "episodes to choose the thresholds by; repeatable (the run's own)")
    add_entry(export, SELECTOR)
    export.add_argument(
        "--precision",
        choices=PRECISIONS,
        default=PRECISIONS[0],
        help="numbers of the backbone: int8 is faster on a CPU; auto takes it unless F1 falls (auto)",
    )

    tune = _verb(verbs, "tune", "choose the thresholds of a selector anew", _TUNE, runs["tune"])
    _folder(tune, "--validation", str(VALIDATION), "episodes to choose the thresholds by")
    tune.add_argument("--models", type=Path, help="folder with a registry (default: the models shipped)")
    tune.add_argument("--model", default=SELECTOR, help=f"name there ({SELECTOR})")
    _folder(tune, "--output", str(MODELS), "folder of models to add the tuned one to")
    add_name(tune, SELECTOR)

    judge = _verb(verbs, "eval", "measure selectors, rules or events on test episodes", _EVAL, runs["eval"])
    _folder(judge, "--data", "data/test", "episodes to judge by")
    judge.add_argument(
        "-o",
        "--output",
        type=Path,
        help=f"folder for tables and strips; of rules and events, for the table ({EVAL} for a selector, else none)",
    )
    judge.add_argument("--models", type=Path, help="folder with a registry (default: the models shipped)")
    judge.add_argument("--model", action="append", help=f"name; repeatable, for a comparison ({SELECTOR})")
    add_camera(judge, "the cameras of these episodes (those of the selector's training)")
    judge.add_argument("--disturbed", action="store_true", help="also with lost frames, other light, other speed")
    judge.add_argument("--strips", type=int, default=1000, help="most episodes of a data set of which images are made")

    annotate = _verb(verbs, "annotate", "mark keyframes of recorded episodes by rules", _ANNOTATE, runs["annotate"])
    _folder(annotate, "--data", str(DATA), "episodes to annotate")
    _folder(annotate, "--output", "runs/annotations", "folder for the files")
    return parser


def _verb(verbs: Any, name: str, text: str, more: str, run: Run) -> argparse.ArgumentParser:
    """Add a subcommand with `text` as its help in a line, and return its parser.

    `more` has what stands above its own help and, after ---, below.
    """
    above, _, below = more.partition("---\n")
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=text, description=above, epilog=below, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    whats = {"eval": ("selector", "rules", "events"), "annotate": ("rules",)}.get(name, ("selector",))
    parser.add_argument(
        "what", choices=whats, metavar="|".join(whats), help=", or ".join(_WHATS[what] for what in whats)
    )
    parser.set_defaults(run=run)
    return parser


def add_camera(parser: argparse.ArgumentParser, text: str) -> None:
    """Add `--camera`, of which `text` says what it is for, to be parsed by `keyframes.cameras.parse_cameras`."""
    metavar = "VIEW[=NAME]"
    more = "; repeatable; NAME is the key of the view in the data set, if it is unusual"
    parser.add_argument("--camera", action="append", metavar=metavar, help=text + more)


def _folders(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    parser.add_argument(name, type=Path, action="append", help=text)


def _folder(parser: argparse.ArgumentParser, name: str, default: str, text: str) -> None:
    names = ("-o", name) if name == "--output" else (name,)
    parser.add_argument(*names, type=Path, default=Path(default), help=f"{text} ({default})")
