"""What a plan calls a thing ("the washed apple", "second mug", "something to drink from"), taken apart.

What it asks of states and what it excludes is understood as in a recall (`kc_vla.memory.recall.instruction`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kc_vla.memory.recall.instruction import understand
from kc_vla.memory.recall.words import stem
from kc_vla.memory.short_term.unit import State, plain, spoken

MOST_LETTERS = 200
"""Of a reference that is looked at."""
PRONOUNS = frozenset({"it", "them", "this", "that", "one", "those", "these"})
_ANY = r"^(?:some|any|no)?(?:thing|one|body)s?\b|^what(?:ever)?\b"
_ARTICLES = re.compile(r"^(?:(?:the|my|your|our|their|his|her|its|this|that|these|those|same|first)\s+)+")
_INDEFINITE = re.compile(r"^(?:(?:an?|some|any)\s+)+(?=\S)")
_FURTHER = {"second": 1, "another": 1, "other": 1, "next": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5}
_NUMBER = re.compile(r"(?:#|\s)(\d{1,2})$")
_CLAUSE = re.compile(r"\s(?:that|which|who|you|i|we|to|for|with|from|without)\s|,")
_PLACE = re.compile(r"\s(?:on top of|inside of|inside|next to|near|beside|on|in|at|under)\s")
_PIECE = re.compile(r"^(?:slices?|pieces?) of (?:the )?")
_COLD = frozenset({stem(word) for word in ("cold", "cooled", "chilled", "refrigerated", "cool")})
"""A state that ALFRED asks for and `State` has not: detectors tell it beside the state."""
COLD = "cold"


@dataclass(frozen=True)
class Reference:
    """A reference, taken apart.

    Attributes:
        text: in one line, as it was.
        words: what it is called, without endings and articles, the last one first of all: ("red", "mug").
        states: it should have one of; empty where any will do.
        also: words for other states that it should have: "cold".
        not_states: that it should not have.
        further: how many others of that name are not meant: 1 for "second mug".
        indefinite: any will do: "an apple".
        vague: it has no name: "something to drink from".
        place: where it is said to be; empty where nothing is said.
    """

    text: str
    words: tuple[str, ...]
    states: frozenset[State] = frozenset()
    also: frozenset[str] = frozenset()
    not_states: frozenset[State] = frozenset()
    further: int = 0
    indefinite: bool = False
    vague: bool = False
    place: str = ""

    @property
    def pronoun(self) -> bool:
        """Whether it only points at what was spoken of."""
        return self.text.lower() in PRONOUNS

    @property
    def key(self) -> tuple[str, ...]:
        """What all things of that name have in common: that of "mug" and "second mug" is the same."""
        return (*self.words, *sorted(state.value for state in self.states), *sorted(self.also))


def read(text: str) -> Reference:
    """Take a reference apart; one that says nothing has no words."""
    text = plain(text[:MOST_LETTERS])
    lower = spoken(text) if " " not in text else text.lower()
    understood = understand(f"the {lower}" if not lower.startswith("the ") else lower)
    if re.search(_ANY, lower) and lower not in PRONOUNS:
        return Reference(text, (), understood.states, not_states=understood.not_states, indefinite=True, vague=True)
    rest, further = lower, 0
    if (number := _NUMBER.search(rest)) is not None:
        rest, further = rest[: number.start()], max(int(number.group(1)) - 1, 0)
    indefinite = _INDEFINITE.match(rest) is not None
    rest = _INDEFINITE.sub("", _ARTICLES.sub("", rest))
    first, _, others = rest.partition(" ")
    if first in _FURTHER and others:
        rest, further = others, _FURTHER[first]
    states = set(understood.states)
    if _PIECE.match(rest):
        rest = _PIECE.sub("", rest)
        states.add(State.SLICED)
    head = _CLAUSE.split(rest, maxsplit=1)[0]
    head, place = [*_PLACE.split(head, maxsplit=1), ""][:2]
    found, also = [], set()
    for word in re.findall(r"[^\W_]+", head):
        if stem(word) in _COLD:
            also.add(COLD)
        elif not understand(f"is {word}").states or word == head:
            found.append("of" if word == "of" else stem(word))
    return Reference(
        text,
        tuple(found),
        frozenset(states),
        frozenset(also),
        understood.not_states,
        further,
        indefinite,
        not found,
        _ARTICLES.sub("", _INDEFINITE.sub("", place)),
    )
