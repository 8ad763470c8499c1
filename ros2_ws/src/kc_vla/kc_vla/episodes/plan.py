"""What a planner did in an episode: its instructions, the steps of each, and what it remembered at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kc_vla.core.untrusted import parsed_json

_BEGIN, _RESULT = "begin", "result"
_MOST_LETTERS = 4_000_000


@dataclass(frozen=True)
class PlanStep:
    """One step that a planner reported.

    Attributes:
        frame: number of the last frame before it.
        kind: begin, plan, recall, explore, skill, repair, memory, answer, end or result.
        text: in words; of `memory` several lines, of `result` why the instruction was not done.
        told_s: when, s by the clock of the robot.
        success: of `result`, whether the instruction was done.
    """

    frame: int
    kind: str
    text: str
    told_s: float
    success: bool | None = None


@dataclass(frozen=True)
class CarriedOut:
    """An instruction and what came of it.

    Attributes:
        instruction: as it was given.
        steps: in their order, without what is remembered.
        success: None where the bag ends before that, or the planner ended in the middle.
        reason: why it was not done; empty where it was, or where that is not known.
    """

    instruction: str
    steps: tuple[PlanStep, ...]
    success: bool | None
    reason: str


def step_from(text: str, frame: int) -> PlanStep | None:
    """Return the step of a message of `planner/steps`; None where it is none."""
    step = _object_in(text)
    told_s = step.get("now_s")
    if not isinstance(told_s, int | float) or not step.get("kind"):
        return None
    success = step.get("success")
    known = success if isinstance(success, bool) else None
    return PlanStep(frame, str(step["kind"]), str(step.get("text", "")), float(told_s), known)


def carried_out(steps: Iterable[PlanStep]) -> tuple[CarriedOut, ...]:
    """Return the instructions of an episode, in their order."""
    parts: list[list[PlanStep]] = []
    for step in steps:
        if step.kind == _BEGIN:
            parts.append([])
        if parts:
            parts[-1].append(step)
    return tuple(map(_instruction, parts))


def remembered(text: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the things of a message of `planner/belief` by their ids; none where it is none."""
    things = _object_in(text).get("things")
    return {name: each for name, each in things.items() if isinstance(each, dict)} if isinstance(things, dict) else {}


def _instruction(steps: list[PlanStep]) -> CarriedOut:
    end = next((each for each in reversed(steps) if each.kind == _RESULT), None)
    shown = tuple(each for each in steps if each.kind not in ("memory", _RESULT))
    return CarriedOut(steps[0].text, shown, None if end is None else end.success, "" if end is None else end.text)


def _object_in(text: str) -> Mapping[str, Any]:
    if len(text) > _MOST_LETTERS:
        return {}
    try:
        value = parsed_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
