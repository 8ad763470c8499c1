"""Sequences of household tasks with each memory: how often the goals are reached, and what looking for things costs.

Every figure is of tasks; its 95 % interval is Wilson's for shares, and for reduced exploration and time that of 2,000
draws of as many sequences with replacement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.evaluation_figures import SequenceRow, reduced, share
from kc_vla_sim.household.evaluation_plots import plot_capacities, plot_memories
from kc_vla_sim.household.evaluation_readings import readings
from kc_vla_sim.household.tasks import HOUSE, KINDS, TaskSequence, house_sequences, sequences
from kc_vla_sim.household.trial import TaskRecord, TrialArm, play
from kc_vla_sim.result_folder import ResultFolder

PLAYED = "played.jsonl"
_Played = tuple[str, TrialArm, list[TaskRecord]]
"""Name of a sequence, its arm of the comparison, and the records of its tasks."""


@dataclass(frozen=True)
class HouseholdEvalOptions:
    """What is asked for.

    Attributes:
        arms: ways of playing.
        kinds: of sequences.
        split: "development" or "test".
        count: sequences of each kind, at most.
        processes: that play at the same time.
        output: folder for the results.
    """

    arms: tuple[TrialArm, ...]
    kinds: tuple[str, ...]
    split: str
    count: int
    processes: int
    output: Path


@dataclass(frozen=True)
class _Job:
    sequence: TaskSequence
    arm: TrialArm


def evaluate(options: HouseholdEvalOptions) -> Iterator[str]:
    """Play what is missing of the evaluation in `output`; yield the table, and a line that says where all of it is.

    Raises:
        HouseholdError: there are no such sequences.
        BegunError: the folder is of another evaluation.
        OSError: the results cannot be written.
    """
    chosen = _chosen(options)
    if not chosen:
        raise HouseholdError(f"there is no sequence of that kind in the split {options.split}: choose another")
    results = ResultFolder(options.output, PLAYED, _played_from)
    with results.begun({"split": options.split}, "kc-vla eval household"):
        there = {(name, arm) for name, arm, _ in results.read()}
        jobs = [_Job(each, arm) for arm in options.arms for each in chosen if (each.name, arm) not in there]
        results.play(_play, jobs, _row_of_job, options.processes, f"eval {options.split}", "sequence")
        names = {each.name for each in chosen}
        played = list(results.read())
        records = {
            arm: [each for name, how, tasks in played if how == arm and name in names for each in tasks]
            for arm in options.arms
        }
        found = [row for arm in options.arms for row in rows_of(arm, records[arm])]
        text = table(found) + "\n" + readings((arm, records[arm]) for arm in options.arms)
        results.write(text, [asdict(each) for each in found])
        plot_memories(found, options.output)
        plot_capacities(found, options.output)
        yield text
        yield f"{options.output}: table, figures and plots"


def rows_of(arm: TrialArm, records: Iterable[TaskRecord]) -> list[SequenceRow]:
    """Return what came of each kind, and of all kinds together where there is more than one."""
    played = list(records)
    kinds = [kind for kind in (*KINDS, HOUSE) if any(each.kind == kind for each in played)]
    rows = [_row(arm, kind, [each for each in played if each.kind == kind]) for kind in kinds]
    return [*rows, _row(arm, "all", played)] if len(kinds) > 1 else rows


def table(rows: Sequence[SequenceRow]) -> str:
    """Return the table as Markdown, in percent with 95 % intervals."""
    lines = [
        "| memory | | sequences | tasks | success | without memory | retrieval | reduced exploration | "
        "of what was seen | reduced time |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        figures = (row.success, row.alone, row.retrieval, row.exploration, row.known, row.seconds)
        cells = [row.arm.memory, _how(row.arm), row.kind, row.tasks, *figures]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _how(arm: TrialArm) -> str:
    said = (
        "disturbed" * arm.disturbed,
        "" if arm.feedback else "without feedback",
        f"shown {arm.shown}",
        "" if arm.capacity == TrialArm(arm.memory).capacity else f"{arm.capacity} units",
    )
    return ", ".join(filter(None, said))


def _row(arm: TrialArm, kind: str, records: Sequence[TaskRecord]) -> SequenceRow:
    count = len(records)
    return SequenceRow(
        arm,
        kind,
        count,
        share(sum(each.reached for each in records), count),
        share(sum(each.alone_reached for each in records), count),
        share(sum(each.recalled for each in records), sum(each.recalls for each in records)),
        reduced(records, lambda each: (each.explorations, each.alone_explorations)),
        reduced(records, lambda each: (each.seconds, each.alone_seconds)),
        reduced([each for each in records if each.known], lambda each: (each.explorations, each.alone_explorations)),
    )


def _chosen(options: HouseholdEvalOptions) -> list[TaskSequence]:
    known = (*sequences().values(), *house_sequences().values())
    of_split = [each for each in known if each.split == options.split]
    return [
        each for kind in options.kinds for each in [each for each in of_split if each.kind == kind][: options.count]
    ]


def _play(job: _Job) -> list[TaskRecord]:
    return play(job.sequence, job.arm)


def _row_of_job(job: _Job, records: Sequence[TaskRecord]) -> dict[str, Any]:
    return {"sequence": job.sequence.name, "arm": asdict(job.arm), "tasks": list(map(asdict, records))}


def _played_from(row: Mapping[str, Any]) -> _Played:
    return row["sequence"], TrialArm(**row["arm"]), [TaskRecord(**task) for task in row["tasks"]]
