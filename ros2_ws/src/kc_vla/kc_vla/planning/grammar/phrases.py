"""Noun phrases: what is meant by "two of the clean plates with a fork on them", "a slice of bread", "the red one"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kc_vla.memory.recall.words import COLOURS
from kc_vla.planning.grammar.lexicon import (
    ARTICLES,
    DEFINITE,
    FILLER,
    FROM,
    INTO,
    MEASURES,
    NEAR,
    NUMBERS,
    PARTS,
    PRONOUNS,
    SLICES,
    STATES,
    Deed,
    word_set,
)
from kc_vla.planning.grammar.nouns import RELATIVE, SOMETHING, name_of, singular, trimmed
from kc_vla.planning.grammar.opening import Words
from kc_vla.planning.interface import PlanningError
from kc_vla.planning.names import ORDINALS

_JOINS = frozenset(["and", "&", ",", "plus", "/", "or", "+"])
_WHOLE = word_set("jewellery jewelry furniture paper clothing equipment cloth cutlery cookware matter mail")
"""Of which a piece is a whole thing."""


@dataclass(frozen=True)
class Thing:
    """What a noun phrase is about.

    Attributes:
        name: noun and what describes it, for a reference; of a pronoun what describes it: "red" of "the red one".
        states: what it is to be made, in the order of the words, or is already.
        count: how many of them.
        plural: as it was said, where the count is a guess: a plural without a number; empty otherwise.
        pronoun: "it", "them".
        definite: "the", "my": one that both know.
        described: by what was done with it, or what it can: nothing is to be made so.
        inside: what it is to have on or in it.
    """

    name: str
    states: tuple[Deed, ...] = ()
    count: int = 1
    plural: str = ""
    pronoun: bool = False
    definite: bool = False
    described: bool = False
    inside: tuple[Thing, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each of them."""
        return (self.name, *(f"{ORDINALS[at]} {self.name}" for at in range(1, self.count)))


def things_of(words: Words) -> tuple[Thing, ...]:
    """The things of a list: "a fork, a spoon and two cups".

    Raises:
        PlanningError: one of them is none.
    """
    parts: list[list[str]] = [[]]
    for at, word in enumerate(words):
        if word not in _JOINS:
            parts[-1].append(word)
        elif RELATIVE & set(parts[-1]) and _only_adjectives(_until_join(words[at + 1 :])):
            parts[-1].append("and")  # "the supply that is clean and blue" is one
        elif not (parts[-1] and _only_adjectives(parts[-1])):  # "a green and gold spoon" is one
            parts.append([])
    return tuple(thing_of(tuple(part)) for part in parts if part)


def thing_of(words: Words) -> Thing:
    """One noun phrase.

    Raises:
        PlanningError: it names nothing.
    """
    said = " ".join(words)
    words = trimmed(words)
    if not words:
        raise PlanningError(f"it is not said what: {said[:80]!r} names no thing" if said else "it is not said what")
    if words[0] in SOMETHING:
        return Thing(name_of(words, said), described=True)
    relative = next((at for at, word in enumerate(words) if at and word in RELATIVE), None)
    if relative is not None:
        return _with_relative(words, relative, said)
    if words[0] in PRONOUNS and words[1:] in ((), ("both",), ("all",)):
        return Thing("", pronoun=True, count=1)
    if words[0] in PRONOUNS and words[0] not in ARTICLES and words[0] not in ("one", "ones"):
        raise PlanningError(f"not understood: {said[:80]!r}")
    definite, count, words = _counted(words)
    states: list[Deed] = []
    words = _without_water(words, states)
    words = _measured(words, states)
    if words in (("it",), ("them",)):
        return Thing("", _ordered(states), pronoun=True, definite=True)
    kept: list[str] = []
    for at, word in enumerate(words):
        if at and word in ("a", "an", "the") and words[at - 1] not in ARTICLES | {"of"}:
            raise PlanningError(f"not understood: {said[:80]!r}")
        if word == "up" and at and words[at - 1] in STATES:
            continue
        state = STATES.get(word) if at + 1 < len(words) else None
        if state is not None and not (word == "cut" and kept):
            states.append(state)
        elif word in SLICES and at and at + 1 == len(words) and word not in ("cut", "bit", "portion"):
            states.append(Deed.SLICE)
        elif word in SLICES and len(words) == 1:
            return Thing("", (Deed.SLICE,), pronoun=True, definite=definite)
        elif (word not in ARTICLES or (kept and word == "one")) and word not in FILLER:
            kept.append(word)
    plural = ""
    end = kept.index("of") if "of" in kept[1:] else len(kept)
    if not kept:
        return Thing("", tuple(dict.fromkeys(states)), pronoun=True, definite=True)
    if kept[-1] in ("one", "ones"):
        return Thing(name_of(kept[:-1], said), _ordered(states), pronoun=True, definite=True)
    one = singular(kept[end - 1])
    sliced = Deed.SLICE in states and words and words[-1] in SLICES
    if count == 0 and one != kept[end - 1] and not sliced:
        count, plural = 2, name_of(kept, said)
    if count > 1:
        kept[end - 1] = one
    states.sort(key=list(Deed).index)
    return Thing(name_of(kept, said), _ordered(states), max(1, count), plural, definite=definite and count == 0)


