"""The report of what a planner did in an episode: each instruction with its steps, and what the memories held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.plan import CarriedOut

_SHOWN = frozenset({"plan", "recall", "explore", "repair", "skill", "answer", "end"})


def plan_report(episode: RecordedEpisode) -> str:
    """Return the report of an episode with instructions, as Markdown."""
    lines = [f"# {episode.status.episode_id}", ""]
    for each in episode.instructions:
        lines += [*_instruction(each), ""]
    lines += ["## What the memories held at the end", ""]
    lines += ["| thing | state | place | position, m | memory |", "| --- | --- | --- | --- | --- |"]
    lines += [_thing(name, thing) for name, thing in sorted(episode.remembered.items())]
    return "\n".join(lines) + "\n"


def _instruction(each: CarriedOut) -> Iterator[str]:
    outcome = {True: "done", False: f"not done: {each.reason}", None: "not carried out to its end"}[each.success]
    yield f"## {_cell(each.instruction)}"
    yield ""
    yield f"{_cell(outcome)}."
    yield ""
    yield "| s | frame | what | |"
    yield "| --- | --- | --- | --- |"
    for step in each.steps:
        if step.kind in _SHOWN:
            yield f"| {step.told_s:.1f} | {step.frame} | {step.kind} | {_cell(step.text)} |"


def _thing(name: str, thing: Mapping[str, Any]) -> str:
    position = ", ".join(f"{float(each):.2f}" for each in thing.get("position", ()))
    cells = (
        name,
        ", ".join(map(str, thing.get("states", ()))),
        " ".join(map(str, thing.get("place", ()))),
        position,
        ", ".join(map(str, thing.get("memories", ()))),
    )
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
