"""What came of goals of VirtualHome, as figures and as Markdown; each share with its 95 % interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla_sim.household.evaluation_figures import Figure, reduced, share
from kc_vla_sim.household.trial import TaskRecord
from kc_vla_sim.household.virtualhome.trial import GoalRecord, TrialSetting


@dataclass(frozen=True)
class GoalRow:
    """What came of the goals that were played in one way.

    Attributes:
        setting: how; kind: "single" or "chain".
        goals: how many.
        reached: share of them whose conditions hold at the end.
        within: the same of those for whose conditions the skill table has all that is needed.
        whole: the same of those whose program has no action beside, either.
        alone: share of all that the robot without a memory reached, in the same homes.
        explored, alone_explored: places, summed over all goals.
        exploration: RE, of the goals that both robots reached.
        exploration_all: RE, of all goals.
        failures: kinds of failures, each with families and programs.
    """

    setting: TrialSetting
    kind: str
    goals: int
    reached: Figure
    within: Figure
    whole: Figure
    alone: Figure
    explored: int
    alone_explored: int
    exploration: Figure
    exploration_all: Figure
    failures: dict[str, list[str]]


def row_of(setting: TrialSetting, kind: str, records: Sequence[GoalRecord]) -> GoalRow:
    """Return what came of some goals of a kind."""

    def costs(each: TaskRecord) -> tuple[float, float]:
        return each.explorations, each.alone_explorations

    failures: dict[str, list[str]] = {}
    for each in records:
        if each.why:
            failures.setdefault(each.why, []).append(f"{each.family} {each.program}")
    within = [each for each in records if not each.lacks]
    whole = [each for each in within if not each.actions]
    return GoalRow(
        setting,
        kind,
        len(records),
        _share(records),
        _share(within),
        _share(whole),
        share(sum(each.alone_reached for each in records), len(records)),
        sum(each.explorations for each in records),
        sum(each.alone_explorations for each in records),
        reduced(records, costs),
        reduced(records, costs, failed=True),
        failures,
    )


def table(rows: Sequence[GoalRow]) -> str:
    """Return the table as Markdown, in percent with 95 % intervals."""
    lines = [
        "| goals | memory | shown before | goals | reached | reached, of those with every skill | "
        "reached, of those with every skill and no further actions | "
        "reached without memory | places explored | without memory | reduced exploration | failed, too |",
        "| --- |" + " --- |" * 11,
    ]
    for row in rows:
        cells = (
            *(row.kind, row.setting.memory, row.setting.shown, row.goals),
            *(_of(row.reached), _of(row.within), _of(row.whole), row.alone),
            *(row.explored, row.alone_explored, row.exploration, row.exploration_all),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def failures(row: GoalRow) -> str:
    """Return why goals were not reached, as Markdown: how many of each kind, and of which family."""
    lines = ["| not reached | goals | families |", "| --- | --- | --- |"]
    for kind, found in sorted(row.failures.items(), key=lambda each: -len(each[1])):
        families = Counter(each.rpartition(" ")[0] for each in found)
        lines.append(f"| {kind} | {len(found)} | {', '.join(f'{name} {n}' for name, n in families.items())} |")
    return "\n".join(lines) + "\n"


def by_family(records: Sequence[GoalRecord]) -> str:
    """Return how many of each family were reached, as Markdown, with what its programs do beside."""
    lines = ["| family | goals | reached | further actions |", "| --- | --- | --- | --- |"]
    for family in dict.fromkeys(each.family for each in records):
        some = [each for each in records if each.family == family]
        beside = sorted({action for each in some for action in each.actions})
        lines.append(f"| {family} | {len(some)} | {sum(each.reached for each in some)} | {', '.join(beside)} |")
    return "\n".join(lines) + "\n"


def _share(records: Sequence[GoalRecord]) -> Figure:
    return share(sum(each.reached for each in records), len(records))


def _of(figure: Figure) -> str:
    return f"{figure} [{figure.of}]"
