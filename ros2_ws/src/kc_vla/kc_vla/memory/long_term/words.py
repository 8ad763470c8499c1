"""Objects by the words that are said of them; a meaning beyond words comes from an embedding that is passed in."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.nodes import SceneObject

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to their vectors, (N, D)."""
_TYPE, _SAID, _ID = 1.0, 0.8, 0.6
"""What a word counts, by where it is found."""
_MOST_WORDS = 300
"""Most words of one object that are compared."""
_SMALL = "a an and any are at can for from get give have in is it me my of on or some that the this to with"
_IDLE = frozenset(_SMALL.split())
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


class Words:
    """The words of the objects of one graph, kept up with it."""

    def __init__(self, embed: Embed | None = None) -> None:
        """Prepare to compare texts.

        Args:
            embed: for meanings that share no word; None: words alone count.
        """
        self._embed = embed
        self._known: dict[str, SceneObject] = {}
        self._words: dict[str, dict[str, float]] = {}
        self._having: defaultdict[str, set[str]] = defaultdict(set)
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def scores(self, objects: Mapping[str, SceneObject], text: str) -> dict[str, float]:
        """Return how well each object fits a text, 0..1, by its id; those that do not at all are left out.

        By words alone: the share of the text that is said of the object, where a word counts the more the fewer
        objects have it, and one that none has as much as one that a single object has: of two mugs, neither of them
        green, none is all that "green mug" asks for. With an embedding: the mean of that and the cosine.

        Raises:
            GraphError: the embedding gave something else than a finite vector for each text.
        """
        self._keep_up(objects)
        asked = set(words_of(text)) - _IDLE
        having = {word: self._having.get(word, set()) for word in asked}
        weights = {word: math.log(1 + len(self._words) / max(len(names), 1)) for word, names in having.items()}
        whole = sum(weights.values())
        found: defaultdict[str, float] = defaultdict(float)
        for word, weight in weights.items():
            for name in having[word]:
                found[name] += weight * self._words[name][word] / whole
        if self._embed is None:
            return dict(found)
        near = self._likeness(objects, text)
        return {
            name: (found.get(name, 0.0) + max(near[name], 0.0)) / 2
            for name in objects
            if found.get(name) or near[name] > 0
        }

    def _keep_up(self, objects: Mapping[str, SceneObject]) -> None:
        gone = [name for name in self._known if name not in objects]
        changed = [each for name, each in objects.items() if self._known.get(name) is not each]
        for name in (*gone, *(each.id for each in changed if each.id in self._known)):
            del self._known[name]
            for word in self._words.pop(name):
                self._having[word].discard(name)
                if not self._having[word]:
                    del self._having[word]
        for each in changed:
            self._known[each.id] = each
            self._words[each.id] = words = _weighted(each)
            for word in words:
                self._having[word].add(each.id)

    def _likeness(self, objects: Mapping[str, SceneObject], text: str) -> dict[str, float]:
        texts = {name: text_of(each) for name, each in objects.items()}
        wanted = dict.fromkeys(texts.values())
        self._vectors = {known: vector for known, vector in self._vectors.items() if known in wanted}
        missing = [each for each in wanted if each not in self._vectors]
        vectors = self._embedded([text, *missing])
        self._vectors.update(zip(missing, vectors[1:], strict=True))
        likeness = np.stack([self._vectors[each] for each in wanted]) @ vectors[0] if wanted else np.zeros(0)
        by_text = dict(zip(wanted, likeness.tolist(), strict=True))
        return {name: by_text[each] for name, each in texts.items()}

    def _embedded(self, texts: list[str]) -> NDArray[np.float32]:
        assert self._embed is not None
        vectors = np.asarray(self._embed(texts), np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise GraphError(
                f"the embedding gave {vectors.shape} for {len(texts)} texts: it must give a vector for each"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12))


def words_of(text: str) -> list[str]:
    """Return the words of a text, in small letters and singular; "GarbageCan" and "garbage_can" are two words."""
    return [_singular(piece.lower()) for piece in _PIECE.findall(text[:20_000])[:_MOST_WORDS]]


def text_of(thing: SceneObject) -> str:
    """Return what is said of an object, to be embedded."""
    said = ", ".join(f"{name} {value}" for name, value in thing.attributes.items())
    return " ".join(part for part in (thing.state, " ".join(words_of(thing.object_type)), said) if part)


def _weighted(thing: SceneObject) -> dict[str, float]:
    said = f"{thing.state} {' '.join(f'{name} {value}' for name, value in thing.attributes.items())}"
    places = ((_ID, thing.id), (_SAID, said), (_TYPE, thing.object_type))
    return {word: weight for weight, text in places for word in words_of(text)}


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us")) else word
