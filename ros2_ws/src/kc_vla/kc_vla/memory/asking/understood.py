"""A question with the things that are remembered, and what the answers to all questions have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kc_vla.memory.asking.answer import MemoryAnswer, unknown
from kc_vla.memory.asking.meaning import MeantThings
from kc_vla.memory.asking.meant import NameFinder, plain_name
from kc_vla.memory.asking.question import MemoryQuestion, Order
from kc_vla.memory.asking.telling import evidence_of, listed
from kc_vla.memory.references.spatial import Spatial, related
from kc_vla.memory.things import KnownThing


def sure_of(found: MeantThings, most: int = 3) -> float:
    """Return the confidence that what is said of some things, the first ones above all, is right, 0..1."""
    return found.trust * min((each.confidence for each in found.things[:most]), default=0.0)


@dataclass(frozen=True)
class Understood:
    """A question, and the memory that answers it.

    Attributes:
        question: the checked question.
        finder: finds the remembered things that a name means.
        looked: time of the last look at each place, s.
    """

    question: MemoryQuestion
    finder: NameFinder
    looked: Mapping[str, float]

    @property
    def specific(self) -> bool:
        """Return whether the question says more of what it is about than where it is."""
        question = self.question
        return bool(question.thing or question.states or question.not_states or question.colour)

    def meant(self) -> MeantThings:
        """Return the things that it is about.

        Raises:
            UnknownNameError: a place that it names is unknown.
        """
        found = self.finder.meant(self.question)
        near = self.question.order in (Order.NEAREST, Order.FARTHEST)
        place = self.question.place
        if place is None or self.question.action or (near and place.preposition == "next to"):
            return found
        return self.finder.placed(found, place)

    def ordered(self, found: MeantThings) -> MeantThings:
        """Return things in the order in which an answer names them; only one where the nearest is asked for.

        Raises:
            UnknownNameError: it is to be near to something unknown.
        """
        order, around = self.question.order, self.finder.around
        if order not in (Order.NEAREST, Order.FARTHEST):
            return _sorted(found)
        place = self.question.place
        others: tuple[KnownThing, ...] = ()
        if place is not None and place.preposition == "next to":
            others = self.finder.holders(place).things
        here = around.areas.get(around.at)
        if not others and here is None:
            return replace(
                _sorted(found), certainty=found.certainty * 0.4, notes=(*found.notes, "nobody knows where I am")
            )
        view = None if here is None else around.viewpoint(here.position)
        relation = Spatial.NEAREST if order is Order.NEAREST else Spatial.FARTHEST
        first = related(found.things, relation, others, view)[:1]
        return replace(found, sure=tuple(first), maybe=(), certainty=found.trust * 0.95)

    def none(self, found: MeantThings) -> MemoryAnswer:
        """Return the honest answer where nothing is known that fits."""
        question = self.question
        if question.action and not question.thing:
            return unknown(f"I do not remember that anything was {question.action}.")
        name = plain_name(question.thing) or "thing"
        said = " ".join((*sorted(question.states), question.colour)).strip()
        where = f" {question.place}" if question.place else ""
        text = f"I do not know of any {name}{f' that is {said}' if said else ''}{where}"
        others = found.unstated or self.elsewhere()
        if others:
            told = "but not whether that is so" if found.unstated else "but elsewhere"
            return replace(
                unknown(f"{text}. I know of {listed(others)}, {told}."), found=evidence_of(self.finder, others)
            )
        return unknown(f"{text}.")

    def elsewhere(self) -> tuple[KnownThing, ...]:
        """Return the things of that name wherever they are."""
        if not self.question.thing or self.question.place is None:
            return ()
        return self.finder.meant(self.question).things


def _sorted(found: MeantThings) -> MeantThings:
    def newest(some: tuple[KnownThing, ...]) -> tuple[KnownThing, ...]:
        return tuple(sorted(some, key=lambda each: (-each.handled, -each.confidence, -each.seen_s, each.object_id)))

    return replace(found, sure=newest(found.sure), maybe=newest(found.maybe))
