"""Goals of VirtualHome with memories and without: how often they are reached, and what looking for things costs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kc_vla.core.begun import begun
from kc_vla.core.files import write_whole
from kc_vla_sim.household.virtualhome.chains import Chain, chains, singles
from kc_vla_sim.household.virtualhome.figures import by_family, failures, row_of, table
from kc_vla_sim.household.virtualhome.goals import of_split
from kc_vla_sim.household.virtualhome.trial import CHAIN, SINGLE, GoalRecord, Setting, play
from kc_vla_sim.workers import run_jobs

PLAYED, TABLE, RESULTS, SETTINGS = "played.jsonl", "table.md", "results.json", "evaluation.json"
KINDS = (SINGLE, CHAIN)


@dataclass(frozen=True)
class EvalOptions:
    """What is asked for.

    Attributes:
        settings: ways of playing.
        kinds: of `KINDS`.
        split: "development" or "test", of families.
        chains: how many.
        goals: single goals, at most: of each family the first, then the second, ...
        processes: that play at the same time.
        output: folder for the results.
    """

    settings: tuple[Setting, ...]
    kinds: tuple[str, ...]
    split: str
    chains: int
    goals: int
    processes: int
    output: Path


@dataclass(frozen=True)
class _Job:
    chain: Chain
    setting: Setting


def evaluate(options: EvalOptions) -> Iterator[str]:
    """Play what is missing of the evaluation in `output`; yield the tables, and a line that says where all of it is.

    Raises:
        HouseholdError: the package `eai-eval` is not installed.
        BegunError: the folder is of another evaluation.
        OSError: the results cannot be written.
    """
    chosen = {SINGLE: _spread(singles(options.split), options.goals), CHAIN: chains(options.split, options.chains)}
    with begun(options.output, SETTINGS, {"split": options.split}, "kc-vla eval virtualhome"):
        there = {(each["chain"], Setting(**each["setting"])) for each in _played(options.output)}
        jobs = [
            _Job(chain, setting)
            for kind in options.kinds
            for setting in options.settings
            for chain in chosen[kind]
            if (chain.name, setting) not in there
        ]
        processes = max(1, min(options.processes, len(jobs)))
        for job, records in run_jobs(_play, jobs, processes, f"eval {options.split}", "chain"):
            _keep(options.output, job, records)
        yield _written(options, chosen)
        yield f"{options.output}: table and figures"


def _written(options: EvalOptions, chosen: Mapping[str, Sequence[Chain]]) -> str:
    rows, texts = [], []
    for kind in options.kinds:
        names = {each.name for each in chosen[kind]}
        for setting in options.settings:
            records = [each for each in _records(options.output, setting) if each.sequence in names]
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


def _spread(found: Sequence[Chain], most: int) -> list[Chain]:
    """So many single goals at most, as evenly from the families as can be, in the order of the package."""
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


def _keep(folder: Path, job: _Job, records: Sequence[GoalRecord]) -> None:
    """Add what came of a chain, in a line of its own whatever stands before it."""
    path = folder / PLAYED
    torn = path.exists() and path.stat().st_size > 0 and path.read_bytes()[-1:] != b"\n"
    line = {"chain": job.chain.name, "setting": asdict(job.setting), "goals": [asdict(each) for each in records]}
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if torn else "") + json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _played(folder: Path) -> Iterator[Mapping[str, Any]]:
    path = folder / PLAYED
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found = json.loads(line)
            Setting(**found["setting"])
        except (ValueError, TypeError, KeyError):  # cut off by a crash: it is played again
            continue
        yield found


def _records(folder: Path, setting: Setting) -> Iterator[GoalRecord]:
    for each in _played(folder):
        if Setting(**each["setting"]) == setting:
            for told in each["goals"]:
                lists = {name: tuple(told[name]) for name in ("lacks", "actions", "missing")}
                yield GoalRecord(**{**told, **lists})
