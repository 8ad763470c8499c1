"""How costs grow with the tasks that are done in one home, and with the things in a building.

Cost is time of the processor, of planning, recalling, looking and remembering, the home's own work included; and what
is kept. Each run is one line of growth.jsonl, and is not played again.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from kc_vla.core.begun import begun
from kc_vla.core.files import replacing, write_whole
from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.robot.robot_memory import BOTH, open_robot_memory
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla_sim.household.floor_plan import navigation_map_of
from kc_vla_sim.household.growth import building_sequence, home_sequence
from kc_vla_sim.household.simulator import Household
from kc_vla_sim.household.tasks import BUILDING, HOME, Referee, TaskSequence

PLAYED, TABLE, SETTINGS = "growth.jsonl", "growth.md", "growth.json"
WHOLE = {HOME: (10, 50, 200), BUILDING: (100, 1_000, 10_000)}
"""After how many tasks in one home, and with how many things in a building, costs are reported."""
_BUILDING_TASKS, _HOME = 10, 3


def grow(output: Path) -> Iterator[str]:
    """Play what is missing, and yield the table.

    Raises:
        BegunError: the folder is of something else.
        OSError: the results cannot be written.
    """
    with begun(output, SETTINGS, {"what": "growth"}, "kc-vla eval household --growth"):
        file = output / PLAYED
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        there = {(row["kind"], row["size"]): row for row in map(_row, lines) if row}
        for sequence, sizes in _wanted(set(there)):
            for row in _played(sequence, sizes):
                there[row["kind"], row["size"]] = row
                write_whole(file, "".join(json.dumps(each) + "\n" for each in there.values()))
        rows = [there[kind, size] for kind, sizes in WHOLE.items() for size in sizes]
        write_whole(output / TABLE, text := table(rows))
        _plot(rows, output / "growth.png")
        yield text


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table as Markdown."""
    lines = [
        "| world | tasks | things | goal reached | explored places for a task | skills for a task | ms for a task "
        "| ms for a skill | stored kB | known things | letters for a prompt |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        count = row["tasks"]
        lines.append(
            f"| {row['kind']} | {row['span']} | {row['things']} | {row['reached']} of {count} | "
            f"{row['explorations'] / count:.1f} | {row['skills'] / count:.1f} | {row['ms'] / count:.0f} | "
            f"{row['ms'] / max(1, row['skills']):.1f} | {row['kept'] / 1000:.0f} | {row['known']} | {row['letters']} |"
        )
    return "\n".join(lines) + "\n"


def _wanted(there: set[tuple[str, int]]) -> Iterator[tuple[TaskSequence, tuple[int, ...]]]:
    if not {(HOME, size) for size in WHOLE[HOME]} <= there:
        yield home_sequence(_HOME, WHOLE[HOME][-1]), WHOLE[HOME]
    for size in WHOLE[BUILDING]:
        if (BUILDING, size) not in there:
            yield building_sequence(size, _BUILDING_TASKS), (_BUILDING_TASKS,)


def _played(sequence: TaskSequence, ends: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Play a sequence with both memories; after so many tasks yield what those since the last time have cost."""
    with tempfile.TemporaryDirectory(prefix="household-") as folder, Store(Path(folder) / "memory.db") as store:
        world = sequence.world()
        grounds = navigation_map_of(world.plan)
        memories = open_robot_memory(BOTH, open_embedder(), grounds, LongTermMemory(store))
        loop = Loop(Household(world), GrammarPlanner(), memories, grounds, world.at)
        referee, begun_at = Referee(sequence.tasks), 0
        loop.carry_out("look around area_0")  # the embedder's first work is not theirs
        cost = {"reached": 0, "explorations": 0, "skills": 0, "ms": 0.0}
        for number in range(1, len(sequence.tasks) + 1):
            task = referee.begin(world)
            began_s = time.process_time()
            result = loop.carry_out(task.instruction)
            cost["ms"] += 1000 * (time.process_time() - began_s)
            cost["reached"] += not referee.judge(world)
            cost["explorations"] += result.explorations
            cost["skills"] += result.calls
            if number in ends:
                yield {
                    **{"kind": sequence.kind, "size": number if sequence.kind == HOME else sequence.scene},
                    **{"span": f"{begun_at + 1} to {number}", "tasks": number - begun_at, "things": len(world.things)},
                    **{"known": len(memories.things()), "letters": len(memories.surroundings(task.instruction))},
                    **{"kept": sum(each.stat().st_size for each in Path(folder).iterdir()), **cost},
                }
                begun_at, cost = number, dict.fromkeys(cost, 0)


def _row(line: str) -> Mapping[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:  # cut off by a crash: it is played again
        return None
    return row if isinstance(row, dict) and {"kind", "size"} <= set(row) else None


def _plot(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    figure = Figure(figsize=(10.0, 3.8), layout="constrained")
    for axis, (kind, label) in zip(
        figure.subplots(1, 2), ((HOME, "tasks done in one home"), (BUILDING, "things in a building")), strict=True
    ):
        some = [row for row in rows if row["kind"] == kind]
        sizes = [row["size"] for row in some]
        axis.plot(sizes, [row["ms"] / max(1, row["skills"]) for row in some], marker="o", label="ms a skill")
        axis.plot(
            sizes, [row["explorations"] / row["tasks"] for row in some], marker="s", label="places explored a task"
        )
        axis.plot(sizes, [row["kept"] / 1000 for row in some], marker="^", label="kB kept")
        axis.set(xscale="log", yscale="symlog", xlabel=label, ylim=(0, 5e4))
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axis.legend(loc="upper left", ncols=3, fontsize="small")
    with replacing(file) as part:
        figure.savefig(part, format="png", dpi=110)
