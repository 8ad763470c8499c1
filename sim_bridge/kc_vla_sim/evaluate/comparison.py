"""`kc-vla eval table1|table3`: train what is missing of the rows, play what is missing of their episodes, sum it up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kc_vla.core.begun import BegunError, begun, differences
from kc_vla.core.splits import seeds_of
from kc_vla.inference.models import REGISTRY, read_registry
from kc_vla.keyframes.selectors import open_selector
from kc_vla.learning.common.device import device_of_run
from kc_vla.learning.policy.config import PolicyConfig, as_dict, policy_config_from
from kc_vla.learning.policy.event_keyframes import EventKeyframes
from kc_vla.learning.policy.material import find_material
from kc_vla.learning.policy.release import release_policy
from kc_vla.learning.policy.run import PolicyRun
from kc_vla.learning.policy.training import train_policy
from kc_vla.policy.model import EVENTS
from kc_vla_sim.choices import check_variant
from kc_vla_sim.evaluate.command import EvalOptions, EvaluationSetting, evaluate
from kc_vla_sim.evaluate.comparison_results import RegimeRow, write_comparison
from kc_vla_sim.evaluate.player import EpisodeOutcome
from kc_vla_sim.evaluate.regimes import KEYFRAMES, TABLES, Regime
from kc_vla_sim.evaluate.results import read_outcomes
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.result_folder import SETTINGS

_PRECISION = "fp32"
"""Number format of the released backbone: the exact one, so that the policies differ by the memory alone."""


@dataclass(frozen=True)
class ComparisonOptions:
    """What is asked for.

    Attributes:
        table: one of `TABLES`.
        rows: names of regimes that are trained and played, where they are in it; empty: all that it has.
        data: folders of episodes with plans; the same for all rows.
        config: of all trainings, but for what a row has of its own.
        init: run that all of them go on from, such as one without a history; None: from chance.
        device: `--device` and `--precision` of `kc-vla train policy`.
        setting: how episodes are played; a row has its own model and keyframes.
        tasks: names in the task table.
        episodes, others: of each task, for our own memory, and for each row that it is compared with.
        split: that they take their seeds from.
        skip: seeds at its start that are left out.
        processes: that play at the same time.
        output: folder of trainings, models and results.
    """

    table: str
    rows: Sequence[str]
    data: Sequence[Path]
    config: PolicyConfig
    init: PolicyRun | None
    device: tuple[str, str]
    setting: EvaluationSetting
    tasks: tuple[str, ...]
    episodes: int
    others: int
    split: str
    skip: int
    processes: int
    output: Path


def compare(options: ComparisonOptions) -> Iterator[str]:
    """Do what is missing; yield a line for each part that is done, and the table.

    Raises:
        LearningError: data or settings do not fit; the message says what.
        StackError: an episode cannot be played, or the folder is of another comparison.
        OSError: something cannot be written.
    """
    begun_with = {
        "config": as_dict(options.config),
        "data": [str(each) for each in options.data],
        "init": None if options.init is None else str(options.init.folder),
    }
    regimes = [each for each in TABLES[options.table] if not options.rows or each.name in options.rows]
    models, results = options.output / "models", options.output / options.setting.variant
    if any(regime.settings.get("keyframes") == EVENTS for regime in regimes):
        find_material(options.data, events=EventKeyframes())  # what is missing is told hours before it is their turn
    _require_playable(options, regimes)
    with begun(options.output, "comparison.json", begun_with, "kc-vla eval table1|table3"):
        for regime in TABLES[options.table]:
            _require_alike(options, results / regime.name)
        for regime in regimes:
            run = _trained(options, regime, models)
            yield f"{regime.name}: {run.config.steps} steps in {run.folder}"
            _play(options, regime, models, results / regime.name)
        there = [(regime, _played(options, regime, results / regime.name)) for regime in TABLES[options.table]]
        rows = [RegimeRow(regime, options.config.steps, outcomes) for regime, outcomes in there if outcomes]
        if not rows:
            yield f"{options.table}: none of its rows has been played"
            return
        facts = begun_with | {"split": options.split, "skip": options.skip, "variant": options.setting.variant}
        yield write_comparison(results, options.table, rows, facts)
        yield f"{results}: {options.table}.md, {options.table}.json and {options.table}.png"


def _require_playable(options: ComparisonOptions, regimes: Sequence[Regime]) -> None:
    """Check, hours before it is their turn, that the episodes can be played.

    It raises what `evaluate` does.
    """
    setting = options.setting
    check_variant(setting.variant)
    choose_renderer(setting.renderer)
    seeds_of(options.split, options.skip + max(options.episodes, options.others))
    chosen = {regime.keyframes for regime in regimes}
    for source in chosen & {"learned", "events"}:
        network = {"model": setting.selector, "models_folder": setting.selector_models, "device": "cpu"}
        open_selector(source, network)


def _require_alike(options: ComparisonOptions, folder: Path) -> None:
    """Check that a row that was played before was played as it is asked for now, so that rows differ in memory alone.

    Raises:
        BegunError: it was played otherwise.
    """
    try:
        played = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return  # nothing was played; what is damaged is told, or begun anew, when it is the row's turn
    asked = {**asdict(options.setting), "split": options.split, "skip": options.skip}
    known = {"skip": 0, **played}
    for name in ("selector_models", "selector", "variant", "looks", "image_size", "execution", "split", "skip"):
        for told, was, wanted in differences(known.get(name), asked[name], name):
            raise BegunError(
                f"{folder} was played with {told} '{was}', not '{wanted}': a table has rows that were played alike; "
                "go on as they were begun, or choose another --output"
            )


def _play(options: ComparisonOptions, regime: Regime, models: Path, folder: Path) -> None:
    """Play those of a row's episodes that are asked for and not there."""
    setting = replace(options.setting, models=str(models), model=regime.training, keyframes=regime.keyframes)
    wanted = EvalOptions(
        setting, options.tasks, _count(options, regime), options.split, options.processes, folder, options.skip
    )
    for _ in evaluate(wanted):
        pass


