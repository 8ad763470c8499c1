"""The report of instructions in a home: what each took with the robot's memory and without any, and the ways."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from kc_vla.core.files import write_whole
from kc_vla_sim.household.journey import Journey
from kc_vla_sim.household.way_plot import InstructionWays, plot_ways
from kc_vla_sim.household.world import World

TABLE, PICTURE, VALUES = "report.md", "way.png", "report.json"
_CELL = 300


def write_report(folder: Path, world: World, pairs: Sequence[InstructionWays], asked: int) -> None:
    """Write report.md, report.json and way.png into a folder that is there; nothing of nothing.

    Args:
        folder: to write into.
        world: the home.
        pairs: what was carried out.
        asked: how many instructions there were.

    Raises:
        OSError: it cannot be written.
    """
    if not pairs:
        return
    write_whole(folder / TABLE, "\n".join([*table(pairs, asked), "", f"![the ways]({PICTURE})", ""]))
    values = [
        {"instruction": said, "remembering": asdict(one), "alone": None if other is None else asdict(other)}
        for said, one, other in pairs
    ]
    write_whole(folder / VALUES, json.dumps(values, indent=2) + "\n")
    plot_ways(world, pairs, folder / PICTURE)


def table(pairs: Sequence[InstructionWays], asked: int) -> Iterator[str]:
    """Yield the table, as Markdown: a line for each instruction and memory, and what was saved at the end."""
    yield "| | instruction | memory | planned by | outcome | s | m | explored | skills |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for number, (said, *journeys) in enumerate(pairs, 1):
        for journey in filter(None, journeys):
            who = f"{journey.memory} | {journey.planner or 'nobody'}"
            yield f"| {number} | {_cell(said)} | {who} | {_cell(_outcome(journey))} | {_costs(journey)} |"
    notes = [f"- {number}: {_cell(note)}" for number, (_, one, _) in enumerate(pairs, 1) for note in one.notes]
    yield from ("", *notes) if notes else ()
    if len(pairs) < asked:
        yield ""
        yield f"{len(pairs)} of {asked} instructions came to their end."
    both = [(one, other) for _, one, other in pairs if other is not None and one.success and other.success]
    if both:
        seconds = [sum(each.seconds for each in some) for some in zip(*both, strict=True)]
        explored = [sum(each.explorations for each in some) for some in zip(*both, strict=True)]
        yield ""
        yield (
            f"Of what both did ({len(both)} of {len(pairs)}): {explored[0]} places explored in place of {explored[1]}, "
            f"{seconds[0]:.0f} s in place of {seconds[1]:.0f} s."
        )


def _outcome(journey: Journey) -> str:
    said = "done" if journey.success else f"not done: {journey.reason}"
    return said if journey.goal is None else f"{said}; goal {'reached' if journey.goal else 'missed'}"


def _costs(journey: Journey) -> str:
    return f"{journey.seconds:.1f} | {journey.walked_m:.1f} | {journey.explorations} | {journey.skills}"


def _cell(text: str) -> str:
    """Return a text in one cell, whatever people or a model said."""
    plain = "".join(letter if letter.isprintable() and letter != "|" else " " for letter in text)
    return plain if len(plain) <= _CELL else f"{plain[: _CELL - 1]}…"
