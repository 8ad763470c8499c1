"""What a question asks for, in a checked form: a grammar or a language model fills it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from kc_vla.core.errors import StackError

MOST_LETTERS = 300
"""Letters of a question, and of each of its parts."""


class QuestionError(StackError, ValueError):
    """A text is no question that can be answered; the message says in one line why, and what to ask."""


class QuestionKind(StrEnum):
    """What is asked for."""

    WHERE = "where"
    WHICH = "which"
    IS_THERE = "is there"
    HOW_MANY = "how many"
    WHEN = "when"
    IS = "is"
    CONDITION = "condition"


class Order(StrEnum):
    """Which of several is meant."""

    ANY = ""
    LAST = "last"
    FIRST = "first"
    NEAREST = "nearest"
    FARTHEST = "farthest"


PREPOSITIONS = (
    "left of",
    "right of",
    "in front of",
    "behind",
    "next to",
    "between",
    "under",
    "above",
    "on",
    "in",
)
"""How a thing can stand to another, in the words of `kc_vla.memory.references.spatial.Spatial`."""
SEEN, HANDLED, CARRIED, PUT = "seen", "handled", "carried", "put"
ACTIONS = (
    *(SEEN, HANDLED, CARRIED, PUT, "heated", "cooked", "sliced", "cleaned", "dirty", "filled", "used up"),
    *("off", "on", "opened", "closed", "broken", "cold"),
)
"""What can have been done with a thing: it was seen, handled in any way, put somewhere, or brought into a state."""
STATES = ACTIONS[4:]
COLOUR = "colour"
ROBOT, IN_HAND = "you", "your hand"
"""Names of the robot and of its hand, as people say them to it."""


@dataclass(frozen=True)
class PlacePhrase:
    """Where something is said to be: "on", "the table". With no preposition it names a part of the home: "upstairs"."""

    preposition: str
    name: str

    def __str__(self) -> str:
        """Return it in words: "on the table", "on the second floor"."""
        before = self.preposition or ("" if self.name.endswith("stairs") else "on")
        return f"{before} {self.name}".strip()

    def __post_init__(self) -> None:
        if self.preposition not in ("", *PREPOSITIONS):
            raise QuestionError(f"{self.preposition[:40]!r} is no relation: give one of {', '.join(PREPOSITIONS)}")
        _check_text(self.name, "the name of a place")
        if not self.name.strip():
            raise QuestionError("a place without a name: say which one")


@dataclass(frozen=True)
class MemoryQuestion:
    """A question, taken apart.

    Attributes:
        text: as it was asked.
        asked: what for.
        thing: what it is about, as people call it: "the red mug"; empty for anything.
        states: that are asked about: of `IS`, whether it is in all of them; otherwise what is meant has to be in them.
        not_states: that it has to be out of.
        place: where it is, if that is said or asked.
        action: of `ACTIONS`, what has been done with it, if that is said or asked.
        order: which of several.
        about: of a condition, `COLOUR`, or empty for the states.
        colour: that is asked about.
        negated: a yes is meant where it is not so: "is the bed empty".
        every: all of them are to be so: "are all mugs clean".
        guess: something likely will do: "where could I find a knife".
    """

    text: str
    asked: QuestionKind
    thing: str = ""
    states: frozenset[str] = frozenset()
    not_states: frozenset[str] = frozenset()
    place: PlacePhrase | None = None
    action: str = ""
    order: Order = Order.ANY
    about: str = ""
    colour: str = ""
    negated: bool = False
    every: bool = False
    guess: bool = False

    def __post_init__(self) -> None:
        for each in fields(self):
            if each.name in ("text", "thing", "colour"):
                _check_text(getattr(self, each.name), each.name)
        wrong = (self.states | self.not_states) - set(STATES)
        if wrong:
            raise QuestionError(f"there is no state {min(wrong)[:40]!r}: give one of {', '.join(STATES)}")
        if self.action not in ("", *ACTIONS):
            raise QuestionError(f"{self.action[:40]!r} is nothing that is remembered: give one of {', '.join(ACTIONS)}")
        if self.about not in ("", COLOUR):
            raise QuestionError(f"a condition is asked for by its states, or by {COLOUR!r}")
        self._check_whole()

    def _check_whole(self) -> None:
        told = bool(
            self.thing
            or self.place
            or self.states
            or self.not_states
            or self.action
            or self.colour
            or self.order is not Order.ANY
        )
        if not told:
            raise QuestionError("the question names nothing: say of what")
        if self.asked is QuestionKind.WHEN and not self.action:
            raise QuestionError(
                "say what happened: when a thing was seen, used, washed, sliced, opened or put somewhere"
            )
        if self.asked is QuestionKind.CONDITION and not (self.thing or self.action):
            raise QuestionError("say of which thing the state is asked")
        if self.asked is QuestionKind.IS and not (
            self.states or self.not_states or self.place or self.action or self.colour
        ):
            raise QuestionError("say what the thing may be: a state, a color or a place")


def _check_text(text: str, name: str) -> None:
    if not isinstance(text, str) or len(text) > MOST_LETTERS:
        raise QuestionError(f"{name}: give a text of at most {MOST_LETTERS} letters")
    if any(not letter.isprintable() for letter in text):
        raise QuestionError(f"{name} has control characters: leave them out")