def _played(options: ComparisonOptions, regime: Regime, folder: Path) -> list[EpisodeOutcome]:
    """Return the episodes of a row that are asked for and there.

    A row that is not asked for now may have been played before.
    """
    seeds = seeds_of(options.split, options.skip + _count(options, regime))[options.skip :]
    return [each for each in read_outcomes(folder) if each.task in options.tasks and each.seed in seeds]


def _count(options: ComparisonOptions, regime: Regime) -> int:
    return options.episodes if regime.ours else options.others


def _trained(options: ComparisonOptions, regime: Regime, models: Path) -> PolicyRun:
    """Return the training of a row, come to its end, as a model; all rows have the same eyes."""
    if options.init is not None:
        return _come_to_its_end(options, regime.training, regime.settings, None, models)
    base = _come_to_its_end(options, KEYFRAMES, {}, None, models)
    if regime.training == KEYFRAMES:
        return base
    return _come_to_its_end(options, regime.training, regime.settings, base, models)


def _come_to_its_end(
    options: ComparisonOptions, name: str, settings: Mapping[str, Any], eyes: PolicyRun | None, models: Path
) -> PolicyRun:
    run = PolicyRun(options.output / name)
    config = policy_config_from({**as_dict(options.config), **settings})
    log = run.read_log()
    whole = bool(log) and int(log[-1]["epoch"]) + 1 == config.steps
    if not (whole and (models / REGISTRY).exists() and name in read_registry(models)):
        device = device_of_run(run, *options.device)
        train_policy(run.folder, options.data, config, device, init=options.init, eyes=eyes)
        release_policy(run, models, name, _PRECISION, replace_it=True)
    return run
