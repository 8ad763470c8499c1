"""What clauses mean, one after the other, as calls of skills: with the devices that they imply, and one hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kc_vla.memory.floors import is_floor_word
from kc_vla.memory.references.names import BESIDE, NEXT_TO, ORDINALS
from kc_vla.memory.references.spatial_phrases import relation_of
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.grammar.hand_calls import HandCalls, refuse_fixed
from kc_vla.planning.grammar.lexicon import (
    ADJECTIVES,
    BIN,
    DOORS,
    LAMPS,
    ROOMS,
    VESSELS,
    Verb,
    noun,
)
from kc_vla.planning.grammar.limits import replaced
from kc_vla.planning.grammar.meanings import ClauseMeaning
from kc_vla.planning.grammar.phrases import DescribedThing, like
from kc_vla.planning.grammar.remembered import RememberedThings, is_kind
from kc_vla.planning.interface import PlanningError
from kc_vla.planning.skills import Call

_SWITCHES: Mapping[Verb, str] = {
    Verb.ON: "SwitchOn",
    Verb.OFF: "SwitchOff",
    Verb.TOGGLE: "SwitchOn",
    Verb.OPEN: "OpenObject",
    Verb.CLOSE: "CloseObject",
}
_HOLDS = ("bring", "carry", "take", "hold", "bringing", "carrying", "taking", "move", "moving")
_OF_STATE = (Verb.CLEAN, Verb.FILL, Verb.HEAT, Verb.COOL)


class Steps:
    """Makes the calls.

    Attributes:
        hand: with the calls so far.
        notes: what was left out or guessed, in words.
    """

    def __init__(self, in_hand: ObservedThing | None = None, remembered: RememberedThings | None = None) -> None:
        """Begin.

        Args:
            in_hand: what the robot holds; None for nothing.
            remembered: what is known of things; None for nothing.
        """
        self.hand = HandCalls(in_hand)
        self.notes: list[str] = []
        self._remembered = remembered or RememberedThings()
        self._spoken_of: list[str] = []
        self._before: list[str] = []
        self._vessel = ""
        self._tool = ""
        self._waiting: list[str] = []
        self._moved: set[str] = set()
        self._at = ""

    def do(self, meanings: Sequence[ClauseMeaning]) -> None:
        """Append the calls for clauses.

        Raises:
            PlanningError: one cannot be done, or it is not clear what is meant.
        """
        for at, meaning in enumerate(meanings):
            things = self._meant(meaning, meanings[at + 1 :])
            if note := replaced(meaning.said, bool(meaning.tool)):
                self.notes.append(note)
            self.notes += [f"'{each}' was left out" for each in meaning.left_out]
            self._do(replace(meaning, things=things))
        if self._waiting:
            raise PlanningError(
                f"only one thing can be held, not {' and '.join(self._waiting)}: say where each is to be put"
            )
        self.hand.put_knife_down()

    def _do(self, meaning: ClauseMeaning) -> None:
        deed, things = meaning.deed, meaning.things
        if deed is Verb.THROW and (not meaning.place or meaning.place.endswith(("floor", "ground"))):
            for name in self._each(meaning):
                self.hand.throw(name)
        elif deed in (Verb.MOVE, Verb.THROW, Verb.BIN):
            self._move(meaning)
        elif deed is Verb.TAKE:
            self._hold(meaning)
        elif deed is Verb.GO:
            self._at = meaning.place if noun(meaning.place) in ROOMS or is_floor_word(meaning.place) else ""
            self.hand.go(meaning.place)
            self.hand.device = "" if self._at else meaning.place
        elif deed is Verb.EXPLORE:
            self._explore(meaning)
        elif deed is Verb.USE:
            self._tool = things[0].name
        elif deed is Verb.SLICE:
            self._find_source(meaning)
            for name in self._each(meaning, but=Verb.SLICE):
                self.hand.cut(name, meaning.tool, self._tool)
            self._tool = ""
        elif deed in _OF_STATE:
            self._find_source(meaning)
            for name in self._each(meaning, but=deed):
                self.hand.bring_into(name, deed, meaning.tool or self._tool, meaning.said)
            self._tool = ""
        elif deed is Verb.LOOK:
            self._look(meaning)
        elif deed in _SWITCHES:
            self._find_source(meaning)
            for name in self._each(meaning):
                self.hand.device = "faucet" if noun(name) in ("water", "sink") and deed in _ON_OFF else name
                self.hand.call(_SWITCHES[deed], self.hand.device)
            if deed is Verb.TOGGLE:
                self.notes.append(f"'{meaning.said}' was taken for switching on")
        elif deed is Verb.BREAK:
            self._find_source(meaning)
            for name in self._each(meaning):
                self.hand.call("BreakObject", name)
        else:
            self._find_source(meaning)
            for name in self._each(meaning):
                self.hand.call("GoToObject", name)

    def _meant(self, meaning: ClauseMeaning, later: Sequence[ClauseMeaning]) -> tuple[DescribedThing, ...]:
        """Return the things of a clause, pronouns replaced by what they stand for."""
        if meaning.deed in (Verb.GO, Verb.EXPLORE):
            return meaning.things
        if meaning.things and not all(each.pronoun for each in meaning.things):
            things = tuple(self._all_of(each) for each in meaning.things if not each.pronoun)
            if meaning.deed in _SWITCHES:
                several = [each.plural for each in things if each.plural]
                self.notes += [f"it is not said which of '{each}': one was taken" for each in several]
                things = tuple(
                    replace(each, name=each.plural, count=1, plural="") if each.plural else each for each in things
                )
            guessed = [each.name for each in things if each.plural]
            self.notes += [f"it is not said how many of '{each}': two were taken" for each in guessed]
        else:
            states = meaning.things[0].states if meaning.things else ()
            about = meaning.things[0].name if meaning.things else ""
            names = [like(name, about) for name in self._antecedents(meaning, later, about)]
            if meaning.things and meaning.things[0].several:
                names = self._some_of(names, meaning.things[0], meaning.said)
            things = tuple(DescribedThing(name, states, definite=True) for name in names)
        if meaning.deed in _SWITCHES:
            self.hand.device = things[-1].name
        elif meaning.deed is not Verb.USE:
            self._before = self._spoken_of
            self._spoken_of = [name for each in things for name in each.names]
        return things

    def _antecedents(self, meaning: ClauseMeaning, later: Sequence[ClauseMeaning], about: str) -> list[str]:
        if about:
            return self._spoken_of[-1:] or [self.hand.kind or "one"]
        if meaning.deed in _SWITCHES and self.hand.device:
            return [self.hand.device]
        if meaning.deed in (Verb.MOVE, Verb.BIN, Verb.THROW) and self._vessel:
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

    def _some_of(self, names: list[str], thing: DescribedThing, said: str) -> list[str]:
        """Return as many as a pronoun stands for: "one of them", or "two" of those that were not moved yet, or more.

        Raises:
            PlanningError: there are not so many.
        """
        if thing.others:
            left = [name for name in names if name not in self._moved]
            first = names[0].split(" ", 1)
            base = first[1] if first[0] in ORDINALS and len(first) > 1 else names[0]
            more = (
                name for name in DescribedThing(base, count=len(ORDINALS)).names if name not in {*names, *self._moved}
            )
            names = [*left, *more] if len(left) < thing.several else left
        if len(names) < thing.several:
            raise PlanningError(f"it is not clear which {thing.several} are meant in {said[:80]!r}: name each thing")
        return names[: thing.several]

    def _each(self, meaning: ClauseMeaning, but: Verb | None = None) -> list[str]:
        """Return the name of each thing, brought into the states that it is to have."""
        self._vessel = ""
        return [name for thing in meaning.things for name in self._ready(thing, but)]

    def _ready(self, thing: DescribedThing, but: Verb | None = None) -> list[str]:
        names = [thing.name, *thing.names[1:]]
        states = [each for each in thing.states if each is not but]
        if len(names) == 1 and states and not self.hand.made.get(thing.name) and self._is_there(thing, states):
            known = f"{' '.join(ADJECTIVES[each] for each in states)} {thing.name}"
            self.hand.remembered.add(known)
            self._spoken_of = [known if each == thing.name else each for each in self._spoken_of]
            return [known]
        for name in names:
            left = [each for each in states if each not in self.hand.made.get(name, ())]
            if left and thing.definite and not self.hand.made.get(name):
                said = " ".join(ADJECTIVES[each] for each in left)
                self.notes.append(f"no {said} {name} is known: one is made so")
            for state in left:
                if state is Verb.SLICE:
                    self.hand.cut(name)
                else:
                    self.hand.bring_into(name, state, "", name)
        return names

    def _is_there(self, thing: DescribedThing, states: Sequence[Verb]) -> bool:
        """Return whether states say which thing is meant, and are not to be brought about.

        One thing is known to be so, or "the clean, red food" names it by its kind alone, which says that there is one.
        """
        return self._remembered.is_so(thing.name, states) or (thing.definite and is_kind(thing.name))

    def _all_of(self, thing: DescribedThing) -> DescribedThing:
        """Return a thing as all that are known where it says so: "every mug"."""
        count = self._remembered.count(thing.name) if thing.every else 0
        if not count:
            return thing
        if count > len(ORDINALS):
            raise PlanningError(f"{count} of '{thing.name}' are known: name {len(ORDINALS)} at most at once")
        self.notes.append(f"'every {thing.name}' was taken for those that are known: {count}")
        return replace(thing, count=count, plural="")

    def _with_relation(self, meaning: ClauseMeaning) -> ClauseMeaning:
        """Return "the mug next to the plate" onto a shelf where no known plate is on one: it says which mug."""
        what, _, landmark = meaning.place.partition(NEXT_TO)
        ours = not landmark or what in BESIDE or len(meaning.things) != 1 or meaning.things[0].pronoun
        if ours or relation_of(meaning.things[0].name) is not None or self._remembered.may_be_on(landmark, what):
            return meaning
        return replace(meaning, things=(meaning.things[0].standing(f"next to {landmark}", False),), place=what)

    def _move(self, meaning: ClauseMeaning) -> None:
        meaning = self._with_relation(meaning)
        place = meaning.place or (BIN if meaning.deed is Verb.BIN else "")
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
        if noun(place) in DOORS and "on top of" in meaning.said:
            raise PlanningError(f"nothing can be put on top of a {noun(place)}: name another place")
        if noun(place) in ("floor", "ground"):
            raise PlanningError(f"nothing can be put on the floor: name another place, or say 'throw {moved[0]}'")
        for thing in meaning.things:
            refuse_fixed(thing.name)
            self._fill_with(thing)
            for number, name in enumerate(thing.names):
                self._waiting = [each for each in self._waiting if each != name]
                (ready,) = self._ready(replace(thing, name=name, count=1, inside=()))
                self.hand.take(ready, meaning.source if not number else "")
                if noun(place) in LAMPS | ROOMS or is_floor_word(place):
                    self.hand.go(place)
                    self.hand.device = place
                else:
                    self.hand.put(ready, place)
                    self._moved.add(name)
        self._vessel = place if noun(place) in VESSELS else ""
        if meaning.then:
            refuse_fixed(place)
            self.hand.take(place)
            self.hand.put(place, meaning.then)

    def _hold(self, meaning: ClauseMeaning) -> None:
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

    def _fill_with(self, thing: DescribedThing) -> None:
        for each in thing.inside:
            for name in self._ready(each):
                self.hand.take(name)
                self.hand.put(name, thing.name)

    def _look(self, meaning: ClauseMeaning) -> None:
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

    def _explore(self, meaning: ClauseMeaning) -> None:
        where = meaning.place or " ".join(each.name for each in meaning.things) or self._at
        if not where:
            raise PlanningError("it is not said what to explore: name a room or an area")
        self.hand.call("Explore", where)

    def _find_source(self, meaning: ClauseMeaning) -> None:
        if meaning.source:
            self.hand.go(meaning.source)
            for thing in meaning.things:
                self.hand.came_from.update(dict.fromkeys(thing.names, meaning.source))


_ON_OFF = (Verb.ON, Verb.OFF, Verb.TOGGLE)
