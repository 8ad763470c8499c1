"""Reduced exploration by each reading of what is to be counted.

KARMA (section 4.2) divides the exploration attempts that were saved by all exploration attempts, and does not say of
which tasks, nor what would have been explored without a memory. Here the whole is always what the robot without a
memory explored, from the same state of the home; the readings differ in the tasks over which both are summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kc_vla_sim.household.evaluation_figures import Figure, reduced
from kc_vla_sim.household.tasks import HOUSE, KINDS
from kc_vla_sim.household.trial import TaskRecord, TrialArm

READINGS = (
    "all tasks that both robots did",
    "all tasks, also those that one failed",
    "from the second task of a sequence on",
    "tasks about what had been seen",
)


def by_readings(records: Sequence[TaskRecord]) -> list[Figure]:
    """Return the reduced exploration of some tasks, by each of `READINGS`."""

    def costs(each: TaskRecord) -> tuple[float, float]:
        return each.explorations, each.alone_explorations

    later = [each for each in records if each.number]
    known = [each for each in records if each.known]
    return [reduced(records, costs), reduced(records, costs, True), reduced(later, costs), reduced(known, costs)]


def readings(played: Iterable[tuple[TrialArm, Sequence[TaskRecord]]]) -> str:
    """Return the readings as Markdown: a line for each memory and kind of sequence.

    In brackets, at the end, are the places that were explored without a memory, which are the whole.
    """
    lines = [
        f"| memory | sequences | {' | '.join(f'reduced exploration: {each}' for each in READINGS)} |",
        f"| --- | --- |{' --- |' * len(READINGS)}",
    ]
    for arm, records in played:
        for kind in (*KINDS, HOUSE):
            some = [each for each in records if each.kind == kind]
            if some:
                cells = [f"{each} [{each.of:.0f}]" for each in by_readings(some)]
                lines.append(f"| {arm.memory} | {kind} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
