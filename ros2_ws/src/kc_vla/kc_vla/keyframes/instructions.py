"""Which task an instruction means, by the likeness of texts, so that users need not keep to one wording.

A text is a vector of its words and of the letter triples in them, the rarer the heavier (TF-IDF); two texts are as
alike as their vectors are parallel. That is a small embedding, but it is exact about the words that tell these tasks
apart, needs no model and answers in a millisecond. What is like no known instruction is rejected.
"""

from __future__ import annotations

import math
import re
import types
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from kc_vla.core.tasks import TASKS, Task, plain

THRESHOLD = 0.35
"""An instruction less like every known one is rejected."""
LEAD = 0.05
"""So much more like the best task than like the second best it must be."""

Vector = dict[str, float]


class UnknownInstructionError(ValueError):
    """An instruction that no task is known for."""


class InstructionMatcher:
    """Finds the task that an instruction means."""

    def __init__(self, known: Mapping[str, Sequence[str]]) -> None:
        """Embed the wordings of the known tasks.

        Args:
            known: wordings of each task by its name.
        """
        self._exact = [(plain(text), task) for task, texts in known.items() for text in texts]
        rows = [(task, Counter(_terms(text))) for task, texts in known.items() for text in texts]
        seen = Counter(term for _, terms in rows for term in terms)
        self._weights = {term: math.log((1 + len(rows)) / (1 + number)) + 1 for term, number in seen.items()}
        self._rarest = math.log(1 + len(rows)) + 1
        self._known = [(task, self._vector(terms)) for task, terms in rows]

    def likeness(self, instruction: str) -> dict[str, float]:
        """Return how much an instruction is like the most alike wording of each task, 0..1."""
        asked = self._vector(Counter(_terms(instruction)))
        best: dict[str, float] = {}
        for task, vector in self._known:
            alike = sum(value * vector.get(term, 0.0) for term, value in asked.items())
            best[task] = max(best.get(task, 0.0), alike)
        return best

    def find(self, instruction: str, preferred: Container[str] = ()) -> str:
        """Return the name of the task that is meant; of two that are about as like, the one that is `preferred`.

        Raises:
            UnknownInstructionError: it is like no task, or like two.
        """
        for text, task in self._exact:
            if text == plain(instruction):
                return task
        ranked = sorted(self.likeness(instruction).items(), key=lambda item: -item[1])
        task, alike = ranked[0]
        if alike < THRESHOLD:
            raise UnknownInstructionError(
                f"no known task has an instruction like {instruction!r}: the nearest is '{task}', "
                f"likeness {alike:.2f} of {THRESHOLD} needed"
            )
        close = [name for name, value in ranked if alike - value < LEAD]
        if len(close) > 1:
            if len(chosen := [name for name in close if name in preferred]) == 1:
                return chosen[0]
            raise UnknownInstructionError(f"{instruction!r} may mean '{task}' or '{ranked[1][0]}': say it more clearly")
        return task

    def _vector(self, terms: Counter[str]) -> Vector:
        """Return the unit vector of a text; what is in no known wording still makes it longer, and so less alike."""
        vector = {
            term: (1 + math.log(number)) * self._weights.get(term, self._rarest) for term, number in terms.items()
        }
        length = math.sqrt(sum(value * value for value in vector.values()))
        return {term: value / length for term, value in vector.items()} if length else {}


def known_tasks(own: Mapping[str, Task] = types.MappingProxyType({})) -> InstructionMatcher:
    """Return a matcher of the tasks in `own`, and of those in the task table that say something else."""
    said = {plain(text) for task in own.values() for text in task.instructions}
    others = {
        name: task
        for name, task in TASKS.items()
        if name not in own and not said.intersection(map(plain, task.instructions))
    }
    return InstructionMatcher({name: task.instructions for name, task in {**own, **others}.items()})


def _terms(text: str) -> Iterator[str]:
    """Yield the words of a text, and the letter triples of each with a space at both ends."""
    for word in re.findall(r"[^\W_]+", text.casefold()):
        yield word
        padded = f" {word} "
        for start in range(len(padded) - 2):
            yield padded[start : start + 3]
