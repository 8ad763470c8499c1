"""Goals of VirtualHome with memories and without: how often they are reached, and what looking for things costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kc_vla_sim.household.virtualhome.chains import GoalChain, chains, singles
from kc_vla_sim.household.virtualhome.figures import by_family, failures, row_of, table
from kc_vla_sim.household.virtualhome.goals import of_split
from kc_vla_sim.household.virtualhome.trial import CHAIN, SINGLE, GoalRecord, TrialSetting, play
from kc_vla_sim.result_folder import ResultFolder

PLAYED = "played.jsonl"
_Played = tuple[str, TrialSetting, list[GoalRecord]]
"""Name of a chain, its setting, and the records of its goals."""


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
    results = ResultFolder(options.output, PLAYED, _played_from)
    with results.begun({"split": options.split}, "kc-vla eval virtualhome"):
        there = {(name, setting) for name, setting, _ in results.read()}
        jobs = [
            _Job(chain, setting)
            for kind in options.kinds
            for setting in options.settings
            for chain in chosen[kind]
            if (chain.name, setting) not in there
        ]
        results.play(_play, jobs, _row_of_job, options.processes, f"eval {options.split}", "chain")
        yield _written(results, options, chosen)
        yield f"{options.output}: table and figures"


def _written(
    results: ResultFolder[_Played], options: VirtualHomeEvalOptions, chosen: Mapping[str, Sequence[GoalChain]]
) -> str:
    rows, texts = [], []
    played = list(results.read())
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
    results.write(text, [asdict(each) for each in rows])
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


def _row_of_job(job: _Job, records: Sequence[GoalRecord]) -> dict[str, Any]:
    return {"chain": job.chain.name, "setting": asdict(job.setting), "goals": list(map(asdict, records))}


def _played_from(row: Mapping[str, Any]) -> _Played:
    return row["chain"], TrialSetting(**row["setting"]), _records(row["goals"])


def _records(goals: Iterable[Mapping[str, Any]]) -> list[GoalRecord]:
    lists = ("lacks", "actions", "missing")
    return [GoalRecord(**{**told, **{name: tuple(told[name]) for name in lists}}) for told in goals]
