"""Goals of VirtualHome with memories and without: how often they are reached, and what looking for things costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kc_vla.core.begun import begun
from kc_vla.core.files import write_whole
from kc_vla.core.lines import append_line, read_lines
from kc_vla_sim.household.virtualhome.chains import GoalChain, chains, singles
from kc_vla_sim.household.virtualhome.figures import by_family, failures, row_of, table
from kc_vla_sim.household.virtualhome.goals import of_split
from kc_vla_sim.household.virtualhome.trial import CHAIN, SINGLE, GoalRecord, TrialSetting, play
from kc_vla_sim.workers import run_jobs

PLAYED, TABLE, RESULTS, SETTINGS = "played.jsonl", "table.md", "results.json", "evaluation.json"


@dataclass(frozen=True)
class VirtualHomeEvalOptions:
    """What is asked for.

    Attributes:
        settings: ways of playing.
        kinds: `SINGLE`, `CHAIN` or both.
        split: "development" or "test", of families.
        chains: how many.
        goals: single goals, at most: of each family the first, then the second, ...
        processes: that play at the same time.
        output: folder for the results.
    """

    settings: tuple[TrialSetting, ...]
    kinds: tuple[str, ...]
    split: str
    chains: int
    goals: int
    processes: int
    output: Path


@dataclass(frozen=True)
class _Job:
    chain: GoalChain
    setting: TrialSetting


def evaluate(options: VirtualHomeEvalOptions) -> Iterator[str]:
    """Play what is missing of the evaluation in `output`; yield the tables, and a line that says where all of it is.

    Raises:
        HouseholdError: the package `eai-eval` is not installed.
        BegunError: the folder is of another evaluation.
        OSError: the results cannot be written.
    """
    drawn: Mapping[str, Callable[[], list[GoalChain]]] = {  # a chain is drawn from all homes, which takes seconds
        SINGLE: lambda: _spread(singles(options.split), options.goals),
        CHAIN: lambda: chains(options.split, options.chains),
    }
    chosen = {kind: drawn[kind]() for kind in options.kinds}
    with begun(options.output, SETTINGS, {"split": options.split}, "kc-vla eval virtualhome"):
        there = {(name, setting) for name, setting, _ in _played(options.output)}
        jobs = [
            _Job(chain, setting)
            for kind in options.kinds
            for setting in options.settings
            for chain in chosen[kind]
            if (chain.name, setting) not in there
        ]
        processes = max(1, min(options.processes, len(jobs)))
        for job, records in run_jobs(_play, jobs, processes, f"eval {options.split}", "chain"):
            line = {"chain": job.chain.name, "setting": asdict(job.setting), "goals": list(map(asdict, records))}
            append_line(options.output / PLAYED, line)
        yield _written(options, chosen)
        yield f"{options.output}: table and figures"


def _written(options: VirtualHomeEvalOptions, chosen: Mapping[str, Sequence[GoalChain]]) -> str:
    rows, texts = [], []
    played = list(_played(options.output))
    for kind in options.kinds:
        names = {each.name for each in chosen[kind]}
        for setting in options.settings:
            records = [each for name, how, goals in played if (name in names) and how == setting for each in goals]
            rows.append(row_of(setting, kind, records))
            title = f"{kind}, {setting.memory}, shown {setting.shown}"
            texts += [f"\n{title}:\n", failures(rows[-1]), by_family(records)]
    left_out = of_split(options.split, lambda goal: not goal.conditions)
    text = "\n".join(
        (table(rows), f"Left out, because they have actions alone: {len(left_out)} of the split's goals.", *texts)
    )
    write_whole(options.output / TABLE, text)
    write_whole(options.output / RESULTS, json.dumps([asdict(each) for each in rows], indent=2) + "\n")
    return text


def _spread(found: Sequence[GoalChain], most: int) -> list[GoalChain]:
    """Return so many single goals at most, as evenly from the families as can be, in the order of the package."""
    rank: dict[str, int] = {}
    order: list[tuple[int, int]] = []
    for each in found:
        family = each.goals[0].family
        rank[family] = rank.get(family, 0) + 1
        order.append((rank[family], len(order)))
    taken = {at for _, at in sorted(order)[:most]}
    return [each for at, each in enumerate(found) if at in taken]


def _play(job: _Job) -> list[GoalRecord]:
    return play(job.chain, job.setting)


def _played(folder: Path) -> Iterator[tuple[str, TrialSetting, list[GoalRecord]]]:
    """Yield for each chain that was played its name, its setting, and the records of its goals."""
    return read_lines(
        folder / PLAYED, lambda row: (row["chain"], TrialSetting(**row["setting"]), _records(row["goals"]))
    )


def _records(goals: Iterable[Mapping[str, Any]]) -> list[GoalRecord]:
    lists = ("lacks", "actions", "missing")
    return [GoalRecord(**{**told, **{name: tuple(told[name]) for name in lists}}) for told in goals]
