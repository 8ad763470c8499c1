"""Which known things a question is about: by name, state, color, place, distance, and what was done with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Protocol

from kc_vla.core.errors import StackError
from kc_vla.memory.asking.building import with_place
from kc_vla.memory.asking.names import CalledTypes, loosely_called, types_called
from kc_vla.memory.asking.question import IN_HAND, MemoryQuestion, PlacePhrase
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.long_term.relations import IN_HAND as IN_GRIP
from kc_vla.memory.long_term.relations import PLACE
from kc_vla.memory.references.fits import OPPOSITE, Fit, fits
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.references.reference import Reference, read
from kc_vla.memory.references.spatial import Spatial, related
from kc_vla.memory.short_term.unit import spoken
from kc_vla.memory.things import HELD, KnownThing

_WANTED = re.compile(r"\b(?:to|for|can|could|that|which)\b")
_OWNER = re.compile(r"^(?:the |my |our )?(?P<o>.+?)(?:'s|s') (?P<n>.+)$")
_OF = re.compile(r"^(?P<n>.+) (?:of|from) (?:the |my |our )?(?P<o>.+)$")
_PLURALS = tuple(
    (re.compile(plural), single)
    for plural, single in (
        (r"\bknives\b", "knife"),
        (r"\bshelves\b", "shelf"),
        (r"\bloaves\b", "loaf"),
        (r"\bleaves\b", "leaf"),
        (r"\b(cd|dvd|tv|pc|pen|can|mug|cup|pan|pot|egg|bed|box)(?:e?s)\b", r"\1"),
    )
)
_HAND = re.compile(r"^(?:your|my|the|the robot's) (?:hands?|gripper|grip)$")
_SEEN_FROM = frozenset({Spatial.LEFT_OF, Spatial.RIGHT_OF, Spatial.IN_FRONT_OF, Spatial.BEHIND})
_THINGS = re.compile(r"^(?:(?:the|all|any|some) )*([\w ]+?) (?:things?|items?|objects?|stuff|ones?)$")
_UNKNOWN_WORD = 0.5
"""Certainty where a word of the name is nowhere known of the thing: "the coffee mug"."""


class UnknownNameError(StackError):
    """A question names something that nobody knows; the text is an honest answer."""


class Remembered(Protocol):
    """What is asked: a memory of a robot, or one of its parts."""

    namer: Namer

    @property
    def looked(self) -> dict[str, float]:
        """Return when each area and each container was looked at or into last, s."""
        ...

    def things(self) -> Sequence[KnownThing]:
        """Return all that is remembered, each once."""
        ...


@dataclass(frozen=True)
class Meaning:
    """What a name means.

    Attributes:
        sure: the things that fit.
        maybe: those of which not every word is known that was said.
        unstated: those of which nobody knows whether they are in the states, or have the color, that was said.
        certainty: that the name means them, 0..1.
        named: the types that it stands for.
        notes: what was taken otherwise than it was said.
    """

    sure: tuple[KnownThing, ...] = ()
    maybe: tuple[KnownThing, ...] = ()
    unstated: tuple[KnownThing, ...] = ()
    certainty: float = 1.0
    named: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def things(self) -> tuple[KnownThing, ...]:
        """Return the things that fit, or, where there are none, those that may."""
        return self.sure or self.maybe

    @property
    def all(self) -> tuple[KnownThing, ...]:
        """Return all of them."""
        return (*self.sure, *self.maybe, *self.unstated)

    @property
    def trust(self) -> float:
        """Return how certain it is that these things are meant."""
        return self.certainty if self.sure or not self.maybe else self.certainty * _UNKNOWN_WORD

    def only(self, kept: Iterable[KnownThing]) -> Meaning:
        """Return it with those things alone."""
        ids = {each.object_id for each in kept}

        def of(some: tuple[KnownThing, ...]) -> tuple[KnownThing, ...]:
            return tuple(each for each in some if each.object_id in ids)

        return replace(self, sure=of(self.sure), maybe=of(self.maybe), unstated=of(self.unstated))

    def stated(self, states: Set[str], not_states: Set[str] = frozenset(), colour: str = "") -> Meaning:
        """Return it with what is in the states, and has the color; what may be is set apart."""

        def of(some: tuple[KnownThing, ...], wanted: Fit) -> tuple[KnownThing, ...]:
            return tuple(each for each in some if state_fit(each, states, not_states, colour) is wanted)

        apart = (*of((*self.sure, *self.maybe), Fit.MAYBE), *of(self.unstated, Fit.YES), *of(self.unstated, Fit.MAYBE))
        return replace(self, sure=of(self.sure, Fit.YES), maybe=of(self.maybe, Fit.YES), unstated=apart)


def state_fit(thing: KnownThing, states: Set[str], not_states: Set[str], colour: str) -> Fit:
    """Return whether a thing is in all of some states, in none of some more, and has a color."""
    own = thing.attributes.get("colour", "")
    if (colour and own and spoken(own) != colour) or thing.states & not_states:
        return Fit.NO
    if any(OPPOSITE.get(each) in thing.states for each in states - thing.states):
        return Fit.NO
    excluded = all(OPPOSITE.get(each, each) in thing.states or each not in OPPOSITE for each in not_states)
    return Fit.YES if states <= thing.states and (own or not colour) and excluded else Fit.MAYBE


class NameFinder:
    """Finds what names mean among the things that are remembered at one moment."""

    def __init__(self, memory: Remembered, around: HomeSurroundings) -> None:
        """Take what is remembered now.

        Args:
            memory: that is asked.
            around: where the home's parts are, and the robot.
        """
        self.things = list(memory.things())
        self.by_id = {each.object_id: each for each in self.things}
        self.around, self._namer = around, memory.namer
        self._types = tuple(dict.fromkeys(each.object_type for each in self.things))

    def meant(self, question: MemoryQuestion) -> Meaning:
        """Return the things that a question is about, without its place, action and order.

        Raises:
            UnknownNameError: a place that it names is unknown.
        """
        found = self.named(question.thing)
        return found.stated(question.states, question.not_states, question.colour)

    def named(self, name: str) -> Meaning:
        """Return the things of that name; all of them for an empty one.

        Raises:
            UnknownNameError: a place that it names is unknown.
        """
        if not name:
            return Meaning(tuple(self.things))
        if (own := self._by_id(name)) is not None:
            return Meaning((own,), named=(own.object_type,))
        if (nameless := _THINGS.match(name)) is not None:
            name = f"something {nameless[1]}"
        reference = read(singular(name))
        if reference.vague or reference.unknown or (reference.purpose and _WANTED.search(name)):
            return self._of(reference)
        head, place = with_place(name)
        if place is not None:
            return self.placed(self.named(head), place)
        return self._owned(name) or self._of(reference)

    def placed(self, found: Meaning, place: PlacePhrase) -> Meaning:
        """Return those of some things that are in a place.

        Raises:
            UnknownNameError: the place is unknown.
        """
        if names_hand(place):
            return found.only([each for each in found.all if is_held(each)])
        areas = self.around.called(place.name) if place.preposition in ("", "in", "on") else None
        if areas is not None:
            return found.only([each for each in found.all if each.area in areas])
        others = self.holders(place)
        certain = replace(found, certainty=found.certainty * others.trust, notes=(*found.notes, *others.notes))
        pool = found.all
        if place.preposition in ("in", "on"):
            ids = {each.object_id for each in others.things}
            return certain.only([each for each in pool if ids & set(self.chain(each))])
        return certain.only(self._related(pool, Spatial(place.preposition), others.things))

    def holders(self, place: PlacePhrase) -> Meaning:
        """Return the things that a place names.

        Raises:
            UnknownNameError: it names none that is known.
        """
        if place.preposition == "between":
            one, _, other = place.name.partition(" and ")
            parts = [self.named(each) for each in (one, other) if each]
            found = Meaning(tuple(each for part in parts for each in part.things[:1]), certainty=0.8)
        else:
            found = self.named(place.name)
        if not found.things:
            raise UnknownNameError(f"I do not know of any {plain_name(place.name)}")
        return found

    def chain(self, thing: KnownThing) -> list[str]:
        """Return the ids of all that a thing is on or in, the nearest first."""
        found: list[str] = []
        holder = thing.container
        while holder and holder not in found:
            found.append(holder)
            above = self.by_id.get(holder)
            holder = "" if above is None else above.container
        return found

    def _related(
        self, pool: Sequence[KnownThing], relation: Spatial, others: Sequence[KnownThing]
    ) -> Sequence[KnownThing]:
        if relation is Spatial.BETWEEN and len(others) < 2:
            raise UnknownNameError("say between which two things")
        if relation is Spatial.BETWEEN:
            return related(pool, relation, others, None)
        found: dict[str, KnownThing] = {}
        for other in others:
            view = self.around.viewpoint(other.position)
            if view is None and (area := self.around.areas.get(other.area)) is not None:
                view = replace(self.around, at=area.id).viewpoint(other.position)
            if view is None and relation in _SEEN_FROM:
                raise UnknownNameError(f"I do not know from where to look at {other.object_id}")
            found |= {each.object_id: each for each in related(pool, relation, [other], view)}
        return list(found.values())

    def _by_id(self, name: str) -> KnownThing | None:
        plain = name.lower().removeprefix("the ")
        return next((each for each in self.things if each.object_id.lower() == plain), None)

    def _owned(self, name: str) -> Meaning | None:
        """Return the things of a part of the home: "the kitchen's bin", "drawers of the hall", "kitchen sink"."""
        for pattern in (_OWNER, _OF):
            if (owned := pattern.match(name)) is not None and (areas := self.around.called(owned["o"])) is not None:
                return self._in(self.named(owned["n"]), areas)
        words = name.removeprefix("the ").split()
        for count in (1, 2):
            if len(words) > count and (areas := self.around.called(" ".join(words[:count]))):
                inside = self._in(self._of(read(singular(" ".join(words[count:])))), areas)
                if inside.things:
                    return inside
        return None

    def _in(self, found: Meaning, areas: frozenset[str]) -> Meaning:
        return found.only([each for each in found.all if each.area in areas])

    def _of(self, reference: Reference) -> Meaning:
        called = types_called(reference, self._types, self._namer)
        found = self._fitting(reference, called)
        if not found.things and reference.words and called.named.types:
            loose = self._fitting(reference, loosely_called(reference, self._types))
            if loose.things:
                note = f"I know of no {plain_name(reference.text)} but of something like it"
                return replace(loose, named=found.named, notes=(note,))
        return found

    def _fitting(self, reference: Reference, called: CalledTypes) -> Meaning:
        bare = replace(reference, states=frozenset(), not_states=frozenset(), also=frozenset())
        if reference.done:
            bare = reference
        scored = [(each, fits(bare, called.named, each)) for each in self.things]
        found = Meaning(
            tuple(each for each, fit in scored if fit is Fit.YES),
            tuple(each for each, fit in scored if fit is Fit.MAYBE),
            certainty=called.certainty,
            named=tuple(called.named.types) if not called.named.by_kind else tuple(called.named.likely),
            notes=(called.note,) if called.note else (),
        )
        if reference.done:
            return found
        states = {state.value for state in reference.states} | reference.also
        return found.stated(states, {state.value for state in reference.not_states})


def names_hand(place: PlacePhrase) -> bool:
    """Return whether a place is the robot's hand."""
    return place.name == IN_HAND or _HAND.match(place.name) is not None


def is_held(thing: KnownThing) -> bool:
    """Return whether a thing is in the robot's hand."""
    return thing.relation == HELD or thing.attributes.get(PLACE) == IN_GRIP


def singular(name: str) -> str:
    """Return a name whose irregular plurals are singular: "knives" as "knife", "CDs" as "CD"."""
    for plural, single in _PLURALS:
        name = plural.sub(single, name)
    return name


def plain_name(name: str) -> str:
    """Return a name without its article: "red mug"."""
    return re.sub(r"^(?:(?:the|an?|my|our|your|any|some|of) )+", "", spoken(name) if " " not in name else name)
