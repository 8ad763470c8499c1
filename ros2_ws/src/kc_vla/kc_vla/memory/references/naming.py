"""Which types of things a name can stand for: by their words, by what WordNet calls them, and by their kinds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.recall.knowledge import senses
from kc_vla.memory.recall.recall import Recall
from kc_vla.memory.recall.words import COLOURS, stem
from kc_vla.memory.references.kinds import Kinds
from kc_vla.memory.references.likely_places import table, vocabulary
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.short_term.memory import LEAST_CAPACITY, MOST_CAPACITY, ShortTermMemory
from kc_vla.memory.short_term.unit import Position, Unit, spoken
from kc_vla.memory.things import ObservedThing

_SENSES, _VAGUE, _MOST_COLOURS = 2, 3, 100
"""Meanings of a type that are looked at, types that a reference without a name may stand for, and words for colors."""


_ALIKE, _BEHIND = 1.0, 0.15
"""Score from which a word that names no type that is known ("racquet") is taken for the type it is most like; and how
far behind the best one others are meant as well. Both chosen on thirty phrases of our own over the types of the
development scenes."""


_NEARLY, _LOOSELY, _ANY_KIND = 0.2, 0.8, 0.5
"""How far behind the type that is most of a kind others are still of it, rather and perhaps; and from which score a
word is one for a kind at all."""
_MOST_FIXED = 1000


class Tier(IntEnum):
    """How a name fits a type: "apple" is an apple, an "ice box" a fridge, a "lamp" a desk lamp, a "fruit" an apple."""

    NOT = 0
    KIND = 1
    PART = 2
    HEAD = 3
    SYNONYM = 4
    EXACT = 5


class Named(NamedTuple):
    """The types that a reference stands for, each with how likely it is meant.

    Attributes:
        types: each with its weight.
        said: the words that say more of it.
        colours: which of them are colors.
        by_kind: the types are all that are known, by how much they are of a kind or serve a purpose.
        least: a weight from which a type is meant ...
        least_handled: ... and one from which it is where the robot handled a thing of it.
    """

    types: Mapping[str, float]
    said: frozenset[str] = frozenset()
    colours: frozenset[str] = frozenset()
    by_kind: bool = False
    least: float = 0.0
    least_handled: float = 0.0

    @property
    def likely(self) -> Mapping[str, float]:
        """Return the types to look for."""
        return {name: weight for name, weight in self.types.items() if not self.by_kind or weight >= self.least}

    def close(self, object_type: str, handled: bool) -> bool:
        """Return whether a type is meant."""
        return self.types.get(object_type, -math.inf) >= (self.least_handled if handled else self.least)


def tier_of(words: tuple[str, ...], object_type: str) -> Tier:
    """Return how a name, as words without endings, fits a type."""
    return _tier(words, spoken(object_type))


def is_called(reference: Reference, object_type: str) -> bool:
    """Return whether a type, or its kind, is called as a reference says, or serves what it is wanted for."""
    said = (words for words, _ in readings(reference.words))
    return (
        reference.purpose is not None
        or reference.done
        or not (reference.words or reference.unknown)
        or any(tier_of(words, object_type) for words in said)
    )


class Namer:
    """Finds the types that references stand for, among those that homes have and those that are known.

    Attributes:
        embedder: of sentences.
    """

    def __init__(self, embedder: Embedder) -> None:
        """Prepare to find out which types a reference names.

        Args:
            embedder: for references that name nothing; have it cached.
        """
        self.embedder = embedder
        self._kinds = Kinds(embedder)
        self._colours = set(map(stem, COLOURS))
        self._fixed = {name for name, places in table().items() if not places}
        self._expected: tuple[str, ...] = ()

    def expect(self, types: Iterable[str]) -> None:
        """Learn which types a detector can report: a name of one of them means that one, also before it is seen."""
        self._expected = tuple(types)

    def notice(self, seen: Iterable[ObservedThing]) -> None:
        """Learn words for colors, and which types nobody carries, from what detectors report."""
        for each in seen:
            colour = each.attributes.get("colour", "")
            if colour and len(self._colours) < _MOST_COLOURS:
                self._colours.add(stem(colour.lower()))
            if not each.movable and len(self._fixed) < _MOST_FIXED:
                self._fixed.add(each.object_type)

    def named(self, reference: Reference, known: Iterable[str], loose: bool = False) -> Named:
        """Return the types that are meant; none where the reference says nothing.

        Args:
            reference: taken apart.
            known: types that are in sight or remembered.
            loose: also what ends like the name, and not only what it fits best: a butter knife for a knife.
        """
        types = tuple(dict.fromkeys((*known, *self._expected, *vocabulary())))
        if reference.done:
            return Named(dict.fromkeys(types, 1.0))
        for words, said in readings(reference.words):
            tiers = {name: tier for name in types if (tier := tier_of(words, name))}
            best = max(tiers.values(), default=Tier.NOT)
            if best >= Tier.HEAD or (tiers and not reference.carried):
                best = min(best, Tier.HEAD if loose else Tier.EXACT)
                meant = {name: float(tier) for name, tier in tiers.items() if tier >= best}
                return Named(meant, frozenset(said), frozenset(said) & self._colours)
            if tiers:
                break
        if reference.carried:
            return self._of_kind(reference, types, loose)
        if reference.vague:
            return Named(self._meant(reference.text, types, 0.0, loose))
        alike = self._meant(reference.text, types, _ALIKE, loose)
        return Named(alike or {reference.text: 1.0})  # a type that nobody has met yet: it may be found

    def _of_kind(self, reference: Reference, types: Sequence[str], loose: bool) -> Named:
        """Return all types that can be carried, by how much they are of a kind, or serve a purpose."""
        called = list(reference.called)
        said = set()
        while len(called) > (not reference.vague) and stem(called[0]) in self._colours:
            said.add(stem(called.pop(0)))
        if reference.purpose is not None:
            serve = [name for name in types if reference.purpose.can_be_served_by(name)]
            types = [name for name in serve if name not in self._fixed]
        scores = self._kinds.scores(" ".join(called) or reference.text, types)
        scores = {name: score for name, score in scores.items() if name not in self._fixed}
        if reference.purpose is not None:
            return Named(scores or {reference.text: 1.0}, frozenset(said), frozenset(said), True, -math.inf, -math.inf)
        best = max(scores.values(), default=0.0)
        if not reference.vague and best < _ANY_KIND:
            return Named({reference.text: 1.0})
        least = best - (_LOOSELY if loose else _NEARLY)
        words = tuple(map(stem, called))
        kinds = [name for name in scores if tier_of(words, name) is Tier.KIND]
        scores |= {name: max(scores[name], least) for name in kinds}
        values = np.array(list(scores.values()) or [0.0])
        handled = min(float(values.mean() - values.std() / 2), least)
        if any(score >= least and set(_stems(spoken(name))) <= set(reference.words) for name, score in scores.items()):
            handled = least  # "toilet paper roll": its type is said, and more
        elif not reference.vague and not kinds and _is_kind_of_something(" ".join(called)):
            handled = least  # "novel": a thing of its own, and no word for what others are
        elif reference.indefinite:
            handled = least  # "some fruit": any will do, and what was handled before is meant no more than others
        return Named(scores, frozenset(said), frozenset(said), True, least, handled)

    def _meant(self, text: str, types: Sequence[str], least: float, loose: bool) -> dict[str, float]:
        """Return the types that a text is most likely about, where it names none, each with its score."""
        if not text.strip():
            return {}
        memory = ShortTermMemory(min(max(len(types), LEAST_CAPACITY), MOST_CAPACITY), "fifo")
        recall = Recall(memory, self.embedder)
        for name in types:
            memory.observe(Unit(name, name, Position(0.0, 0.0, 0.0), 0.0))
        found = recall.ask(text, _VAGUE).found
        least = max(least, -math.inf if loose else found[0].score - _BEHIND)
        return {each.unit.object_type: each.score for each in found if each.score >= least}


def _is_kind_of_something(name: str) -> bool:
    """Return whether WordNet says what kind of thing is called so: of a novel a book; of a decoration nothing."""
    return any(each.kinds and name in each.words.split(", ") for each in senses(name)[:1])


def readings(words: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the parts of a name that may be the name of a type, the longest first.

    The words before a part, which say more, come with it.
    """
    if "of" in words:
        at = words.index("of")
        yield (*words[at + 1 :], *words[:at]), ()
        words, after = words[:at], words[at + 1 :]
    else:
        after = ()
    for first in range(len(words)):
        yield words[first:], (*words[:first], *after)


@lru_cache(maxsize=16384)
def _tier(words: tuple[str, ...], name: str) -> Tier:
    own = tuple(stem(word) for word in name.split())
    if not words or not own:
        return Tier.NOT
    if "".join(words) == "".join(own) or set(words) == set(own):
        return Tier.EXACT
    kinds = Tier.NOT
    for sense in senses(name)[:_SENSES]:
        called = {_stems(each) for each in sense.words.split(", ")}
        whole = any("".join(each) == "".join(own) for each in called)
        if words in called and whole:
            return Tier.SYNONYM
        if words in called or any(words == _stems(each)[-len(words) :] for each in sense.kinds.split(", ")):
            kinds = Tier.KIND
    if set(words) <= set(own):
        return Tier.HEAD if words[-1] == own[-1] else Tier.PART
    return kinds


def _stems(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in text.lower().split())
