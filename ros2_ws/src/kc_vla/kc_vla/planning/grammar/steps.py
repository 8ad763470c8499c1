"""What clauses mean, one after the other, as calls of skills: with the devices that they imply, and one hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kc_vla.planning.grammar.hand import Hand, refuse_fixed
from kc_vla.planning.grammar.lexicon import (
    ADJECTIVES,
    BIN,
    LAMPS,
    ROOMS,
    TOLD,
    VESSELS,
    Deed,
    noun,
)
from kc_vla.planning.grammar.meanings import Meaning
from kc_vla.planning.grammar.phrases import Thing
from kc_vla.planning.interface import PlanningError, Seen
from kc_vla.planning.names import ORDINALS
from kc_vla.planning.skills import Call

_SWITCHES: Mapping[Deed, str] = {
    Deed.ON: "SwitchOn",
    Deed.OFF: "SwitchOff",
    Deed.TOGGLE: "SwitchOn",
    Deed.OPEN: "OpenObject",
    Deed.CLOSE: "CloseObject",
}
_HOLDS = ("bring", "carry", "take", "hold", "bringing", "carrying", "taking", "move", "moving")
_OF_STATE = (Deed.CLEAN, Deed.FILL, Deed.HEAT, Deed.COOL)


class Steps:
    """Makes the calls.

    Attributes:
        hand: with the calls so far.
        notes: what was left out or guessed, in words.
    """

    def __init__(self, in_hand: Seen | None = None, recalled: str = "") -> None:
        """Begin.

        Args:
            in_hand: what the robot holds; None for nothing.
            recalled: what a memory tells, a thing a line.
        """
        self.hand = Hand(in_hand)
        self.notes: list[str] = []
        self._recalled = recalled.lower().splitlines()
        self._spoken_of: list[str] = []
        self._before: list[str] = []
        self._vessel = ""
        self._tool = ""
        self._waiting: list[str] = []
        self._at = ""

    def do(self, meanings: Sequence[Meaning]) -> None:
        """Append the calls for clauses.

        Raises:
            PlanningError: one cannot be done, or it is not clear what is meant.
        """
        for at, meaning in enumerate(meanings):
            things = self._meant(meaning, meanings[at + 1 :])
            self.notes += [f"'{each}' was left out" for each in meaning.left_out]
            self._do(replace(meaning, things=things))
        if self._waiting:
            raise PlanningError(
                f"only one thing can be held, not {' and '.join(self._waiting)}: say where each is to be put"
            )
        self.hand.put_knife_down()

    def _do(self, meaning: Meaning) -> None:
        deed, things = meaning.deed, meaning.things
        if deed is Deed.THROW and (not meaning.place or meaning.place.endswith(("floor", "ground"))):
            for name in self._each(meaning):
                self.hand.throw(name)
        elif deed in (Deed.MOVE, Deed.THROW, Deed.BIN):
            self._move(meaning)
        elif deed is Deed.TAKE:
            self._hold(meaning)
        elif deed is Deed.GO:
            self._at = meaning.place if noun(meaning.place) in ROOMS else ""
            self.hand.go(meaning.place)
            self.hand.device = "" if self._at else meaning.place
        elif deed is Deed.EXPLORE:
            self._explore(meaning)
        elif deed is Deed.USE:
            self._tool = things[0].name
        elif deed is Deed.SLICE:
            self._find_source(meaning)
            for name in self._each(meaning, but=Deed.SLICE):
                self.hand.cut(name, meaning.tool, self._tool)
            self._tool = ""
        elif deed in _OF_STATE:
            self._find_source(meaning)
            for name in self._each(meaning, but=deed):
                self.hand.bring_into(name, deed, meaning.tool or self._tool, meaning.said)
            self._tool = ""
        elif deed is Deed.LOOK:
            self._look(meaning)
        elif deed in _SWITCHES:
            self._find_source(meaning)
            for name in self._each(meaning):
                self.hand.device = "faucet" if noun(name) in ("water", "sink") and deed in _ON_OFF else name
                self.hand.call(_SWITCHES[deed], self.hand.device)
            if deed is Deed.TOGGLE:
                self.notes.append(f"'{meaning.said}' was taken for switching on")
        elif deed is Deed.BREAK:
            self._find_source(meaning)
            for name in self._each(meaning):
                self.hand.call("BreakObject", name)
        else:
            self._find_source(meaning)
            for name in self._each(meaning):
                self.hand.call("GoToObject", name)

    def _meant(self, meaning: Meaning, later: Sequence[Meaning]) -> tuple[Thing, ...]:
        """The things of a clause, pronouns replaced by what they stand for."""
        if meaning.deed in (Deed.GO, Deed.EXPLORE):
            return meaning.things
        if meaning.things and not all(each.pronoun for each in meaning.things):
            things = tuple(each for each in meaning.things if not each.pronoun)
            if meaning.deed in _SWITCHES:
                several = [each.plural for each in things if each.plural]
                self.notes += [f"it is not said which of '{each}': one was taken" for each in several]
                things = tuple(replace(each, name=each.plural or each.name, count=1, plural="") for each in things)
            guessed = [each.name for each in things if each.plural]
            self.notes += [f"it is not said how many of '{each}': two were taken" for each in guessed]
        else:
            states = meaning.things[0].states if meaning.things else ()
            about = meaning.things[0].name if meaning.things else ""
            names = [_like(name, about) for name in self._antecedents(meaning, later, about)]
            things = tuple(Thing(name, states, definite=True) for name in names)
        if meaning.deed in _SWITCHES:
            self.hand.device = things[-1].name
        elif meaning.deed is not Deed.USE:
            self._before = self._spoken_of
            self._spoken_of = [name for each in things for name in each.names]
        return things

    def _antecedents(self, meaning: Meaning, later: Sequence[Meaning], about: str) -> list[str]:
        if about:
            return self._spoken_of[-1:] or [self.hand.kind or "one"]
        if meaning.deed in _SWITCHES and self.hand.device:
            return [self.hand.device]
        if meaning.deed in (Deed.MOVE, Deed.BIN, Deed.THROW) and self._vessel:
            return [self._vessel]
        if self._spoken_of:
            return self._spoken_of
        for each in later:
            for thing in each.things:
                if not thing.pronoun:
                    return list(thing.names)
        if self.hand.held:
            return [self.hand.held]
        raise PlanningError(f"it is not clear what is meant in {meaning.said[:80]!r}: name the thing")

    def _each(self, meaning: Meaning, but: Deed | None = None) -> list[str]:
        """The name of each thing, brought into the states that it is to have."""
        self._vessel = ""
        return [name for thing in meaning.things for name in self._ready(thing, but)]

    def _ready(self, thing: Thing, but: Deed | None = None) -> list[str]:
        names = [thing.name, *thing.names[1:]]
        states = [each for each in thing.states if each is not but]
        if len(names) == 1 and states and self._remembered(thing.name, states):
            known = f"{' '.join(ADJECTIVES[each] for each in states)} {thing.name}"
            self.hand.remembered.add(known)
            self._spoken_of = [known if each == thing.name else each for each in self._spoken_of]
            return [known]
        for name in names:
            for state in states:
                if state in self.hand.made.get(name, ()):
                    continue
                if state is Deed.SLICE:
                    self.hand.cut(name)
                else:
                    self.hand.bring_into(name, state, "", name)
        return names

    def _remembered(self, name: str, states: Sequence[Deed]) -> bool:
        said = noun(name)
        return not self.hand.made.get(name) and any(
            said in line and all(re.search(TOLD[each], line) for each in states) for line in self._recalled
        )

    def _move(self, meaning: Meaning) -> None:
        place = meaning.place or (BIN if meaning.deed is Deed.BIN else "")
        if place == "it":
            place = self.hand.device or self._vessel or next(iter(self._before), "")
        first = meaning.said.split()[0] if meaning.said else ""
        moved = [name for thing in meaning.things for name in thing.names]
        if not place and meaning.back and all(name in self.hand.came_from for name in moved):
            place = self.hand.came_from[moved[0]]
        if not place and (first in _HOLDS or not any(each.name for each in meaning.things)):
            self._hold(meaning)
            return
        if not place and any(each.inside for each in meaning.things):
            for thing in meaning.things:
                self._fill_with(thing)
            return
        if not place:
            raise PlanningError(f"it is not said where {moved[0]} is to be put in {meaning.said[:80]!r}: name a place")
        if noun(place) in ("floor", "ground"):
            raise PlanningError(f"nothing can be put on the floor: name another place, or say 'throw {moved[0]}'")
        for thing in meaning.things:
            refuse_fixed(thing.name)
            self._fill_with(thing)
            for number, name in enumerate(thing.names):
                self._waiting = [each for each in self._waiting if each != name]
                (ready,) = self._ready(replace(thing, name=name, count=1, inside=()))
                self.hand.take(ready, meaning.source if not number else "")
                if noun(place) in LAMPS | ROOMS:
                    self.hand.go(place)
                    self.hand.device = place
                else:
                    self.hand.put(ready, place)
        self._vessel = place if noun(place) in VESSELS else ""
        if meaning.then:
            refuse_fixed(place)
            self.hand.take(place)
            self.hand.put(place, meaning.then)

    def _hold(self, meaning: Meaning) -> None:
        names = [name for thing in meaning.things for name in thing.names]
        if len(names) > 1:
            self._find_source(meaning)
            for thing in meaning.things:
                if thing.states:
                    raise PlanningError(f"not understood: {meaning.said[:80]!r}: say where each is to be put")
            self._waiting = names
            return
        thing = meaning.things[0]
        refuse_fixed(thing.name)
        self._fill_with(thing)
        (name,) = self._each(meaning)
        self.hand.take(name, meaning.source)
        if meaning.place:
            self.hand.put(name, meaning.place)

    def _fill_with(self, thing: Thing) -> None:
        for each in thing.inside:
            for name in self._ready(each):
                self.hand.take(name)
                self.hand.put(name, thing.name)

    def _look(self, meaning: Meaning) -> None:
        known = next((each for each in (self._tool, self.hand.device) if each and noun(each) in LAMPS), "")
        lamp = meaning.tool or ("lamp" if known in ("light", "lights") else known)
        for name in self._each(meaning):
            if not lamp:
                self.hand.call("GoToObject", name)
                continue
            refuse_fixed(name)
            self.hand.take(name)
        if lamp and Call("SwitchOn", (lamp,)) not in self.hand.calls:
            self.hand.call("SwitchOn", lamp)
            self.hand.device = lamp

    def _explore(self, meaning: Meaning) -> None:
        where = meaning.place or " ".join(each.name for each in meaning.things) or self._at
        if not where:
            raise PlanningError("it is not said what to explore: name a room or an area")
        self.hand.call("Explore", where)

    def _find_source(self, meaning: Meaning) -> None:
        if meaning.source:
            self.hand.go(meaning.source)
            for thing in meaning.things:
                self.hand.came_from.update(dict.fromkeys(thing.names, meaning.source))


def _like(name: str, about: str) -> str:
    """ "the red one" after "the blue mug" is "red mug", "the other one" "second blue mug"."""
    if about in ("other", "another"):
        return f"{ORDINALS[1]} {name}"
    return f"{about} {noun(name)}" if about else name


_ON_OFF = (Deed.ON, Deed.OFF, Deed.TOGGLE)
