"""The questions of `data/questions.tsv`, which half they belong to, and by what they were written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kc_vla.core.untrusted import read_text
from kc_vla.memory.evaluation.halves import SPLITS, halves
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.questions.expected import Expected, read_expected

FILE = Path(__file__).parent.parent / "data" / "questions.tsv"
KINDS = ("exact", "state", "relation", "last", "vague", "unanswerable")
HOMES = range(1, 31)


@dataclass(frozen=True)
class HomeQuestion:
    """A question about a home.

    Attributes:
        home: its number.
        kind: of `KINDS`.
        expected: of the answer.
        text: the question.
        split: of `SPLITS`, by the home.
    """

    home: int
    kind: str
    expected: Expected
    text: str
    split: str


def split_of(home: int) -> str:
    """Return the half that a home belongs to."""
    names = halves([f"home{number}" for number in HOMES])
    return next(split for split in SPLITS if f"home{home}" in names[split])


def read_home_questions(path: Path = FILE) -> list[HomeQuestion]:
    """Return all questions of a table.

    Raises:
        HouseholdError: a line is none; the message names it.
    """
    lines = read_text(path).splitlines()[1:]
    found = []
    for number, line in enumerate(lines, 2):
        parts = line.split("\t")
        if len(parts) != 4 or parts[1] not in KINDS or not parts[0].isdecimal() or int(parts[0]) not in HOMES:
            raise HouseholdError(f"{path}, line {number}: write home, kind, what is expected and the question")
        found.append(HomeQuestion(int(parts[0]), parts[1], read_expected(parts[2]), parts[3], split_of(int(parts[0]))))
    return found
