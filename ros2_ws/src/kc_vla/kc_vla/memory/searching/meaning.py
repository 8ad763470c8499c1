"""The types of known things that a text names, by words, kinds, purposes, or what it is most like."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.recall.knowledge import senses
from kc_vla.memory.recall.words import COLOURS, stem
from kc_vla.memory.recall.words import words as meaningful
from kc_vla.memory.references.kinds import Kinds
from kc_vla.memory.references.names import plain
from kc_vla.memory.references.naming import Named, Namer, Tier, readings, tier_of
from kc_vla.memory.references.reference import Reference, read

_MOST_KEPT = 256
"""Texts whose meanings are kept."""
_LEAST_NAMELESS, _LEAST_NAMED, _LEAST_OWN, _BEHIND = 0.45, 0.6, 0.75, 0.2
"""Scores of `Kinds` below which a guess is no answer, for what has no name ("something sharp"), for a name that no type
has, and for one of which WordNet knows that it is a thing of its own ("trumpet"); how far behind the best type others
are meant as well. Chosen on the development phrases."""


class How(Enum):
    """How a text names types."""

    NAMED = "named"
    """By a word for the type, or one that means the same."""
    PURPOSE = "purpose"
    """By a purpose of which it is known what serves it."""
    KIND = "kind"
    """By a word for a kind of things."""
    GUESSED = "guessed"
    """By what its words are most like."""
    ANY = "any"
    """It says nothing of the type: "something red"."""


@dataclass(frozen=True)
class Meaning:
    """What a text means.

    Attributes:
        reference: the text, taken apart.
        named: the types that it stands for.
        how: it names them.
        score: of the best type ...
        lead: ... and how far it is ahead of the next one.
    """

    reference: Reference
    named: Named
    how: How
    score: float = 1.0
    lead: float = 0.0

    @property
    def best(self) -> float:
        """Return the weight of the likeliest type."""
        return max(self.named.types.values(), default=0.0)


class Meanings:
    """Finds out what texts mean, each once for the same types."""

    def __init__(self, embedder: Embedder, namer: Namer | None = None) -> None:
        """Compare texts and types.

        Args:
            embedder: for what shares no word; have it cached.
            namer: of a robot; None: a new one.
        """
        self._namer, self._kinds = namer or Namer(embedder), Kinds(embedder)
        self._kept: OrderedDict[tuple[str, frozenset[str]], Meaning] = OrderedDict()

    def of(self, text: str, types: Iterable[str]) -> Meaning:
        """Return what a text means where there are things of these types."""
        known = tuple(types)
        key = text, frozenset(known)
        if (meaning := self._kept.get(key)) is None:
            meaning = self._kept[key] = self._find(read(text), known)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return meaning

    def is_whole_name(self, text: str, types: Iterable[str]) -> bool:
        """Return whether a text as a whole is the name of a type."""
        words = tuple(stem(word) for word in text.lower().split())
        return any(tier_of(words, name) is Tier.EXACT for name in types)

    def _find(self, reference: Reference, known: Sequence[str]) -> Meaning:
        if reference.purpose is not None:
            reference = replace(reference, carried=True)
            return Meaning(reference, self._namer.named(reference, known), How.PURPOSE)
        if not meaningful(reference.text) or (reference.vague and not reference.unknown):
            colours = _colours(reference)
            return Meaning(reference, Named(dict.fromkeys(known, 1.0), colours, colours), How.ANY)
        tier = max((tier_of(words, name) for words, _ in readings(reference.words) for name in known), default=Tier.NOT)
        if tier >= Tier.HEAD:
            return Meaning(reference, self._namer.named(reference, known, loose=True), How.NAMED)
        return self._guessed(reference, known, tier)

    def _guessed(self, reference: Reference, known: Sequence[str], tier: Tier) -> Meaning:
        """Return what a text means that names no type: those that are most of a kind, or most like it."""
        said = [word for word in plain(reference.text).lower().split() if word not in COLOURS]
        scores = self._kinds.scores(" ".join(said), known)
        best = max(scores.values(), default=0.0)
        how = How.KIND if tier > Tier.NOT else How.GUESSED
        if best < _least_score(reference, tier):
            return Meaning(reference, Named({}), how)
        types = {name: score for name, score in scores.items() if score >= best - _BEHIND}
        colours = _colours(reference)
        return Meaning(reference, Named(types, colours, colours), how, *_first_two(scores.values()))


def _least_score(reference: Reference, tier: Tier) -> float:
    """Return the score from which a guess is an answer."""
    if reference.vague:
        return _LEAST_NAMELESS
    name = reference.called[-1] if reference.called else ""
    own = tier is Tier.NOT and any(name in each.words.split(", ") for each in senses(name))
    return _LEAST_OWN if own else _LEAST_NAMED


def _colours(reference: Reference) -> frozenset[str]:
    return frozenset(stem(word) for word in reference.called if word in COLOURS)


def _first_two(weights: Iterable[float]) -> tuple[float, float]:
    """Return the largest weight, and how far it is ahead of the next one."""
    best = sorted(weights, reverse=True)[:2]
    return (best[0], best[0] - best[-1]) if best else (0.0, 0.0)
