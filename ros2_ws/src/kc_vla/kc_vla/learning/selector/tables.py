"""The figures of an evaluation as tables, Markdown for people and JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from kc_vla.learning.selector.evaluation import TaskResult

Figures = dict[str, float]
AVERAGE = "average"
_COLUMNS = (
    ("F1", "free_f1"),
    ("precision", "free_precision"),
    ("recall", "free_recall"),
    ("FPR", "free_fpr"),
    ("FNR", "free_fnr"),
    ("F1, phase told", "forced_f1"),
    ("episodes all right", "episodes_right"),
)


def with_average(results: Mapping[str, TaskResult]) -> dict[str, Figures]:
    """Return the figures of each task, and their mean over the tasks."""
    rows = {task: results[task].as_dict() for task in sorted(results)}
    names = next(iter(rows.values())).keys() if rows else ()
    rows[AVERAGE] = {name: float(np.mean([row[name] for row in rows.values()])) for name in names}
    rows[AVERAGE]["episodes"] = sum(result.episodes for result in results.values())
    return rows


def markdown(tables: Mapping[str, Mapping[str, Mapping[str, Figures]]], notes: Sequence[str] = ()) -> str:
    """Return the tables of `tables`, figures by model, condition and task, as Markdown.

    First come all tasks as recorded, then each condition.
    """
    lines = ["Free-running unless it says otherwise: the selector's own phase pointer, no truth. In percent.", ""]
    lines += [line for note in notes for line in (note, "")]
    for model, conditions in tables.items():
        recorded, *others = conditions.items()
        lines += [f"## {model}", "", *_table(["task", *(name for name, _ in _COLUMNS), "delay, frames", "episodes"])]
        for task, row in recorded[1].items():
            cells = [percent(row[key]) for _, key in _COLUMNS]
            lines.append(_row([task, *cells, _number(row["delay"]), f"{row['episodes']:.0f}"]))
        lines.append("")
        if others:
            tasks = list(recorded[1])
            lines += _table([f"{model}: F1", *tasks])
            for name, rows in (recorded, *others):
                lines.append(_row([name, *(percent(rows[task]["free_f1"]) for task in tasks)]))
            lines.append("")
    return "\n".join(lines)


def write_tables(
    tables: Mapping[str, Mapping[str, Mapping[str, Figures]]], folder: Path, notes: Sequence[str] = ()
) -> None:
    """Write `metrics.md` and `metrics.json`, the same figures, into `folder`."""
    (folder / "metrics.md").write_text(markdown(tables, notes))
    clean = {
        model: {
            condition: {
                task: {name: None if math.isnan(value) else round(value, 6) for name, value in row.items()}
                for task, row in rows.items()
            }
            for condition, rows in conditions.items()
        }
        for model, conditions in tables.items()
    }
    (folder / "metrics.json").write_text(json.dumps(clean, indent=2) + "\n")


def _table(names: Sequence[str]) -> list[str]:
    return [_row(names), _row(["---"] * len(names))]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def percent(share: float) -> str:
    """Return a share in percent; a dash where there is none."""
    return "-" if math.isnan(share) else f"{100 * share:.1f}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.1f}"
