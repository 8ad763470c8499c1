"""Goal conditions as ALFRED-L writes them (KARMA, appendix C): "INSIDE(apple, Fridge), STATE(apple, clean)".

A name stands for one thing throughout a goal: any of its type, or those that are admitted for it; "Book#1" and "Book#2"
are two. A condition that ends in ": 0" is not to hold.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kc_vla_sim.household.errors import HouseholdError, told
from kc_vla_sim.household.states import ThingState, state_of
from kc_vla_sim.household.types import kind_of
from kc_vla_sim.household.world import HELD, IN, ON, ROBOT, World

_ARGUMENTS = {"ON": (2,), "INSIDE": (1, 2), "STATE": (2,), "TOGGLEON": (1,), "HOLDON": (2,)}
_CONDITION = re.compile(r"\s*([A-Za-z]+)\s*\(([^()]*)\)\s*(?::\s*([01]))?\s*")
_MOST_LETTERS, _MOST_CONDITIONS, _MOST_NAMES = 1000, 12, 6
_MOST_COMPARED = 20_000
Binding = Mapping[str, str]
"""The thing, by its id, that each name of a goal stands for."""
Admitted = Mapping[str, frozenset[str]]
"""The things that a name may stand for; names that are not in it may stand for any of their type."""


@dataclass(frozen=True, slots=True)
class GoalCondition:
    """One condition.

    Attributes:
        predicate: "ON", "INSIDE", "STATE", "TOGGLEON" or "HOLDON".
        names: what it is about: types, with a number where there are several; things for ON and INSIDE.
        state: of STATE.
        wanted: it is to hold, or not to.
    """

    predicate: str
    names: tuple[str, ...]
    state: ThingState | None = None
    wanted: bool = True

    def __str__(self) -> str:
        names = {"HOLDON": (ROBOT, *self.names), "STATE": (*self.names, str(self.state))}.get(
            self.predicate, self.names
        )
        return f"{self.predicate}({', '.join(names)})" + ("" if self.wanted else ": 0")

    def holds(self, world: World, binding: Binding) -> bool:
        """Return whether it is as wanted, where the names stand for these things."""
        thing = world.things[binding[self.names[0]]]
        if self.predicate == "ON":
            found = thing.place.relation == ON and thing.place.holder == binding[self.names[1]]
        elif self.predicate == "INSIDE":
            above = world.holders(thing.id)
            found = any(each.id == binding[self.names[1]] and each.kind.relation == IN for each in above)
        elif self.predicate == "HOLDON":
            found = thing.place.relation == HELD
        else:
            found = (self.state or ThingState.ON) in thing.states
        return found == self.wanted


def parse_goal(text: str, about: str = "") -> tuple[GoalCondition, ...]:
    """Read a goal.

    Args:
        text: conditions with commas between them.
        about: what the task is about, for the paper's short form INSIDE(Fridge).

    Raises:
        HouseholdError: it is none; the message says what is wrong.
    """
    if len(text) > _MOST_LETTERS:
        raise HouseholdError(f"a goal of {len(text)} letters: allow {_MOST_LETTERS} at most")
    found: list[GoalCondition] = []
    rest = text
    while True:
        match = _CONDITION.match(rest)
        if match is None:
            raise HouseholdError(
                f"no goal condition at {told(rest)}: write STATE(apple, clean) or INSIDE(apple, fridge)"
            )
        predicate, inner, wanted = match.groups()
        found.append(_condition(predicate, inner, wanted, about))
        rest = rest[match.end() :]
        if not rest:
            break
        if not rest.startswith(","):
            raise HouseholdError(f"no comma between goal conditions before {told(rest)}")
        rest = rest[1:]
    if len(found) > _MOST_CONDITIONS:
        raise HouseholdError(f"a goal of {len(found)} conditions: allow {_MOST_CONDITIONS} at most")
    names = {name for condition in found for name in condition.names}
    if len(names) > _MOST_NAMES:
        raise HouseholdError(f"a goal about {len(names)} things: allow {_MOST_NAMES} at most")
    return tuple(found)


def bindings(world: World, goal: Sequence[GoalCondition], admitted: Admitted, met: bool = True) -> Iterator[Binding]:
    """Return what the names of a goal can stand for: different things for names of one type.

    Args:
        world: the true state.
        goal: the conditions.
        admitted: for names that do not stand for any of their type.
        met: only where all conditions hold.
    """
    names = list(dict.fromkeys(name for condition in goal for name in condition.names))

    def extended(binding: dict[str, str]) -> Iterator[Binding]:
        if len(binding) == len(names):
            yield dict(binding)
            return
        name = names[len(binding)]
        around = [
            {holder.id for holder in world.holders(binding[each.names[0]])}
            for each in goal
            if met and each.wanted and each.names[1:] == (name,) and each.names[0] in binding
        ]
        for thing in candidates(world, name, admitted):
            if thing in binding.values() or not all(thing in some for some in around):
                continue
            wider = binding | {name: thing}
            ready = [each for each in goal if name in each.names and set(each.names) <= wider.keys()]
            if not met or all(condition.holds(world, wider) for condition in ready):
                yield from extended(wider)

    return extended({})


def candidates(world: World, name: str, admitted: Admitted) -> list[str]:
    """Return the things that a name may stand for."""
    if admitted.get(name):
        return sorted(admitted[name])
    kind = name.partition("#")[0]
    return [thing.id for thing in world.of_kind(kind)]


def unmet(world: World, goal: Sequence[GoalCondition], admitted: Admitted) -> list[GoalCondition]:
    """Return the conditions that do not hold, for the things for which the most do; all if there are no such things.

    Of very many things only the first are compared.
    """
    least = list(goal)
    for binding in itertools.islice(bindings(world, goal, admitted, met=False), _MOST_COMPARED):
        wrong = [condition for condition in goal if not condition.holds(world, binding)]
        if len(wrong) < len(least):
            least = wrong
    return least


def _condition(predicate: str, inner: str, wanted: str | None, about: str) -> GoalCondition:
    predicate = predicate.upper()
    words = [word.strip() for word in inner.split(",")]
    if predicate not in _ARGUMENTS:
        raise HouseholdError(f"there is no goal condition {told(predicate)}: there are {', '.join(_ARGUMENTS)}")
    if len(words) not in _ARGUMENTS[predicate] or not all(words):
        raise HouseholdError(f"{predicate} takes {_ARGUMENTS[predicate][-1]} names: {told(inner)} does not fit")
    if predicate == "HOLDON":
        if words[0].lower() != ROBOT:
            raise HouseholdError(f"only the robot holds things: {told(words[0])} does not")
        words = words[1:]
    if predicate == "INSIDE" and len(words) == 1:
        if not about:
            raise HouseholdError(
                f"INSIDE({told(words[0])}) names no thing that is to be inside: write INSIDE(apple, fridge)"
            )
        words = [about, *words]
    state = state_of(words.pop()) if predicate == "STATE" else None
    condition = GoalCondition(predicate, tuple(_named(word) for word in words), state, wanted != "0")
    if predicate in ("ON", "INSIDE"):
        holder = kind_of(condition.names[1].partition("#")[0])
        fitting = {"ON": ON, "INSIDE": IN}[predicate]
        if holder.relation != fitting:
            right = {IN: "INSIDE", ON: "ON", "": "no condition"}[holder.relation]
            raise HouseholdError(f"nothing can be {predicate} a {holder.spoken}: {right} fits")
    if predicate == "TOGGLEON":
        return replace(condition, state=ThingState.ON)
    return condition


def _named(word: str) -> str:
    """Return a name with the type as ALFRED writes it: "Pan#2" for "frying pan#2"."""
    kind, mark, number = word.partition("#")
    if mark and not number.isdecimal():
        raise HouseholdError(f"{told(word)}: a number is wanted behind #")
    return kind_of(kind).name + mark + number
