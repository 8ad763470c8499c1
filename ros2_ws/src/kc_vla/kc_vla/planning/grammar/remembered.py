"""What planners by grammar know about things: whether there is one that is as the instruction says, and how many."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from kc_vla.memory.recall.words import COLOURS, stem
from kc_vla.memory.references.fits import Fit, fits, held_by
from kc_vla.memory.references.likely_places import vocabulary
from kc_vla.memory.references.naming import Named, Tier, readings, tier_of
from kc_vla.memory.references.reference import Reference, read_related
from kc_vla.memory.things import ObservedThing, known_of
from kc_vla.planning.grammar.lexicon import ADJECTIVES, TOLD, Verb, noun

_COLOURS = frozenset(map(stem, COLOURS))
_GENERIC = frozenset({"thing", "item", "object", "stuff", "food", "fruit", "vegetable", "good"})
_SEVERAL = 3
"""Types that a word for a kind stands for, at least: a "glass" is one thing, as people say it."""
_CALLED = frozenset({Tier.KIND, Tier.HEAD, Tier.SYNONYM, Tier.EXACT})


class RememberedThings:
    """The remembered things that a plan by grammar depends on."""

    def __init__(self, known: Sequence[ObservedThing] = (), recalled: str = "") -> None:
        """Take what the memories hold for a plan.

        Args:
            known: things.
            recalled: where there are none: what a memory has in words, a thing a line.
        """
        self._known = tuple(known)
        self._lines = () if known else tuple(recalled.lower().splitlines())

    def is_so(self, name: str, states: Sequence[Verb]) -> bool:
        """Return whether a thing is known that is called so and is in all of these states."""
        said = noun(name)
        if any(said in line and all(re.search(TOLD[each], line) for each in states) for line in self._lines):
            return True
        wanted = [read_related(f"{ADJECTIVES[each]} {name}") for each in states]
        return any(all(_fit(each, seen) is Fit.YES for each in wanted) for seen in self._known)

    def may_be_on(self, name: str, place: str) -> bool:
        """Return whether a thing that is called so may be on or in a place, as far as is known."""
        reference = read_related(name)
        known = [each for each in self._known if _fit(reference, each) is not Fit.NO]
        return not known or any(
            not each.movable or not each.container or held_by(place, each.container) for each in known
        )

    def count(self, name: str) -> int:
        """Return how many things are known that are called so."""
        reference = read_related(name)
        return sum(_fit(reference, seen) is Fit.YES for seen in self._known)


def _fit(reference: Reference, seen: ObservedThing) -> Fit:
    found = (_named(words, said, seen) for words, said in readings(reference.words))
    named = next((each for each in found if each is not None), None)
    return Fit.NO if named is None else fits(reference, named, known_of(seen, 0.0))


def _named(words: tuple[str, ...], said: tuple[str, ...], seen: ObservedThing) -> Named | None:
    if tier_of(words, seen.object_type) not in _CALLED:
        return None
    return Named({seen.object_type: 1.0}, frozenset(said), frozenset(said) & _COLOURS)


@lru_cache(maxsize=1024)
def is_kind(name: str) -> bool:
    """Return whether a name says of what kind a thing is and not what it is: "red food", and not "tomato"."""
    if noun(name) in _GENERIC:
        return True
    tiers = list(_tiers(noun(name)))
    return len(tiers) >= _SEVERAL and max(tiers) is Tier.KIND


def _tiers(last: str) -> Iterator[Tier]:
    for each in vocabulary():
        if tier := tier_of((stem(last),), each):
            yield tier
