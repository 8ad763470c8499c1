"""What is expected of an answer, as the table of questions writes it, and what of that is so in the world.

It knows nothing of how questions are read or answered: it looks at the world, at what was in sight, and at what the
robot did.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kc_vla_sim.household.errors import HouseholdError, told
from kc_vla_sim.household.questions.lived import Lived
from kc_vla_sim.household.states import ThingState, state_of
from kc_vla_sim.household.types import kinds
from kc_vla_sim.household.world import Thing

VERBS = frozenset(
    [
        "where",
        "which",
        "there",
        "count",
        "contents",
        "yesno",
        "states",
        "did",
        "lastdone",
        "when",
        "nearest",
        "beside",
        "refuse",
        "colour",
    ]
)
_FILTERS = frozenset({"colour", "state", "not", "room", "in", "on"})
_SKILLS = {"put": ("PutObject",), "opened": ("OpenObject",), "closed": ("CloseObject",)}


@dataclass(frozen=True)
class ThingSelector:
    """Things by their types and more: "Mug,Cup:state=dirty,room=kitchen"; "*" is anything that can be carried."""

    types: tuple[str, ...]
    filters: tuple[tuple[str, str], ...] = ()

    def found(self, home: Lived) -> set[str]:
        """Return the ids of those things that were seen."""
        return {name for name, thing in home.world.things.items() if name in home.seen_s and self._fits(home, thing)}

    def _fits(self, home: Lived, thing: Thing) -> bool:
        named = not thing.kind.fixed if self.types == ("*",) else thing.kind.name in self.types
        return named and all(self._has(home, thing, name, value) for name, value in self.filters)

    @staticmethod
    def _has(home: Lived, thing: Thing, name: str, value: str) -> bool:
        world = home.world
        if name == "colour":
            return thing.colour == value
        if name in ("state", "not"):
            return (state_of(value) in thing.states) == (name == "state")
        if name == "room":
            return world.plan.areas[world.area_of(thing.id)].room == value
        return any(each.kind.name == value or each.id == value for each in world.holders(thing.id))


@dataclass(frozen=True)
class Expected:
    """What is expected.

    Attributes:
        verb: of `VERBS`.
        word: an action, a state or a side, where the verb needs one.
        things: that it is about; None for all.
    """

    verb: str
    word: str = ""
    things: ThingSelector | None = None

    def ids(self, home: Lived) -> set[str]:
        """Return the ids of the things that it is about, of those that were seen."""
        return set(home.seen_s) if self.things is None else self.things.found(home)


def read_expected(text: str) -> Expected:
    """Read what the table writes.

    Raises:
        HouseholdError: it is not written so.
    """
    verb, _, rest = text.strip().partition(" ")
    if verb not in VERBS:
        raise HouseholdError(f"{told(text)}: begin with one of {', '.join(sorted(VERBS))}")
    if verb == "yesno":
        selector, _, word = rest.rpartition("=")
        return Expected(verb, word, _selector(selector))
    word = ""
    if verb in ("did", "when", "beside") or (verb == "lastdone" and rest and not rest[0].isupper()):
        word, _, rest = rest.partition(" ")
    return Expected(verb, word, _selector(rest) if rest else None)


def _selector(text: str) -> ThingSelector:
    names, _, rest = text.partition(":")
    types = tuple(names.split(","))
    filters = tuple((name, value) for name, _, value in (each.partition("=") for each in re.split(",", rest) if each))
    unknown = [each for each in types if each != "*" and each not in kinds()]
    wrong = [name for name, _ in filters if name not in _FILTERS]
    if unknown or wrong:
        raise HouseholdError(f"{told(text)}: there is no type or filter {(unknown or wrong)[0]}")
    return ThingSelector(types, filters)


def contents(home: Lived, holders: Iterable[str], nested: bool) -> set[str]:
    """Return the ids of what was seen on or in some things."""
    found: set[str] = set()
    for holder in holders:
        direct = set(home.world.contents(holder))
        deep = {name for name in home.world.things if holder in {each.id for each in home.world.holders(name)}}
        found |= (deep if nested else direct) & set(home.seen_s)
    return found


def done(home: Lived, action: str, ids: set[str]) -> dict[str, float]:
    """Return when an action was done last with each of some things, s, without those that it was not done with."""
    if action == "seen":
        return {name: home.seen_s[name] for name in ids}
    found: dict[str, float] = {}
    for each in home.actions:
        if action in ("", "handled"):
            names = {each.thing}
        elif action in _SKILLS:
            names = {each.thing} if each.skill in _SKILLS[action] else set()
        else:
            state: ThingState = state_of(action)
            names = {name for name, states in each.changed.items() if state in states}
        found.update(dict.fromkeys(names & ids, each.time_s))
    return found
