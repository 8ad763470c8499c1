"""`kc-vla train|export|tune|eval selector`, `annotate|eval rules` and `eval events`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kc_vla.cli.learning_parser import DATA, EVAL, VALIDATION, learning_parser
from kc_vla.cli.training import MODELS, changed_settings, device_of_training, learning_status
from kc_vla.core.files import write_whole
from kc_vla.inference.models import shipped_models
from kc_vla.keyframes.cameras import THIRD_PERSON, parse_cameras
from kc_vla.keyframes.selectors import SELECTOR


def main(words: Sequence[str]) -> int:
    """Run a subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    runs = {"train": _train, "export": _export, "tune": _tune, "eval": _eval, "annotate": _annotate}
    options = learning_parser(runs).parse_args(words)
    return learning_status(options.verb, lambda: options.run(options))


def _train(options: argparse.Namespace) -> None:
    from kc_vla.core.task_file import read_tasks
    from kc_vla.learning.selector.config import load_config
    from kc_vla.learning.selector.pretrained import find_pretrained
    from kc_vla.learning.selector.run import SelectorRun
    from kc_vla.learning.selector.training import train_selector

    changes = changed_settings(options)
    init = None
    if options.init is not None:
        init = find_pretrained(options.models or shipped_models(), options.init, options.init_parts)
    config = load_config(options.config, changes, init.settings() if init is not None else {})
    own = read_tasks(options.tasks) if options.tasks else {}
    cameras = parse_cameras(options.camera or [str(THIRD_PERSON)])
    device = device_of_training(SelectorRun(options.output), options)
    run = train_selector(
        options.output,
        options.data or [DATA],
        options.validation or [VALIDATION],
        config,
        options.method,
        device,
        trunk_of=options.trunk,
        init=init,
        own=own,
        cameras=cameras,
    )
    f1 = max(line["f1"] for line in run.read_log() if "f1" in line)
    print(f"{options.output}: trained, F1 {100 * f1:.1f} % on the validation episodes; its curves are in curves.png")
    print(f"Next: kc-vla export selector {options.output} --models {MODELS}")


def _export(options: argparse.Namespace) -> None:
    from kc_vla.learning.selector.release import release_selector
    from kc_vla.learning.selector.run import SelectorRun

    run = SelectorRun(options.run_folder)
    data, validation = options.data or run.folders("train"), options.validation or run.folders("validation")
    replaced = ", in place of the one that was there" if (options.models / options.name).exists() else ""
    released = release_selector(run, data, validation, options.models, options.name, options.precision, options.replace)
    for task, (threshold, f1) in released.chosen.items():
        print(f"{task:10} threshold {threshold:.2f}   F1 on validation {100 * f1:.1f} %")
    if released.remark:
        print(f"Note: {released.remark}")
    print(f"{options.models / options.name}{replaced}: the launch files take it with {_chosen_by(options)}")


def _tune(options: argparse.Namespace) -> None:
    from kc_vla.learning.selector.tuning import tune_selector

    models = options.models or shipped_models()
    tuned = tune_selector(models, options.model, options.validation, options.output, options.name, options.replace)
    for task, row in tuned.items():
        if row.nothing:
            print(f"{task:10} threshold {row.before:.2f} stays   {row.nothing}")
            continue
        print(
            f"{task:10} threshold {row.before:.2f} -> {row.after:.2f}   "
            f"F1 on {row.episodes} episodes {100 * row.f1_before:.1f} % -> {100 * row.f1_after:.1f} %"
        )
    options.models = options.output
    print(f"{options.output / options.name}: the launch files take it with {_chosen_by(options)}")


def _chosen_by(options: argparse.Namespace) -> str:
    return f"models:={options.models}" + ("" if options.name == SELECTOR else f" model:={options.name}")


def _eval(options: argparse.Namespace) -> None:
    if options.what == "rules":
        from kc_vla.learning.selector.rule_annotation import report_rules

        _show(report_rules(options.data), options)
        return
    cameras = parse_cameras(options.camera) if options.camera else None
    if options.what == "events":
        from kc_vla.keyframes.selectors import NetworkOptions
        from kc_vla.learning.selector.event_evaluation import report_events

        named = options.model[-1] if options.model else SELECTOR
        _show(report_events(options.data, NetworkOptions(named, str(options.models or ""), "cpu"), cameras), options)
        return
    from kc_vla.learning.selector.report import report_selectors

    models, output = options.models or shipped_models(), options.output or EVAL
    print(
        report_selectors(
            models,
            options.model or [SELECTOR],
            options.data,
            output,
            options.disturbed,
            options.strips,
            cameras,
        )
    )
    print(f"\n{output}: the tables, and a plot of each episode's scores and keyframes")


def _show(table: str, options: argparse.Namespace) -> None:
    """Print a table, and write it into the folder that --output names, if it names one."""
    print(table)
    if options.output is None:
        return
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / f"{options.what}.md"
    write_whole(file, table + "\n")
    print(f"\n{file}: the table")


def _annotate(options: argparse.Namespace) -> None:
    from kc_vla.learning.selector.rule_annotation import write_rule_annotations

    for path in write_rule_annotations(options.data, options.output):
        print(path)
