"""What a plan calls a thing ("the washed apple", "second mug", "something to drink from"), taken apart.

What it asks of states and what it excludes is understood as in a recall (`kc_vla.memory.recall.instruction`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kc_vla.memory.floors import without_floor
from kc_vla.memory.recall.instruction import Instruction, understand
from kc_vla.memory.recall.knowledge import senses
from kc_vla.memory.recall.words import COLOURS, stem
from kc_vla.memory.recall.words import words as meaningful
from kc_vla.memory.references.names import FURTHER
from kc_vla.memory.references.purposes import Purpose, purpose_of
from kc_vla.memory.references.spatial_phrases import SpatialPhrase, relation_of
from kc_vla.memory.short_term.unit import ObjectState, plain, spoken

MOST_LETTERS = 200
"""Letters of a reference that are read."""
PRONOUNS = frozenset({"it", "them", "this", "that", "one", "those", "these"})
_ANY = re.compile(
    r"^(?:(?:the|that|this|an?)\s+)?(?:(some|any|no)?(?:thing|one|body)s?|(?:item|object|stuff)s?|what(?:ever)?)\b"
)
_IS = re.compile(r"^(.+?),? (?:that|which) (?:is|are) ((?:\w+,? (?:and )?){0,3}\w+)$")
_JOINED = re.compile(r",? and |, ?")
_LISTED = re.compile(r"^\w+, (?:and )?\w+ \w+")
_DONE = re.compile(r"\b(?:you|i|we)\b(?!.*\b(?:can|could|may|might|to)\b)")
"""What was done with it: "the thing you washed", and not what can be: "something I can eat"."""
_WHEN = re.compile(r"\s+(?:(?:just )?(?:before|earlier|already|now|then)|a (?:while|moment|minute) ago|last)$")
_ARTICLES = re.compile(r"^(?:(?:the|my|your|our|their|his|her|its|this|that|these|those|same|first)\s+)+")
_INDEFINITE = re.compile(r"^(?:(?:an?|some|any)\s+)+(?=\S)")
_NUMBER = re.compile(r"(?:#|\s)(\d{1,2})$")
_ID = re.compile(r"[A-Z][A-Za-z0-9]*_\d+")
_CLAUSE = re.compile(r"\s(?:that|which|who|you|i|we|to|for|with|from|without)\s|,")
_PLACE = re.compile(r"\s(?:on top of|inside of|inside|next to|near|beside|on|in|at|under)\s")
_PIECE = re.compile(r"^(slice|piece)s? of (?:the )?")
_COLD = frozenset({stem(word) for word in ("cold", "cooled", "chilled", "refrigerated", "cool")})
"""A state that ALFRED asks for and `ObjectState` has not: detectors tell it beside the state."""
COLD = "cold"
_NO_MORE = frozenset({"that", "which", "is", "are", "and", "else", "not", "the", "a"})


_LEFT_OVER = re.compile(r"(?:[ ,]+(?:that|which|but|and|has|have|had|is|are|was|were|been))*[ ,]*$")
"""What introduced a negation, after it was taken away: "an apple that has"."""


@dataclass(frozen=True)
class Reference:
    """A reference, taken apart.

    Attributes:
        text: in one line, as it was.
        called: what it is called, in words as they were.
        words: the same, without endings and articles, the last one first of all: ("red", "mug").
        states: it should have one of; empty where any will do.
        also: words for other states that it should have: "cold".
        not_states: that it should not have.
        further: how many others of that name are not meant: 1 for "second mug".
        indefinite: any will do: "an apple".
        vague: it has no name: "something to drink from".
        place: where it is said to be; empty where nothing is said.
        done: what the robot did with it identifies it: the states are those it was brought into, the place is where it
            was put.
        carried: it is to be taken into the hand: no furniture.
        purpose: what it is wanted for, of those of which it is known which things serve; None otherwise.
        unknown: it has no name, and more than states and colors describe it: "something sharp".
        floor: words for the floor on which it is said to be: "upstairs", "second floor"; empty where nothing is said.
        not_meant: what it should not be, each in words without endings: ("red",) of "not the red one".
        relation: how it stands to others, see `read_related`; the rest is of the thing alone.
    """

    text: str
    words: tuple[str, ...]
    states: frozenset[ObjectState] = frozenset()
    also: frozenset[str] = frozenset()
    not_states: frozenset[ObjectState] = frozenset()
    further: int = 0
    indefinite: bool = False
    vague: bool = False
    place: str = ""
    done: bool = False
    called: tuple[str, ...] = ()
    carried: bool = False
    purpose: Purpose | None = None
    unknown: bool = False
    floor: str = ""
    not_meant: tuple[tuple[str, ...], ...] = ()
    relation: SpatialPhrase | None = None

    @property
    def pronoun(self) -> bool:
        """Return whether it only points at what was spoken of."""
        return self.text.lower() in PRONOUNS

    @property
    def bare(self) -> Reference:
        """Return the same thing without how it stands to others."""
        if self.relation is None:
            return self
        return replace(self, text=plain(self.relation.thing), relation=None)

    @property
    def key(self) -> tuple[str, ...]:
        """Return what all things of that name have in common: that of "mug" and "second mug" is the same."""
        floor = (self.floor,) if self.floor else ()
        states = (*sorted(state.value for state in self.states), *sorted(self.also))
        return (*self.words, *states, *floor, *(() if self.relation is None else (self.text.lower(),)))


def is_id(text: str) -> bool:
    """Return whether it is an id, as detectors and prompts have them: "Mug_2"."""
    return _ID.fullmatch(text) is not None


def read(text: str) -> Reference:
    """Take a reference apart; one that says nothing has no words."""
    text = plain(text[:MOST_LETTERS])
    rest, floor = without_floor(text)
    return replace(_read(rest), text=text, floor=floor) if floor and rest else _read(text)


def read_related(text: str) -> Reference:
    """Take a reference apart that may say how the thing stands to others: "mug left of lamp"."""
    phrase = relation_of(text)
    return read(text) if phrase is None else replace(read(phrase.thing), text=plain(text), relation=phrase)


def _read(text: str) -> Reference:
    lower = spoken(text) if " " not in text else text.lower()
    understood = understand(f"the {lower}" if not lower.startswith("the ") else lower)
    lower = _without_negation(lower, understood)
    if (thing := _ANY.match(lower)) is not None and lower not in PRONOUNS:
        return _nameless(text, lower, understood, indefinite=thing.group(1) is not None)
    rest, further = lower, 0
    if (number := _NUMBER.search(rest)) is not None:
        rest, further = rest[: number.start()], max(int(number.group(1)) - 1, 0)
    indefinite = _INDEFINITE.match(rest) is not None
    rest = _INDEFINITE.sub("", _ARTICLES.sub("", rest))
    first, _, others = rest.partition(" ")
    if first in FURTHER and others:
        rest, further = others, FURTHER[first]
    states = set(understood.states)
    if (piece := _PIECE.match(rest)) is not None:
        rest = _PIECE.sub("", rest)
        if piece.group(1) == "slice" or _is_eaten(_CLAUSE.split(rest)[0]):
            states.add(ObjectState.SLICED)
    if (clause := _IS.match(rest)) is not None and not _PLACE.search(f" {clause.group(2)} "):
        rest = f"{_JOINED.sub(' ', clause.group(2))} {clause.group(1)}"
    elif _LISTED.match(rest):
        rest = _JOINED.sub(" ", rest)
    states -= _named_in(rest)
    head = _CLAUSE.split(rest, maxsplit=1)[0]
    head, place = [*_PLACE.split(head, maxsplit=1), ""][:2]
    found, called, also = [], [], set()
    words = re.findall(r"[^\W_]+", head)
    for at, word in enumerate(words):
        if _is_name(words, at):
            called.append(word)
            found.append(stem(word))
        elif stem(word) in _COLD:
            also.add(COLD)
        elif word == head or not _tells_state(word):
            found.append("of" if word == "of" else stem(word))
            called.append(word)
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
        called=tuple(called),
        purpose=purpose_of(found[0]) if len(found) == 1 else None,
        not_meant=_not_meant(understood),
    )


def _without_negation(lower: str, understood: Instruction) -> str:
    """Return a text without what it says that is not meant: "a mug" for "a mug, but not the red one"."""
    if not understood.negated:
        return lower
    meaning = understood.meaning if lower.startswith("the ") else understood.meaning.removeprefix("the ")
    return _LEFT_OVER.sub("", meaning).lstrip(" ,") or lower


def _not_meant(understood: Instruction) -> tuple[tuple[str, ...], ...]:
    """Return what is not meant, each in words; what says nothing is left out."""
    return tuple(said for each in understood.not_meant if (said := meaningful(each)))


def _is_name(words: Sequence[str], at: int) -> bool:
    """Return whether a word that else names a state makes one name with the next one: "baked goods"."""
    if at + 1 >= len(words):
        return False
    name = f"{words[at]} {words[at + 1]}"
    return any({name, f"{name}s"} & set(each.words.split(", ")) for each in (*senses(name), *senses(f"{name}s")))


def _tells_state(word: str) -> bool:
    """Return whether a word says in which state something is, or is not: "washed", "unsliced"."""
    understood = understand(f"is {word}")
    return bool(understood.states or understood.not_states)


def _is_eaten(name: str) -> bool:
    """Return whether the name is that of food which comes in slices.

    A piece of bread is a slice; a piece of furniture, or of fruit, is a whole thing.
    """
    return name.strip() != "fruit" and any("food" in each.kinds.split(", ") for each in senses(name)[:1])


def _named_in(text: str) -> frozenset[ObjectState]:
    words = re.findall(r"[^\W_]+", text)
    names = (word for at, word in enumerate(words) if _is_name(words, at))
    return frozenset(state for word in names for state in understand(f"is {word}").states)


def _nameless(text: str, lower: str, understood: Instruction, indefinite: bool) -> Reference:
    """Return a reference like "something to drink from" or "the thing you put in the box before"."""
    done = _DONE.search(lower) is not None
    lower = _WHEN.sub("", lower)
    place = [*_PLACE.split(lower, maxsplit=1), ""][1] if done else ""
    words = re.findall(r"\w+", lower)
    also = {COLD} if _COLD & {stem(word) for word in words} else set()
    colours = tuple(word for word in words if word in COLOURS)
    more = [word for word in _ANY.sub("", lower).split() if word not in _NO_MORE and word not in colours]
    more = [word for word in more if stem(word) not in _COLD and not understand(f"is {word}").states]
    return Reference(
        text,
        (),
        understood.states,
        frozenset(also),
        understood.not_states,
        indefinite=indefinite and not done,
        vague=True,
        place=_ARTICLES.sub("", _INDEFINITE.sub("", place)),
        done=done,
        called=colours,
        purpose=None if done else purpose_of(lower),
        unknown=bool(more),
        not_meant=_not_meant(understood),
    )