def _with_relative(words: Words, at: int, said: str) -> Thing:
    """ "the fruit that you cut": what was done with it tells which one; "the box that is on the desk" does not."""
    thing = thing_of(words[:at])
    if not {"you", "i", "we"} & set(words[at:]) and set(words[at:]) & (INTO | NEAR | FROM):
        return thing
    return replace(thing, name=name_of(_no_article(words), said), states=(), definite=True, described=True)


def _without_water(words: Words, states: list[Deed]) -> Words:
    """ "a mug of water", "a mug full of water": it is to be filled."""
    for end in (("filled", "with", "water"), ("full", "of", "water"), ("of", "water")):
        if len(words) > len(end) and words[-len(end) :] == end:
            states.append(Deed.FILL)
            return words[: -len(end)]
    return words


def _no_article(words: Sequence[str]) -> list[str]:
    kept = list(words)
    while kept and kept[0] in ARTICLES:
        kept = kept[1:]
    return kept


def _counted(words: Words) -> tuple[bool, int, Words]:
    """Whether it is known, how many (0: it is not said), and the rest."""
    definite, count = False, 0
    while words and (words[0] in ARTICLES or words[0] in NUMBERS or words[0] == "all"):
        following = words[1] if len(words) > 1 else ""
        if words[0] in NUMBERS:
            count = NUMBERS[words[0]]
        elif words[0] in ("a", "an", "one", "each", "another"):
            count = count or 1
        definite = definite or words[0] in DEFINITE
        words = words[1:]
        if following == "of" and words and words[0] == "of":
            words = words[1:]
    if len(words) > 2 and words[0] in ("pair", "couple") and words[1] == "of":
        count, words = 2, words[2:]
    return definite, count, words


def _measured(words: Words, states: list[Deed]) -> Words:
    """Without "slice of", "head of": what is left is the thing."""
    while "of" in words[:-1]:
        at = words.index("of")
        head = words[at - 1] if at else ""
        if (head == "piece" and words[-1] in _WHOLE) or (
            head not in MEASURES and head not in SLICES and head not in PARTS
        ):
            break
        states += [STATES[word] for word in words[: at - 1] if word in STATES]
        if head in SLICES:
            states.append(Deed.SLICE)
        words = tuple(word for index, word in enumerate(words) if index > at)
    return words


def _ordered(states: Sequence[Deed]) -> tuple[Deed, ...]:
    """In the order in which they are made: cut first, then washed, then heated or cooled."""
    order = (Deed.SLICE, Deed.CLEAN, Deed.FILL, Deed.HEAT, Deed.COOL)
    return tuple(sorted(dict.fromkeys(states), key=order.index))


def _adjective(word: str) -> bool:
    return word in STATES or word in COLOURS or word == "golden"


def _until_join(words: Words) -> Words:
    end = next((at for at, word in enumerate(words) if word in _JOINS), len(words))
    return words[:end]


def _only_adjectives(words: Sequence[str]) -> bool:
    known = [word for word in words if word not in ARTICLES and word not in NUMBERS]
    return bool(known) and all(_adjective(word) or word in ("large", "small", "big", "tall") for word in known)
