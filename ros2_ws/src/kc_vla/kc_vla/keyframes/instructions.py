"""Which task an instruction means, by the likeness of texts, so that users need not keep to one wording.

A text is a vector of its words and of the letter triples in them, the rarer the heavier (TF-IDF); two texts are as
alike as their vectors are parallel. That is a small embedding, but it is exact about the words that tell these tasks
apart, needs no model and answers in a millisecond. What is like no known instruction is rejected.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kc_vla.tasks import TASKS

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
        """Args: `known`, wordings of each task by its name."""
        rows = [(task, Counter(_terms(text))) for task, texts in known.items() for text in texts]
        seen = Counter(term for _, terms in rows for term in terms)
        self._weights = {term: math.log((1 + len(rows)) / (1 + number)) + 1 for term, number in seen.items()}
        self._rarest = math.log(1 + len(rows)) + 1
        self._known = [(task, self._vector(terms)) for task, terms in rows]

    def likeness(self, instruction: str) -> dict[str, float]:
        """How much an instruction is like the most alike wording of each task, 0..1."""
        asked = self._vector(Counter(_terms(instruction)))
        best: dict[str, float] = {}
        for task, vector in self._known:
            alike = sum(value * vector.get(term, 0.0) for term, value in asked.items())
            best[task] = max(best.get(task, 0.0), alike)
        return best

    def find(self, instruction: str) -> str:
        """The name of the task that is meant.

        Raises:
            UnknownInstructionError: it is like no task, or like two.
        """
        ranked = sorted(self.likeness(instruction).items(), key=lambda item: -item[1])
        task, alike = ranked[0]
        if alike < THRESHOLD:
            raise UnknownInstructionError(
                f"no known task has an instruction like {instruction!r}: the nearest is '{task}', "
                f"likeness {alike:.2f} of {THRESHOLD} needed"
            )
        if len(ranked) > 1 and alike - ranked[1][1] < LEAD:
            raise UnknownInstructionError(f"{instruction!r} may mean '{task}' or '{ranked[1][0]}': say it more clearly")
        return task

    def _vector(self, terms: Counter[str]) -> Vector:
        """The unit vector of a text; what is in no known wording still makes it longer, and so less alike."""
        vector = {
            term: (1 + math.log(number)) * self._weights.get(term, self._rarest) for term, number in terms.items()
        }
        length = math.sqrt(sum(value * value for value in vector.values()))
        return {term: value / length for term, value in vector.items()} if length else {}


_PARAPHRASES: dict[str, tuple[str, ...]] = {
    "counting": (
        "Push the cube to the goal after the lamp has blinked twice.",
        "Once the light has flashed two times, slide the block onto the target.",
    ),
    "identity": (
        "When the shuffle is over, lift the cube which stood in the middle at the beginning.",
        "Pick up the block that was in the centre before they were swapped.",
        "Grasp the cube that stood in the middle before the shuffle.",
    ),
    "spatial": (
        "Rebuild the stack with the bottom and the middle block exchanged.",
        "Swap the lower two cubes of the tower.",
        "Restack the tower so that the middle cube is below and the bottom cube in the middle.",
    ),
    "temporal": (
        "Lift the red cube and put it back, then the green one, then the blue one.",
        "Pick and place red, green and blue, one after the other, each back on the table.",
    ),
}


def known_tasks() -> InstructionMatcher:
    """A matcher of the tasks in the task table."""
    return InstructionMatcher({name: (task.instruction, *_PARAPHRASES[name]) for name, task in TASKS.items()})


def _terms(text: str) -> Iterator[str]:
    """The words of a text, and the letter triples of each with a space at both ends."""
    for word in re.findall(r"[^\W_]+", text.casefold()):
        yield word
        padded = f" {word} "
        for start in range(len(padded) - 2):
            yield padded[start : start + 3]
