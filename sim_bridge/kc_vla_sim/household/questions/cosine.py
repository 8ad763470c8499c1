"""The baseline: the thing whose sentence is most like the question, by the cosine of their embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.memory.asking.answer import MemoryAnswer, unknown
from kc_vla.memory.asking.meant import NameFinder
from kc_vla.memory.asking.telling import called, evidence_of, place_in_words
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.things import KnownThing
from kc_vla_sim.household.questions.lived import Lived


class CosineAsker:
    """Answers with one thing, whatever is asked; its cosine is its confidence."""

    def __init__(self, home: Lived, embedder: Embedder) -> None:
        """Embed all that the robot of a home remembers.

        Args:
            home: whose memory is asked.
            embedder: of sentences.
        """
        self._finder, self._embedder = NameFinder(home.memory, home.around()), embedder
        self._vectors = embedder.embed([self._sentence(each) for each in self._finder.things])

    def ask(self, text: str, least: float = -1.0) -> MemoryAnswer:
        """Return the likest thing as an answer; none below a cosine of `least`."""
        scores = self._vectors @ self._embedder.embed([text])[0]
        best = int(np.argmax(scores))
        thing, score = self._finder.things[best], float(scores[best])
        if score < least:
            return unknown("I do not know.")
        evidence = evidence_of(self._finder, [thing])
        text = f"{called(thing)}: {', '.join(sorted(thing.states))}, {place_in_words(self._finder, thing)}"
        return MemoryAnswer(text, True, min(max(score, 0.0), 1.0), evidence, yes=True, count=1, when_s=thing.seen_s)

    def _sentence(self, thing: KnownThing) -> str:
        said = (called(thing).partition(" (")[0], *sorted(thing.states), place_in_words(self._finder, thing))
        return ", ".join(part for part in said if part)


def best_threshold(scores: Sequence[float], answered: Sequence[bool], refused: Sequence[bool]) -> float:
    """Return the cosine from which to answer, so that most questions are answered rightly.

    Args:
        scores: of each question's answer.
        answered: whether that answer is right.
        refused: whether it is right to refuse.
    """
    steps = [-1.0, *sorted(set(scores)), 1.1]

    def right(least: float) -> int:
        return sum(yes if score >= least else no for score, yes, no in zip(scores, answered, refused, strict=True))

    return max(steps, key=right)
