"""An answer of a planner, held against the skill table before anything is done: each call in it is one that there is.

What follows from the table alone is followed: what is in the hand, what was opened, switched on, cut. A name stands
for one thing throughout a plan. Whether there is such a thing at all, and what it can, the body finds out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kc_vla.memory.references.names import plain, same
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.in_hand import another, called
from kc_vla.planning.interface import PlanningError
from kc_vla.planning.skills import BY_NAME, Call

MOST_CALLS = 60
MOST_LETTERS = 120
"""Most letters of an argument."""
_TOLD = 60
_NAME = re.compile(r"[\w .,'&#|+/:%-]*\w[\w .,'&#|+/:%-]*")
_CUTS = ("knife", "knives", "cut", "blade", "cleaver")


@dataclass
class _Known:
    """What the calls before imply.

    Attributes:
        held: name of what is in the hand; empty for nothing.
        before: what was in the hand before the plan, by a name that nobody of the plan gave it, while it still is.
        facts: of each name, what was made of it: ("opened", "fridge").
    """

    held: str = ""
    before: ObservedThing | None = None
    facts: set[tuple[str, str]] = field(default_factory=set)


_Need = Callable[[_Known, tuple[str, ...]], str]


def _not(fact: str, reason: str) -> _Need:
    return lambda known, names: reason.format(*names) if (fact, names[-1]) in known.facts else ""


def _first_not(fact: str, reason: str) -> _Need:
    return lambda known, names: reason.format(*names) if (fact, names[0]) in known.facts else ""


def _in_hand(known: _Known, names: tuple[str, ...]) -> str:
    if not known.held:
        return f"the hand is empty: pick up {names[0]} first"
    if known.before is not None:
        other = another(names[0], known.before)
        return f"{called(known.before)} is in the hand, not {names[0]}: put it down first" if other else ""
    return "" if same(names[0], known.held) else f"{known.held} is in the hand, not {names[0]}"


def _knife(known: _Known, names: tuple[str, ...]) -> str:
    kind = known.held if known.before is None else f"{known.held} {known.before.object_type}"
    if any(part in kind.lower() for part in _CUTS):
        return ""
    return f"{known.held or 'nothing'} is in the hand: pick up a knife to slice {names[0]}"


_NEEDS: Mapping[str, _Need] = {
    "held": _in_hand,
    "hand empty": lambda known, names: (
        f"{known.held} is in the hand: put it down before {names[0]} is picked up" if known.held else ""
    ),
    "not broken": _first_not("broken", "{0} is broken by then"),
    "not sliced": _first_not("sliced", "{0} is sliced by then"),
    "knife in the hand": _knife,
    "closed": _first_not("opened", "{0} is open by then"),
    "opened": _first_not("closed", "{0} is closed by then"),
    "on": _first_not("off", "{0} is off by then"),
    "off": _first_not("on", "{0} is on by then"),
    "not at work": _first_not("on", "{0} is on: switch it off first"),
    "holder open": _not("closed", "{1} is closed by then: open it first"),
    "holder not in it": lambda known, names: f"{names[0]} cannot be put on itself" if same(*names) else "",
}
"""Checks of those needs of the skill table that need no observation."""


def _take(known: _Known, names: tuple[str, ...]) -> None:
    known.held, known.before = names[0], None


def _leave(known: _Known, names: tuple[str, ...]) -> None:
    known.held, known.before = "", None


def _becomes(fact: str, no_more: str = "") -> Callable[[_Known, tuple[str, ...]], None]:
    def change(known: _Known, names: tuple[str, ...]) -> None:
        known.facts.discard((no_more, names[0]))
        known.facts.add((fact, names[0]))

    return change


_DEEDS: Mapping[str, Callable[[_Known, tuple[str, ...]], None]] = {
    "take": _take,
    "put": _leave,
    "drop": _leave,
    "open": _becomes("opened", "closed"),
    "close": _becomes("closed", "opened"),
    "switch on": _becomes("on", "off"),
    "switch off": _becomes("off", "on"),
    "slice": _becomes("sliced"),
    "break": _becomes("broken"),
}


def checked(
    answer: Sequence[tuple[Any, Any]], in_hand: ObservedThing | None = None, most: int = MOST_CALLS
) -> tuple[Call, ...]:
    """Return the calls of an answer, if all is as the table wants it.

    Args:
        answer: names of skills with their arguments, whatever anybody said.
        in_hand: what the robot holds; None for nothing.
        most: calls that a plan may have.

    Returns:
        The calls, by the table's first names.

    Raises:
        PlanningError: it is not; the message is one line that says which call is wrong, and why.
    """
    if not answer:
        raise PlanningError("the plan has no call: give at least one")
    if len(answer) > most:
        raise PlanningError(f"the plan has {len(answer)} calls: give {most} at most")
    known = _Known("" if in_hand is None else in_hand.object_id, in_hand)
    return tuple(_checked(known, number, *each) for number, each in enumerate(answer, start=1))


def in_hand_after(calls: Sequence[Call], in_hand: str = "") -> str:
    """Return what is in the hand after these calls, where each succeeded; empty for nothing."""
    known = _Known(in_hand)
    for call in calls:
        for deed in BY_NAME[call.skill].does:
            if deed in _DEEDS:
                _DEEDS[deed](known, call.arguments)
    return known.held


def _checked(known: _Known, number: int, name: Any, arguments: Any) -> Call:
    where = f"call {number}"
    skill = BY_NAME.get(name) if isinstance(name, str) else None
    if skill is None:
        raise PlanningError(f"{where}: there is no skill {_told(name)}: there are {', '.join(BY_NAME)}")
    where = f"call {number}, {skill.name}"
    if not isinstance(arguments, list | tuple) or len(arguments) != len(skill.arguments):
        wanted = f"{len(skill.arguments)} name{'s' if len(skill.arguments) > 1 else ''}: {', '.join(skill.arguments)}"
        given = len(arguments) if isinstance(arguments, list | tuple) else 1
        raise PlanningError(f"{where}: it takes {wanted}; {given} were given")
    for each in arguments:
        _check_name(where, each)
    call = Call(skill.name, tuple(" ".join(each.split()) for each in arguments))
    names = tuple(map(plain, call.arguments))
    for need in skill.needs:
        reason = _NEEDS[need](known, names) if need in _NEEDS else ""
        if reason:
            raise PlanningError(f"{where}: {reason}")
    for deed in skill.does:
        if deed in _DEEDS:
            _DEEDS[deed](known, names)
    return call


def _check_name(where: str, name: object) -> None:
    if not isinstance(name, str) or not 0 < len(name) <= MOST_LETTERS:
        raise PlanningError(f"{where}: {_told(name)} is no name: a text of 1 to {MOST_LETTERS} letters is wanted")
    if not _NAME.fullmatch(name) or not plain(name):
        raise PlanningError(f"{where}: the name {_told(name)} has other than letters, digits and spaces")


def _told(text: object) -> str:
    shown = text if isinstance(text, str) else type(text).__name__
    return ascii(shown[:_TOLD]) + ("..." if len(shown) > _TOLD else "")
