"""What a planner gets and what it answers; what a body is that does the skills of a plan.

A plan names things as people do ("apple", "the red mug", "it") or by an id that a memory gave ("Apple_1"). Which thing
is meant, where it is, and how to get there is found out while the plan is carried out: a plan that named places would
be wrong as soon as a person moved something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kc_vla.core.errors import StackError
from kc_vla.memory.navigation_map import AreaName
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.obstacles import Obstacle
from kc_vla.planning.skills import Call


class PlanningError(StackError, ValueError):
    """An instruction that no plan was made for; the text says in one line why, and what to do."""


@dataclass(frozen=True)
class TriedCall:
    """A call that was tried.

    Attributes:
        call: as it was carried out.
        reason: why it failed; empty where it did not.
    """

    call: Call
    reason: str = ""


@dataclass(frozen=True)
class Request:
    """What there is to plan for.

    Attributes:
        instruction: of a person, as it was said.
        surroundings: what the long-term memory knows, as text under its token budget; empty without one.
        recalled: what the short-term memory recalls for the instruction, as text; empty without one.
        in_hand: what the robot holds, as far as it is known; None for nothing.
        tried: what was tried for this instruction already, in its order: the last one failed, and the plan is to go on
            from there.
        held_before: what it held before the first of `tried`; None for nothing.
        known: the things that are in sight or remembered, those first that the instruction is likeliest about.
        areas: what people call each area, by its id: its room and its floor.
        at: id of the area in which the robot stands; empty where that is not known.
    """

    instruction: str
    surroundings: str = ""
    recalled: str = ""
    in_hand: ObservedThing | None = None
    tried: Sequence[TriedCall] = ()
    held_before: ObservedThing | None = None
    known: Sequence[ObservedThing] = ()
    areas: Mapping[str, AreaName] = field(default_factory=dict)
    at: str = ""


@dataclass(frozen=True)
class Plan:
    """Skills to be done one after the other.

    Attributes:
        calls: each in the skill table, with as many arguments as it takes; none where nothing is to be done, as `notes`
            say.
        by: which planner made it: "grammar", "model", as every result says.
        tokens: that a language model was given and gave; 0 without one.
        notes: what went otherwise than it was set to, in words, for people.
    """

    calls: tuple[Call, ...]
    by: str
    tokens: int = 0
    notes: tuple[str, ...] = ()


class Planner(Protocol):
    """Makes plans."""

    def plan(self, request: Request) -> Plan:
        """Return a plan.

        Raises:
            PlanningError: it cannot; the text says why.
        """
        ...


@dataclass(frozen=True)
class CallResult:
    """What came of a call.

    Attributes:
        done: it succeeded; otherwise nothing has changed but the time.
        reason: why it failed, in one line; empty where it succeeded.
        seconds: that it took.
        walked_m: on the way.
        seen: what is seen afterwards.
        held: id of what is in the hand afterwards, empty for nothing; None where the robot does not say.
        obstacle: what made it fail and can be cleared; None for nothing.
    """

    done: bool
    reason: str
    seconds: float
    walked_m: float
    seen: tuple[ObservedThing, ...] = ()
    held: str | None = None
    obstacle: Obstacle | None = None


class SkillRobot(Protocol):
    """A robot that can do the skills of the table with things that it sees, by their ids, and areas that it knows."""

    def do(self, call: Call) -> CallResult:
        """Do a skill: whatever the call says, it fails with a reason or does what the table says."""
        ...

    def look(self) -> Sequence[ObservedThing]:
        """Return what is seen now."""
        ...
