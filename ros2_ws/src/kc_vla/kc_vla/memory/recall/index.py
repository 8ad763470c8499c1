"""What recall compares an instruction with: the units of a memory as vectors and words, kept up to date with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.embedding.interface import Embedder, EmbeddingError, Vectors
from kc_vla.memory.recall.knowledge import senses
from kc_vla.memory.recall.slots import SlotNumbers
from kc_vla.memory.recall.word_index import WordIndex
from kc_vla.memory.recall.words import words
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import ObjectState, Unit, plain

SENSES = 4
STATES = tuple(ObjectState)
_STATE_CODE = {state: code for code, state in enumerate(STATES)}


class _Entry(NamedTuple):
    """What the index holds of a unit, to take it out again."""

    unit: Unit
    sentences: tuple[str, ...]


def own_sentence(unit: Unit) -> str:
    """Return what a unit is, in words, but for its state and area, which are compared as what they are."""
    colour = unit.attributes.get("colour", "")
    others = (value for name, value in unit.attributes.items() if name != "colour")
    return ", ".join(plain(part) for part in (f"{colour} {unit.name}", *others) if part)


def own_words(unit: Unit) -> tuple[str, ...]:
    """Return the words of its name and of the values of its attributes."""
    return (*words(unit.name), *(word for value in unit.attributes.values() for word in words(value)))


@lru_cache(maxsize=4096)
def known_words(name: str) -> tuple[str, ...]:
    """Return the words of all that is known of a type of that name."""
    return tuple(dict.fromkeys(word for sense in senses(name) for part in sense for word in words(part)))


class UnitIndex:
    """Units by number, and arrays over those numbers. It costs what the memory holds, however much went through it."""

    def __init__(
        self, memory: ShortTermMemory, embedder: Embedder, knowledge: bool = True, states_in_words: bool = False
    ) -> None:
        """Follow a memory.

        Args:
            memory: that is asked.
            embedder: makes the vectors.
            knowledge: say what is known of the types of the units, too.
            states_in_words: say their states and areas, too; then each change of one is embedded.
        """
        self._embedder, self._knowledge, self._states_in_words = embedder, knowledge, states_in_words
        self._pending: dict[str, Unit | None] = {}
        self._entries: dict[str, _Entry] = {}
        self._numbers: SlotNumbers[str] = SlotNumbers()
        self._sentences: SlotNumbers[str] = SlotNumbers()
        self._names: SlotNumbers[str] = SlotNumbers()
        self._vectors: Vectors = np.zeros((0, 0), np.float32)
        self._rows = np.zeros((0, 1 + SENSES), np.intp)
        self._of_name = np.zeros(0, np.intp)
        self._codes = np.zeros(0, np.intp)
        self._there = np.zeros(0, np.bool_)
        self._stamps = np.zeros(0)
        self.units: list[Unit | None] = []
        self.own_words, self.known_words = WordIndex(), WordIndex()
        self._values: dict[str, dict[str, set[int]]] = {}
        self._values_by_word: dict[str, set[tuple[str, str]]] = {}
        memory.listen(self._changed)

    @property
    def size(self) -> int:
        """Return a number above all numbers of units."""
        return self._numbers.size

    @property
    def there(self) -> NDArray[np.bool_]:
        """Return which numbers have a unit."""
        return self._there[: self.size]

    @property
    def states(self) -> NDArray[np.intp]:
        """Return the state of each unit as its place in `STATES`."""
        return self._codes[: self.size]

    @property
    def stamps(self) -> NDArray[np.float64]:
        """Return the stamp of each unit, s."""
        return self._stamps[: self.size]

    def update(self, most: int | None = None) -> bool:
        """Take in what has changed since the last time; sentences that are new are embedded, all at once.

        Args:
            most: changes that are taken in, those that came first; None: all.

        Returns:
            Whether that was all.

        Raises:
            EmbeddingError: they cannot be; what changed is taken in the next time.
        """
        changed = dict(islice(self._pending.items(), most))
        sentences = {each for unit in changed.values() if unit is not None for each in self._said_of(unit)}
        missing = sorted(each for each in sentences if each not in self._sentences)
        vectors = dict(zip(missing, self._embedder.embed(missing), strict=True)) if missing else {}
        if vectors and len(self._vectors) and len(vectors[missing[0]]) != self._vectors.shape[1]:
            raise EmbeddingError(f"{self._embedder.name} gives vectors of another length than before: start anew")
        for object_id, unit in changed.items():
            del self._pending[object_id]
            known = self._entries.get(object_id)
            if unit is not None and known is not None and self._only_newer(unit, known):
                self._refresh(object_id, unit, known.sentences)
                continue
            if known is not None:
                for each in known.sentences:  # another unit, or this one as it is now, may need them
                    vectors.setdefault(each, self._vectors[self._sentences[each]].copy())
                self._take_out(object_id, known)
            if unit is not None:
                self._put(object_id, unit, vectors)
        return not self._pending

    def cosines(self, question: Vectors) -> tuple[Vectors, Vectors]:
        """Compare a vector with every unit.

        Args:
            question: (D,), of length 1.

        Returns:
            The cosine with what each unit is, and the largest cosine with what is known of its type, in any of its
                meanings.
        """
        near = self._vectors[: self._sentences.size] @ question
        of_units = near[self._rows[: self.size]]
        return of_units[:, 0], of_units[:, 1:].max(axis=1)

    def known_scores(self, asked: Sequence[str]) -> Vectors:
        """Return for each unit which share of the words that are asked for is in what is known of its type, 0..1."""
        return self.known_words.scores(asked, self._names.size)[self._of_name[: self.size]]

    def agreement(self, asked: Sequence[str]) -> Vectors:
        """Return for each unit how many attributes agree with the words that are asked for, less how many do not."""
        score = np.zeros(self.size, np.float32)
        for name, wanted in self.values_asked_for(asked).items():
            for value, numbers in self._values[name].items():
                score[list(numbers)] += 1 if value in wanted else -1
        return score

    def values_asked_for(self, asked: Sequence[str]) -> dict[str, set[str]]:
        """Return the attributes, with their values, for which some unit has a value that is asked for."""
        there, found = set(asked), dict[str, set[str]]()
        for name, value in {each for word in there for each in self._values_by_word.get(word, ())}:
            if there.issuperset(words(value)):
                found.setdefault(name, set()).add(value)
        return found

    def _changed(self, object_id: str, unit: Unit | None) -> None:
        if unit is None and object_id not in self._entries:
            self._pending.pop(object_id, None)
        else:
            self._pending[object_id] = unit

    def _said_of(self, unit: Unit) -> tuple[str, ...]:
        known = [sense.sentence(unit.name) for sense in senses(unit.name)[:SENSES]] if self._knowledge else []
        return (unit.sentence() if self._states_in_words else own_sentence(unit), *known)

    def _only_newer(self, unit: Unit, known: _Entry) -> bool:
        """Return whether a unit is described as before."""
        same = unit.object_type == known.unit.object_type and unit.attributes == known.unit.attributes
        return same and (not self._states_in_words or self._said_of(unit) == known.sentences)

    def _put(self, object_id: str, unit: Unit, vectors: Mapping[str, Vectors]) -> None:
        sentences = self._said_of(unit)
        rows = [self._row(each, vectors) for each in sentences]
        number = self._numbers.take(object_id)
        self._grow(number)
        known = rows[1:] or rows  # nothing is known of its type: what it is has to do
        self._rows[number] = [rows[0], *known, *([known[-1]] * (SENSES - len(known)))]
        self.own_words.add(number, own_words(unit))
        fresh = unit.name not in self._names
        self._of_name[number] = of_name = self._names.take(unit.name)
        if fresh and self._knowledge:
            self.known_words.add(of_name, known_words(unit.name))
        for name, value in _told(unit):
            self._values.setdefault(name, {}).setdefault(value, set()).add(number)
            self._values_by_word.setdefault(words(value)[0], set()).add((name, value))
        self._refresh(object_id, unit, sentences)

    def _refresh(self, object_id: str, unit: Unit, sentences: tuple[str, ...]) -> None:
        """Update what changes from one observation to the next."""
        number = self._numbers[object_id]
        self._entries[object_id] = _Entry(unit, sentences)
        self._there[number], self._codes[number] = True, _STATE_CODE[unit.state]
        self._stamps[number] = unit.stamp
        self.units[number] = unit

    def _take_out(self, object_id: str, known: _Entry) -> None:
        unit, number = known.unit, self._numbers[object_id]
        for each in known.sentences:
            self._sentences.leave(each)
        of_name = self._names[unit.name]
        if self._names.leave(unit.name) and self._knowledge:
            self.known_words.remove(of_name, known_words(unit.name))
        self.own_words.remove(number, own_words(unit))
        for name, value in _told(unit):
            numbers = self._values[name][value]
            numbers.remove(number)
            if not numbers:
                del self._values[name][value]
                word = words(value)[0]
                self._values_by_word[word].remove((name, value))
                if not self._values_by_word[word]:
                    del self._values_by_word[word]
        self._numbers.leave(object_id)
        del self._entries[object_id]
        self._there[number] = False
        self.units[number] = None

    def _row(self, sentence: str, vectors: Mapping[str, Vectors]) -> int:
        fresh = sentence not in self._sentences
        at = self._sentences.take(sentence)
        if fresh:
            vector = vectors[sentence]
            if at >= len(self._vectors):
                grown = np.zeros((max(64, 2 * len(self._vectors)), len(vector)), np.float32)
                grown[: len(self._vectors)] = self._vectors if len(self._vectors) else grown[:0]
                self._vectors = grown
            self._vectors[at] = vector
        return at

    def _grow(self, number: int) -> None:
        if number < len(self._there):
            return
        size = max(64, 2 * len(self._there))
        self.units += [None] * (size - len(self.units))
        self._rows, self._of_name = _longer(self._rows, size), _longer(self._of_name, size)
        self._codes, self._there = _longer(self._codes, size), _longer(self._there, size)
        self._stamps = _longer(self._stamps, size)


def _told(unit: Unit) -> list[tuple[str, str]]:
    """Return its attributes with a value that has words."""
    return [(name, value) for name, value in unit.attributes.items() if words(value)]


def _longer(array: NDArray[np.generic], size: int) -> NDArray[Any]:
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
