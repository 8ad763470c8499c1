"""How likely a type is meant by a word for its kind or by what it is for: "dish", "cleaning tool", "something to eat".

By what WordNet calls it, all the way up ("a potato is a root vegetable, a vegetable, produce, food"), by what it says
of it ("a vase is used as an ornament"), and by how like the two are as vectors. Of a name of several words that WordNet
has not, the last one says what it is, and those before what it is of or for: a soap bar, a dish sponge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from kc_vla.memory.embedding.interface import Embedder, Vectors
from kc_vla.memory.recall.knowledge import Sense, senses
from kc_vla.memory.recall.words import stem
from kc_vla.memory.short_term.unit import spoken

_NAME, _SAID, _KIND, _WORDS, _ROLE = 0.7, 0.7, 0.5, 0.2, 0.4
"""How much counts: cosine with the name; with what is said of it; that it is such a kind; that it is said to be for it;
less where it cannot have that part in what is to be done: one cuts with no bread, and eats no fork."""
_BEFORE, _LATER, _ENDS, _STEPS = 0.4, 0.9, 0.8, 4
"""Weight of what a name says before its last word, of each less frequent meaning, and of a kind that only ends like the
word; words up from kind to kind beyond what the table has."""
_MOST_SENSES, _MOST_TEXTS, _MOST_TYPES = 4, 256, 4096
_PURPOSE = re.compile(
    r"^(?:\w*thing|what(?:ever)?|item|object|stuff)\b(?:.*?\bto\b|.*?\b(?:can|could|may|might)\b)(.*)$"
)
_WITH = frozenset({"with", "from", "by", "in", "on", "out", "into"})
_TOOLS = frozenset({"implement", "tool", "utensil", "container", "ware", "vessel", "instrument", "tableware", "device"})
_EATEN = frozenset({"food", "foodstuff"})
_PIECE = re.compile(r"^(?:piece|item|kind) of ")


class _Type(NamedTuple):
    called: frozenset[str]
    own: Vectors
    said: Vectors
    weights: Vectors
    senses: tuple[Sense, ...]


class Kinds:
    """Compares texts and types, each of which is embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        """Prepare to find kinds of things.

        Args:
            embedder: of sentences.
        """
        self._embedder = embedder
        self._types: dict[str, _Type] = {}
        self._texts: dict[str, dict[str, float]] = {}

    def scores(self, text: str, types: Iterable[str]) -> Mapping[str, float]:
        """Return how likely each type is meant by a text that names none; numbers compare for one text alone."""
        if len(self._texts) >= _MOST_TEXTS and text not in self._texts:
            del self._texts[next(iter(self._texts))]
        known = self._texts.setdefault(text, {})
        names = tuple(dict.fromkeys(types))
        missing = [name for name in names if name not in known]
        if missing:
            if len(known) + len(missing) > _MOST_TYPES:
                known.clear()
                missing = list(names)
            asked = _Asked(text.lower(), self._embedder.embed([text])[0])
            known.update((name, asked.score(each)) for name, each in self._known(missing).items())
        return {name: known[name] for name in names}

    def _known(self, names: Sequence[str]) -> Mapping[str, _Type]:
        """Return the types by name; what is said of those that are new is embedded all at once."""
        new = {name: _meanings(spoken(name)) for name in names if name not in self._types}
        said = {name: [called, *(each.sentence(called) for each, _ in found)] for name, (called, found) in new.items()}
        vectors = self._embedder.embed(list(chain.from_iterable(said.values())))
        for name, (called, found) in new.items():
            own, vectors = np.split(vectors, [len(said[name])])
            weights = np.array([weight for _, weight in found], np.float32)
            self._types[name] = _Type(_stems(called), own[0], own[1:], weights, tuple(each for each, _ in found))
        known = {name: self._types[name] for name in names}
        while len(self._types) > _MOST_TYPES:
            del self._types[next(iter(self._types))]
        return known


class _Asked:
    def __init__(self, text: str, vector: Vectors) -> None:
        purpose = _PURPOSE.match(text)
        self._vector, self._said = vector, _stems(text)
        self._verb = purpose.group(1).split() if purpose is not None else []
        self._name = _PIECE.sub("", text) if purpose is None else ""
        meant = [each for each in senses(self._name)[:2] if self._name in each.words.split(", ")]
        self._names = {self._name, *(word for each in meant for word in each.words.split(", "))} - {""}
        self._words = {stem(word) for each in self._names or self._verb for word in each.split()} - _WITH

    def score(self, kind: _Type) -> float:
        score = _NAME * float(kind.own @ self._vector) + _KIND * (kind.called <= self._said)
        if not kind.senses:
            return score
        score += _SAID * float(((kind.said @ self._vector) * kind.weights).max())
        fits = [self._fit(sense) for sense in kind.senses]
        score += max(
            float(weight) * (_KIND * called + _WORDS * said)
            for (called, said), weight in zip(fits, kind.weights, strict=True)
        )
        kinds = {word for sense in kind.senses for word in _above(sense)}
        used = bool(self._verb) and self._verb[-1] in _WITH
        if self._verb and (kinds & _EATEN if used else kinds & _TOOLS):
            score -= _ROLE
        return score

    def _fit(self, sense: Sense) -> tuple[float, float]:
        """Return how well a meaning has the name, and how well its description fits, 0..1."""
        called = _above(sense)
        fit = 1.0 if called & self._names else _ENDS if any(self._ends(each) for each in called) else 0.0
        said = {stem(word) for word in re.findall(r"\w+", sense.said)}
        return fit, len(self._words & said) / max(1, len(self._words))

    def _ends(self, called: str) -> bool:
        return bool(self._name) and called.endswith(f" {self._name}")


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in re.findall(r"\w+", text.lower()))


def _meanings(name: str) -> tuple[str, list[tuple[Sense, float]]]:
    """Return a name in words, and what it can mean, each with a weight."""
    words = _split(name)
    found = senses(" ".join(words))[:_MOST_SENSES]
    meant = [(sense, _LATER**at) for at, sense in enumerate(found)]
    whole = {" ".join(words), "".join(words), "-".join(words)}
    if not any(whole & set(sense.words.lower().split(", ")) for sense in found):
        meant += [(sense, _BEFORE) for word in words[:-1] for sense in senses(word)[:2]]
    return " ".join(words), meant


def _split(name: str) -> list[str]:
    """Return the words of a name; "glassbottle" has two."""
    if " " in name or senses(name):
        return name.split()
    parts = ((name[:at], name[at:]) for at in range(3, len(name) - 2))
    return next(([one, other] for one, other in parts if senses(one) and senses(other)), [name])


@lru_cache(maxsize=4096)
def _above(sense: Sense) -> frozenset[str]:
    """Return all that a meaning is called, and that its kinds are called."""
    called = [word for word in (*sense.words.split(", "), *sense.kinds.split(", ")) if word]
    if not sense.kinds:
        return frozenset(called)
    for _ in range(_STEPS):
        further = [each for each in senses(called[-1]) if called[-1] in each.words.split(", ") and each.kinds]
        if not further:
            break
        called += [each for each in further[0].kinds.split(", ") if each not in called]
    return frozenset(called)
