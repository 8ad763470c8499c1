"""What an instruction costs more where the planner remembers with the memory nodes than where it does by itself."""

from __future__ import annotations

import math
import statistics
import time
from pathlib import Path

from tests.support.person import Person

from .measuring import MeasurementError, Table
from .processes import Processes

_SEQUENCE = "composite-test-001"
_PACES = (20.0, 4.0)
_TOLD = {"frame": "map", "detections": False}


def measure(quick: bool, work: Path) -> Table:
    """Have one sequence of instructions carried out in turns, with the nodes and without, at two paces."""
    turns = 2 if quick else 6
    return Table(
        "Instructions through the memory nodes, beside a planner that remembers by itself",
        [_row(pace, turns, work / f"pace-{pace:g}") for pace in _PACES],
        [
            f"`{_SEQUENCE}`, all its instructions one after the other, {turns} turns of each way in turns.",
            "From the goal that is sent to its result, by an action client; the ratio is over pairs of turns.",
            "Pace 1 is that of a robot; 20 is the default of the launch file.",
        ],
    )


def _row(pace: float, turns: int, work: Path) -> dict[str, object]:
    took: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(turns):
        for nodes in (False, True) if turn % 2 else (True, False):  # whoever comes second finds warm files
            took[nodes].append(_played(nodes, pace, work / f"{turn}-{nodes}"))
    ratios = [with_nodes / without for without, with_nodes in zip(took[False], took[True], strict=True)]
    mean, half = statistics.fmean(ratios), 1.96 * statistics.stdev(ratios) / math.sqrt(turns)
    return {
        "pace": f"{pace:g}",
        "in the planner, s": f"{statistics.fmean(took[False]):.2f}",
        "in the nodes, s": f"{statistics.fmean(took[True]):.2f}",
        "times as long": f"{mean:.3f} ({mean - half:.3f} to {mean + half:.3f})",
    }


def _played(nodes: bool, pace: float, folder: Path) -> float:
    """Return how long the instructions of the sequence took in all, s."""
    from kc_vla_sim.household.tasks import sequence

    tasks = sequence(_SEQUENCE)
    processes = Processes(folder / "log")
    with processes, Person() as person:
        processes.node("household", "kc_vla_sim", sequence=_SEQUENCE, pace=pace)
        store = str(folder / "memory.db")
        if nodes:
            processes.node("long_term_memory", store=store, map_id="home", **_TOLD)
            processes.node("short_term_memory", **_TOLD)
        processes.node("planner", store=store, map_id="home", memory_nodes=nodes)
        took_s = 0.0
        for task in tasks.tasks:
            goal = person.say(task.instruction)
            began_s = time.monotonic()
            if not person.result(goal).result.success:
                raise MeasurementError(f"{task.instruction!r} was not done: see {folder / 'log'}")
            took_s += time.monotonic() - began_s
    return took_s
