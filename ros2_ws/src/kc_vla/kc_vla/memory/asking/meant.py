"""Which known things a question is about: by name, state, color, place, distance, and what was done with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kc_vla.memory.asking.building import with_place
from kc_vla.memory.asking.meaning import UNKNOWN_WORD, MeantThings, Remembered, UnknownNameError
from kc_vla.memory.asking.names import CalledTypes, loosely_called, types_called
from kc_vla.memory.asking.noun_phrases import is_anything
from kc_vla.memory.asking.question import IN_HAND, MemoryQuestion, PlacePhrase
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.long_term.relations import IN_HAND as IN_GRIP
from kc_vla.memory.long_term.relations import PLACE
from kc_vla.memory.references.fits import Fit, fits
from kc_vla.memory.references.reference import Reference, read
from kc_vla.memory.references.rows import RowPlace, alike, in_row, row_place
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
_SAYS_MORE = re.compile(r" (with|without|for|made of|belonging to|who|whose|that|which) ")


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

    def meant(self, question: MemoryQuestion) -> MeantThings:
        """Return the things that a question is about, without its place, action and order.

        Raises:
            UnknownNameError: a place that it names is unknown.
        """
        found = self.named(question.thing)
        return found.stated(question.states, question.not_states, question.colour)

    def named(self, name: str) -> MeantThings:
        """Return the things of that name; all of them for an empty one.

        Raises:
            UnknownNameError: a place that it names is unknown.
        """
        if not name:
            return MeantThings(tuple(self.things))
        if (own := self._by_id(name)) is not None:
            return MeantThings((own,), named=(own.object_type,))
        head, place = with_place(name)
        if place is not None and is_anything(head):
            return self.placed(MeantThings(tuple(self.things)), place)
        if (nameless := _THINGS.match(name)) is not None:
            name = f"something {nameless[1]}"
        reference = read(singular(name))
        if reference.vague or reference.unknown or (reference.purpose and _WANTED.search(name)):
            return self._of(reference)
        head, more, _ = _SAYS_MORE.split(name, maxsplit=1) if _SAYS_MORE.search(name) else (name, "", "")
        if more:  # "the mug with the handle": nobody knows
            found = self.named(head)
            return replace(found, certainty=found.certainty * UNKNOWN_WORD)
        head, place = with_place(name)
        if place is not None:
            return self.placed(self.named(head), place)
        return self._owned(name) or self._of(reference)

    def placed(self, found: MeantThings, place: PlacePhrase) -> MeantThings:
        """Return those of some things that are in a place.

        Raises:
            UnknownNameError: the place is unknown.
        """
        if names_hand(place):
            return found.only([each for each in found.all if is_held(each)])
        if (row := row_place(str(place))) is not None:
            return self._in_row(found, row)
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

    def holders(self, place: PlacePhrase) -> MeantThings:
        """Return the things that a place names.

        Raises:
            UnknownNameError: it names none that is known.
        """
        if place.preposition == "between":
            one, _, other = place.name.partition(" and ")
            parts = [self.named(each) for each in (one, other) if each]
            found = MeantThings(tuple(each for part in parts for each in part.things[:1]), certainty=0.8)
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

    def _in_row(self, found: MeantThings, row: RowPlace) -> MeantThings:
        """Return the thing at a place of the row that some things make; none where they make none."""
        things = found.things if found.named else alike(found.things)
        view = self.around.viewpoint(things[0].position) if things else None
        thing = in_row(things, row, view)
        return found.only([] if thing is None else [thing])

    def _by_id(self, name: str) -> KnownThing | None:
        plain = name.lower().removeprefix("the ")
        return next((each for each in self.things if each.object_id.lower() == plain), None)

    def _owned(self, name: str) -> MeantThings | None:
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

    def _in(self, found: MeantThings, areas: frozenset[str]) -> MeantThings:
        return found.only([each for each in found.all if each.area in areas])

    def _of(self, reference: Reference) -> MeantThings:
        called = types_called(reference, self._types, self._namer)
        found = self._fitting(reference, called)
        if not found.things and reference.words and called.named.types:
            loose = self._fitting(reference, loosely_called(reference, self._types))
            if loose.things:
                note = f"I know of no {plain_name(reference.text)} but of something like it"
                return replace(loose, named=found.named, notes=(note,))
        return found

    def _fitting(self, reference: Reference, called: CalledTypes) -> MeantThings:
        bare = replace(reference, states=frozenset(), not_states=frozenset(), also=frozenset())
        if reference.done:
            bare = reference
        scored = [(each, fits(bare, called.named, each)) for each in self.things]
        found = MeantThings(
            tuple(each for each, fit in scored if fit is Fit.YES),
            tuple(each for each, fit in scored if fit is Fit.MAYBE),
            certainty=called.certainty,
            named=tuple(called.named.types) if not called.named.by_kind else tuple(called.named.likely),
            notes=(called.note,) if called.note else (),
        )
        if reference.further:
            found = _further(found, reference)
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


def _further(found: MeantThings, reference: Reference) -> MeantThings:
    """Return what "mug 2" and "another mug" mean: the thing of that number, or those beyond the first ones."""
    if reference.text[-1:].isdigit():
        end = f"_{reference.further + 1}"
        return found.only([each for each in found.all if each.object_id.endswith(end)])
    rest = sorted(found.things, key=lambda each: each.object_id)[reference.further :]
    return replace(found.only(rest), certainty=found.certainty * UNKNOWN_WORD)


def plain_name(name: str) -> str:
    """Return a name without its article: "red mug"."""
    return re.sub(r"^(?:(?:the|an?|my|our|your|any|some|of) )+", "", spoken(name) if " " not in name else name)
