"""`kc-vla train|export|eval detector`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.numbers import positive
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
from kc_vla.inference.models import shipped_models
from kc_vla.perception.detector_model import DETECTOR

_RUN, _EVAL = Path("runs/detector"), Path("runs/eval_detector")
_TRAIN_DATA, _VALIDATION, _TEST = (Path("data/detections") / each for each in ("train", "validation", "test"))
_TRAIN = """\
Train the detector of objects on rendered images, as `kc-vla collect --detections` makes them. Curves and checkpoints
are in the run's folder; the same command goes on with a run that was interrupted.
"""
_EXAMPLES = """\
examples:
  kc-vla collect --detections --split train --episodes 150
  kc-vla collect --detections --split validation --episodes 15
  kc-vla train detector
  kc-vla train detector data/mine/train --validation data/mine/validation --init detector --output runs/mine
Then: kc-vla export detector runs/detector
"""
_MEASURE = """\
Measure a detector on rendered images: mean average precision with an interval over the scenes, states, colors, error of
position with and without depth, recall by visible share. The table and a sheet of images are in the output folder.
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    verb = words[0]
    parser, run = {
        "train": (_train_parser, _train),
        "export": (_export_parser, _export),
        "eval": (_eval_parser, _eval),
    }[verb]
    options = parser().parse_args(words[2:])
    return learning_status(verb, lambda: run(options))


def _train(options: argparse.Namespace) -> None:
    from kc_vla.learning.detector.config import load_detector_config
    from kc_vla.learning.detector.restoring import restored_run
    from kc_vla.learning.detector.run import DetectorRun
    from kc_vla.learning.detector.training import train_detector

    config = load_detector_config(options.config, changed_settings(options))
    DetectorRun.require_own(options.output)
    device = device_of_training(DetectorRun(options.output), options)
    init = init_of_training(DetectorRun, restored_run, options)
    data, validation = options.data or [_TRAIN_DATA], options.validation or [_VALIDATION]
    run = train_detector(options.output, data, validation, config, device, init)
    best = max(line["map_50"] for line in run.read_log())
    print(f"{options.output}: trained, mAP@0.5 {100 * best:.1f} % on validation images; its curves are in curves.png")
    print(f"Next: kc-vla export detector {options.output} --models {MODELS}")


def _export(options: argparse.Namespace) -> None:
    from kc_vla.learning.detector.release import release_detector
    from kc_vla.learning.detector.run import DetectorRun

    run = DetectorRun(options.run)
    epochs = release_detector(run, options.models, options.name, options.replace)
    if run.read_log()[-1]["epoch"] + 1 < run.config.epochs:
        print(f"Note: {options.run} is not at its end: the command that began it goes on, then export with --replace")
    print(f"{options.models / options.name}: the network after {epochs} of {run.config.epochs} epochs, which was best")
    print(f"Next: kc-vla eval detector {options.name} --models {options.models}")


def _eval(options: argparse.Namespace) -> None:
    from kc_vla.learning.detector.config import DetectorConfig
    from kc_vla.learning.detector.report import SHEET, TABLE, report_detector
    from kc_vla.perception.detector_model import load_detector

    model = load_detector(options.models or shipped_models(), options.model)
    asked = DetectorConfig()
    data = options.data or [_TEST]
    print(report_detector(model, data, options.output, asked.least_share, asked.least_pixels, options.threads))
    print(f"\n{options.output / TABLE}: the table; {options.output / SHEET}: images with what was found in them")


def _train_parser() -> argparse.ArgumentParser:
    parser = _parser("train", _TRAIN, _EXAMPLES)
    parser.add_argument("data", type=Path, nargs="*", help=f"folders of images to train on ({_TRAIN_DATA})")
    parser.add_argument(
        "--validation",
        type=Path,
        action="append",
        help=f"folder of images to choose the epoch by, repeatable ({_VALIDATION})",
    )
    parser.add_argument("-o", "--output", "--out", type=Path, default=_RUN, help=f"folder of the run ({_RUN})")
    add_init(parser, f"begin with the best network of this run, or with a model, such as {DETECTOR}")
    add_settings(parser, "epochs=20")
    add_arithmetic(parser)
    return parser


def _export_parser() -> argparse.ArgumentParser:
    text = "Make an ONNX file of a trained detector, and enter it in the registry of a folder of models."
    parser = _parser("export", text, "")
    parser.add_argument(
        "run", type=Path, help=f"folder of the training: --output of `kc-vla train detector`, e.g. {_RUN}"
    )
    add_entry(parser, DETECTOR)
    return parser


def _eval_parser() -> argparse.ArgumentParser:
    parser = _parser("eval", _MEASURE, "")
    parser.add_argument("model", nargs="?", default=DETECTOR, help=f"name of the model ({DETECTOR})")
    parser.add_argument("data", type=Path, nargs="*", help=f"folders of images to judge by ({_TEST})")
    parser.add_argument("--models", type=Path, help="folder with the registry (default: the models shipped)")
    parser.add_argument("--threads", type=positive, default=1, help="CPU threads (1)")
    parser.add_argument("-o", "--output", type=Path, default=_EVAL, help=f"folder for table and images ({_EVAL})")
    return parser


def _parser(verb: str, above: str, below: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"kc-vla {verb} detector",
        description=above,
        epilog=below,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
