"""Plays many kitchens with one detector, keeps what came of each, and makes the table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core.files import write_whole
from kc_vla.core.shares import Share
from kc_vla.core.splits import seeds_of
from kc_vla.core.untrusted import parsed_json
from kc_vla_sim.errors import SimulationError
from kc_vla_sim.kitchen.perceiving.trial import (
    FURNITURE,
    LONG,
    SHORT,
    THINGS,
    PerceptionSetting,
    PerceptionTrial,
    TrialOutcome,
)
from kc_vla_sim.workers import run_jobs

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
        SimulationError: the folder has the results of another setting, or a kitchen cannot be played.
        DetectorError: the detector cannot be had.
        OSError: the results cannot be written.
    """
    seeds = seeds_of(split, kitchens)
    output.mkdir(parents=True, exist_ok=True)
    _check_setting(output / "setting.json", setting)
    results = output / "results.jsonl"
    done = {each.seed: each for each in read_outcomes(results)}
    jobs = [TrialJob(setting, seed) for seed in seeds if seed not in done]
    with results.open("a", encoding="utf-8") as file:
        for job, outcome in run_jobs(_play, jobs, max(1, min(processes, len(jobs))), "kitchens", "kitchen"):
            done[job.seed] = outcome
            file.write(json.dumps(asdict(outcome)) + "\n")
            file.flush()
    outcomes = [done[seed] for seed in seeds]
    write_whole(output / "table.md", table(outcomes))
    return outcomes


def read_outcomes(file: Path) -> Iterator[TrialOutcome]:
    """Yield the outcomes of a file; a line that was cut by a kill is left out, and its kitchen is played again."""
    if not file.exists():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            yield TrialOutcome(**json.loads(line))
        except (ValueError, TypeError):
            continue


def _check_setting(file: Path, setting: PerceptionSetting) -> None:
    mine = json.loads(json.dumps(asdict(setting)))
    if not file.exists():
        write_whole(file, json.dumps(mine, indent=1) + "\n")
    elif parsed_json(file.read_text(encoding="utf-8")) != mine:
        raise SimulationError(f"{file.parent} has the results of another setting: name another folder, or remove it")


def _play(job: TrialJob) -> TrialOutcome:
    return _trial(_Frozen(job.setting)).play(job.seed)


class _Frozen:
    """A setting that can be a key, though its options cannot."""

    def __init__(self, setting: PerceptionSetting) -> None:
        self.setting = setting
        self._key = json.dumps(asdict(setting), sort_keys=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=1)
def _trial(frozen: _Frozen) -> PerceptionTrial:
    return PerceptionTrial(frozen.setting)


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


def _row(figure: str, right: int, of: int) -> tuple[str, str, str]:
    return figure, str(Share(right, of)) if of else "-", f"{right} of {of}"


def _total(verdicts: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(len(each[name]) for each in verdicts)


def _counted(outcomes: Sequence[TrialOutcome], of: Callable[[TrialOutcome], Sequence[bool]]) -> tuple[int, int]:
    values = [value for each in outcomes for value in of(each)]
    return sum(values), len(values)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
