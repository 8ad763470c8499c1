"""What came of a comparison of memories: a table, JSON, and a plot."""

from __future__ import annotations

import json
import statistics
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from kc_vla.core.files import replacing, write_whole
from kc_vla_sim.evaluate.player import EpisodeOutcome
from kc_vla_sim.evaluate.regimes import Regime
from kc_vla_sim.evaluate.results import summary

_LABEL = 40
"""Characters in a line beside the plot."""


@dataclass(frozen=True)
class RegimeRow:
    """A regime, the steps of its training, and its episodes."""

    regime: Regime
    steps: int
    outcomes: Sequence[EpisodeOutcome]


def write_comparison(folder: Path, name: str, rows: Sequence[RegimeRow], facts: Mapping[str, Any]) -> str:
    """Write `name`.md, .json and .png into the folder; return the table."""
    found = {row.regime.name: summary(row.outcomes) for row in rows}
    text = comparison_table(rows, found)
    told = [
        {
            "name": row.regime.name,
            "memory": row.regime.memory,
            "training": row.regime.training,
            "settings": dict(row.regime.settings),
            "keyframes": row.regime.keyframes,
            "steps": row.steps,
            "seeds": sorted({outcome.seed for outcome in row.outcomes}),
            "paper": dict(row.regime.paper),
            **found[row.regime.name],
        }
        for row in rows
    ]
    write_whole(folder / f"{name}.json", json.dumps({"settings": dict(facts), "rows": told}, indent=2) + "\n")
    write_whole(folder / f"{name}.md", text)
    _draw(rows, found, folder / f"{name}.png")
    return text


def comparison_table(rows: Sequence[RegimeRow], found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the success in percent with its 95 % interval (Wilson), as Markdown.

    It has a line for each row, in brackets the paper's.
    """
    tasks = sorted({task for row in rows for task in found[row.regime.name]["tasks"]})
    heads = ["what is given of the past", "episodes of a task", *(f"`{task}`" for task in tasks), "average"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for row in rows:
        of_row, paper = found[row.regime.name], row.regime.paper
        cells = [row.regime.memory, f"{len(row.outcomes) // max(len(of_row['tasks']), 1)}"]
        of_task = of_row["tasks"]
        cells += [_told(of_task[task], paper.get(task)) if task in of_task else "" for task in tasks]
        mean = statistics.fmean(paper[task] for task in tasks) if all(task in paper for task in tasks) else None
        cells.append(_told(of_row["average"], mean))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _told(share: Mapping[str, Any], paper: float | None) -> str:
    low, high = (100 * end for end in share["interval"])
    beside = "" if paper is None else f" [{paper:g}]"
    return f"{100 * share['success']:.0f} ({low:.0f} to {high:.0f}){beside}"


def _draw(rows: Sequence[RegimeRow], found: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Draw the success against the memory, for each task, with its interval; a cross is the paper's."""
    tasks = sorted({task for row in rows for task in found[row.regime.name]["tasks"]})
    figure = Figure(figsize=(3.6 + 2.6 * len(tasks), 0.9 + 0.5 * len(rows)), layout="constrained")
    axes = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    for axis, task in zip(axes, tasks, strict=True):
        for at, row in enumerate(rows):
            share = found[row.regime.name]["tasks"].get(task)
            if share is None:
                continue
            low, high = share["interval"]
            right = share["success"]
            axis.barh(at, 100 * right, color="tab:blue" if row.regime.ours else "tab:gray", alpha=0.8)
            off = [[100 * max(right - low, 0)], [100 * max(high - right, 0)]]
            axis.errorbar(100 * right, at, xerr=off, color="black", capsize=3, linewidth=1)
            if task in row.regime.paper:
                axis.plot(row.regime.paper[task], at, "x", color="tab:red", markersize=7)
        axis.set(title=task, xlim=(0, 102), xlabel="success, %")
        axis.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(range(len(rows)), [textwrap.fill(row.regime.memory, _LABEL) for row in rows])
    axes[0].invert_yaxis()
    figure.suptitle("blue: this stack's memory; bars with 95 % intervals; red cross: the paper's figure", fontsize=9)
    with replacing(path) as part:
        figure.savefig(part, dpi=120, format="png")
