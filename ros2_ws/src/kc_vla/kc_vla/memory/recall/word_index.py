"""In which things which words are, so that those of an instruction are found without looking at all."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]


class WordIndex:
    """Sets of words by the number of the thing that they are of."""

    def __init__(self) -> None:
        self._things: dict[str, set[int]] = {}
        self._count = 0

    def add(self, number: int, words: Iterable[str]) -> None:
        """Add a thing with these words."""
        self._count += 1
        for word in set(words):
            self._things.setdefault(word, set()).add(number)

    def remove(self, number: int, words: Iterable[str]) -> None:
        """Remove a thing; the words are those that it was added with."""
        self._count -= 1
        for word in set(words):
            things = self._things[word]
            things.remove(number)
            if not things:
                del self._things[word]

    def having(self, asked: Iterable[str]) -> set[int]:
        """Return the numbers of the texts that have all of these words; ignore words that no text has."""
        known = [self._things[word] for word in asked if word in self._things]
        return set.intersection(*known) if known else set()

    def scores(self, asked: Iterable[str], size: int) -> Scores:
        """Return for each number below `size` how much of what is asked for it has, 0..1.

        What few have counts more.
        """
        scores = np.zeros(size, np.float32)
        whole = 0.0
        for word in dict.fromkeys(asked):
            things = self._things.get(word, set())
            weight = math.log((self._count + 1) / (len(things) + 0.5))
            whole += weight
            if things:
                scores[np.fromiter(things, np.intp, len(things))] += weight
        return scores / np.float32(whole) if whole else scores
