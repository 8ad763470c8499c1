"""The results of an evaluation's episodes: kept as they come in, reported as a table and as JSON."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kc_vla.core.shares import Share
from kc_vla.keyframes.metrics import paired
from kc_vla_sim.evaluate.player import EpisodeOutcome
from kc_vla_sim.result_folder import ResultFolder

EPISODES = "episodes.jsonl"


def read_outcomes(folder: Path) -> list[EpisodeOutcome]:
    """Return the episodes that were played into a folder; a line that a crash cut off is left out, and played again."""
    return list(outcomes_in(folder).read())


def outcomes_in(folder: Path) -> ResultFolder[EpisodeOutcome]:
    """Return a folder of episodes; `outcome_row` makes its lines."""
    return ResultFolder(
        folder,
        EPISODES,
        lambda row: EpisodeOutcome(**{**row, "kept": tuple(row["kept"]), "true": tuple(row["true"])}),
    )


def outcome_row(job: object, outcome: EpisodeOutcome) -> dict[str, Any]:
    """Return what is kept of an episode, whichever job it was."""
    return asdict(outcome)


def summary(outcomes: Sequence[EpisodeOutcome]) -> dict[str, Any]:
    """Return the success of each task and, as the mean of the tasks, of all.

    It has intervals, reasons of failure, and times.
    """
    tasks = sorted({outcome.task for outcome in outcomes})
    of_task = {task: _of(outcome for outcome in outcomes if outcome.task == task) for task in tasks}
    shares = [each["success"] for each in of_task.values()]
    together = _of(outcomes)
    return {
        "tasks": of_task,
        # Wilson over all episodes: the tasks have as many each
        "average": {"success": statistics.fmean(shares), "interval": together["interval"], "episodes": len(outcomes)},
        "think_ms": 1e3 * statistics.median(outcome.think_s for outcome in outcomes),
    }


def _of(outcomes: Iterator[EpisodeOutcome] | Sequence[EpisodeOutcome]) -> dict[str, Any]:
    played = list(outcomes)
    right = sum(outcome.success for outcome in played)
    found = sum(_hits(outcome) for outcome in played)
    true = sum(len(outcome.true[1:]) for outcome in played)
    return {
        "episodes": len(played),
        "successes": right,
        "success": right / len(played),
        "interval": Share(right, len(played)).interval,
        "failures": dict(Counter(outcome.reason for outcome in played if not outcome.success).most_common()),
        "keyframes_found": found / true if true else None,
        "steps": statistics.median(outcome.steps for outcome in played),
        "fastest": max(outcome.fastest for outcome in played),
        "jump": statistics.median(outcome.jump for outcome in played),
        "faults": dict(sum((Counter(outcome.faults) for outcome in played), Counter())),
    }


def _hits(outcome: EpisodeOutcome) -> int:
    """Return how many of the true keyframes are kept; frame 0, which always is, does not count."""
    return len(paired(sorted(frame for frame in outcome.kept if frame), outcome.true[1:]))


def table(found: Mapping[str, Any]) -> str:
    """Return the summary as Markdown.

    Steps and jumps are medians over the episodes, the fastest step is that of all.
    """
    lines = [
        "| task | success | 95 % (Wilson) | episodes | keyframes found | steps | fastest, m/s | jump, m/s | failures |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for task, of_task in found["tasks"].items():
        failures = "; ".join(f"{count} x {reason}" for reason, count in of_task["failures"].items())
        kept = "" if of_task["keyframes_found"] is None else f"{of_task['keyframes_found']:.1%}"
        cells = [task, _share(of_task), _told(of_task["interval"]), of_task["episodes"], kept, f"{of_task['steps']:g}"]
        cells += [f"{of_task['fastest']:.2f}", f"{of_task['jump']:.2f}"]
        lines.append(f"| {' | '.join(map(str, cells))} | {failures} |")
    average = found["average"]
    cells = ["**average**", f"**{_share(average)}**", _told(average["interval"]), average["episodes"], *[""] * 5]
    lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _share(found: Mapping[str, Any]) -> str:
    return f"{100 * found['success']:.1f} %"


def _told(ends: Sequence[float]) -> str:
    return f"{100 * ends[0]:.0f} to {100 * ends[1]:.0f}"


def _played_with(settings: Mapping[str, Any]) -> str:
    """Return how all of it was played, in a line."""
    told = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            told.append(_played_with(value))
        elif value != "":
            told.append(f"{name} {value}")
    return ", ".join(told)


def write_summary(folder: Path, settings: Mapping[str, Any], outcomes: Sequence[EpisodeOutcome]) -> str:
    """Write table and JSON into the folder; return the table."""
    found = summary(outcomes)
    text = f"{table(found)}\n{_played_with(settings)}\n"
    outcomes_in(folder).write(text, {"settings": dict(settings), **found})
    return text
