"""Plays many kitchens with one detector, keeps what came of each, and makes the table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core.shares import Share
from kc_vla.core.splits import seeds_of
from kc_vla_sim.kitchen.perceiving.trial import (
    FURNITURE,
    LONG,
    SHORT,
    THINGS,
    PerceptionSetting,
    PerceptionTrial,
    TrialOutcome,
)
from kc_vla_sim.result_folder import ResultFolder

_HEADS = ("memory", "figure", "share, % (95 % interval)", "of")
_WRONG = {
    "elsewhere": "further than 30 mm from its place",
    "other_type": "of another type",
    "other_state": "in another state",
    "missing": "not there",
}


@dataclass(frozen=True)
class TrialJob:
    """One kitchen to play."""

    setting: PerceptionSetting
    seed: int


def evaluate_perception(
    setting: PerceptionSetting, split: str, kitchens: int, processes: int, output: Path
) -> list[TrialOutcome]:
    """Play the kitchens that are not there yet, and write results.jsonl and table.md; an interrupted run goes on.

    Args:
        setting: of all kitchens.
        split: that they take their seeds from.
        kitchens: how many.
        processes: that play at the same time.
        output: folder of the results, which is of one setting.

    Raises:
        SplitError: there is no such split, or it has fewer seeds.
        BegunError: the folder has the results of another setting, or something else.
        SimulationError: a kitchen cannot be played.
        DetectorError: the detector cannot be had.
        OSError: the results cannot be written.
    """
    seeds = seeds_of(split, kitchens)
    results = outcomes_in(output)
    with results.begun(json.loads(_text_of(setting)), "kc-vla eval perception", "setting.json"):
        done = {each.seed for each in results.read()}
        jobs = [TrialJob(setting, seed) for seed in seeds if seed not in done]
        results.play(_play, jobs, lambda job, outcome: asdict(outcome), processes, "kitchens", "kitchen")
        found = {each.seed: each for each in results.read()}
        outcomes = [found[seed] for seed in seeds]
        results.write(table(outcomes))
    return outcomes


def outcomes_in(folder: Path) -> ResultFolder[TrialOutcome]:
    """Return a folder of outcomes of kitchens."""
    return ResultFolder(folder, "results.jsonl", lambda row: TrialOutcome(**row))


def _play(job: TrialJob) -> TrialOutcome:
    return _trial(_text_of(job.setting)).play(job.seed)


def _text_of(setting: PerceptionSetting) -> str:
    """Return a setting as JSON, which can be a key though its options cannot."""
    return json.dumps(asdict(setting), sort_keys=True)


@lru_cache(maxsize=1)
def _trial(setting: str) -> PerceptionTrial:
    return PerceptionTrial(PerceptionSetting(**json.loads(setting)))


def table(outcomes: Sequence[TrialOutcome]) -> str:
    """Return the figures as a Markdown table; intervals are Wilson's, of 95 %."""
    lines = [_line(_HEADS), _line(["---"] * len(_HEADS))]
    for memory in (LONG, SHORT):
        lines += [_line((memory, *row)) for row in _rows(memory, outcomes)]
    errors = np.concatenate([np.asarray(each.verdicts[f"{LONG} {THINGS}"]["errors_m"], float) for each in outcomes])
    if len(errors):
        median, most = 1000.0 * np.percentile(errors, [50, 90])
        lines += ["", f"Places of things in the scene graph: {median:.1f} mm median error, {most:.1f} mm at 90 %."]
    complete = Share(sum(each.complete for each in outcomes), len(outcomes))
    speed = float(np.median([each.perceive_ms for each in outcomes]))
    lines += ["", f"Complete tours: {complete.right} of {complete.of}. Perception of an image: {speed:.0f} ms, median."]
    return "\n".join(lines) + "\n"


def _rows(memory: str, outcomes: Sequence[TrialOutcome]) -> Iterator[tuple[str, str, str]]:
    for what in (THINGS, FURNITURE):
        verdicts = [each.verdicts[f"{memory} {what}"] for each in outcomes]
        asked = _total(verdicts, "asked")
        yield _row(f"{what} at their place, with type and state", _total(verdicts, "right"), asked)
        for name, words in _WRONG.items():
            yield _row(f"{what} {words}", _total(verdicts, name), asked)
        yield _row(
            f"{what} that are none (ghosts)", _total(verdicts, "ghosts"), sum(each["claims"] for each in verdicts)
        )
    yield _row("put away in view, and remembered there", *_counted(outcomes, lambda each: each.drawers[memory]))
    yield _row("old place seen empty, and not claimed", *_counted(outcomes, lambda each: each.refuted[memory]))
    yield _row("moved, and known by the same id there", *_counted(outcomes, lambda each: each.kept.get(memory, ())))


def _row(figure: str, right: int, of: int) -> tuple[str, str, str]:
    return figure, str(Share(right, of)) if of else "-", f"{right} of {of}"


def _total(verdicts: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(len(each[name]) for each in verdicts)


def _counted(outcomes: Sequence[TrialOutcome], of: Callable[[TrialOutcome], Sequence[bool]]) -> tuple[int, int]:
    values = [value for each in outcomes for value in of(each)]
    return sum(values), len(values)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
