"""Noun phrases: what is meant by "two of the clean plates with a fork on them", "a slice of bread", "the red one"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kc_vla.memory.recall.words import COLOURS
from kc_vla.memory.references.names import ORDINALS
from kc_vla.planning.grammar.first_verb import Words
from kc_vla.planning.grammar.lexicon import (
    ARTICLES,
    DEFINITE,
    DRINKS,
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
    VESSELS,
    Verb,
    noun,
    word_set,
)
from kc_vla.planning.grammar.limits import refuse_compared
from kc_vla.planning.grammar.nouns import (
    RELATIVE,
    SOMETHING,
    floor_apart,
    name_of,
    relation_apart,
    singular,
    trimmed,
    with_floor,
)
from kc_vla.planning.interface import PlanningError

_JOINS = frozenset(["and", "&", ",", "plus", "/", "or", "+"])
_WHOLE = word_set("jewellery jewelry furniture paper clothing equipment cloth cutlery cookware matter mail fruit")
"""Nouns of which a piece is a whole thing."""
_INDEFINITE = word_set("a an any some")
_KINDS = word_set(
    "fruit vegetable food snack cutlery silverware tableware crockery cookware kitchenware utensil tool dish vessel "
    "drinkware ornament decoration"
)
"""Nouns for kinds of things: "some fruit" is any fruit, where "the fruit" is the one that both know."""


@dataclass(frozen=True)
class DescribedThing:
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
        every: "all", "every", "each" of them.
        several: how many of those that a pronoun stands for; 0: all.
        others: it stands for what was not moved yet: "one", "two", "another"; and not for "two of them".
    """

    name: str
    states: tuple[Verb, ...] = ()
    count: int = 1
    plural: str = ""
    pronoun: bool = False
    definite: bool = False
    described: bool = False
    inside: tuple[DescribedThing, ...] = ()
    every: bool = False
    several: int = 0
    others: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return a name for each of them."""
        return (self.name, *(f"{ORDINALS[at]} {self.name}" for at in range(1, self.count)))

    def standing(self, relation: str, indefinite: bool) -> DescribedThing:
        """Return the thing, named with how it stands to others: "left of lamp".

        Raises:
            PlanningError: there are to be several of it.
        """
        if self.count > 1 or self.every or self.plural:
            raise PlanningError(f"not understood: several things that are {relation!r}: name one at a time")
        article = "a " if indefinite else ""
        return replace(self, name=f"{article}{self.name or 'thing'} {relation}", pronoun=False)

    def on_floor(self, floor: str) -> DescribedThing:
        """Return the thing, named with the floor on which it is."""
        plural = with_floor(floor, self.plural) if self.plural else ""
        return replace(self, name=with_floor(floor, self.name), plural=plural)


def things_of(words: Words) -> tuple[DescribedThing, ...]:
    """Return the things of a list: "a fork, a spoon and two cups".

    Raises:
        PlanningError: one of them is none.
    """
    parts: list[list[str]] = [[]]
    for at, word in enumerate(words):
        if word not in _JOINS:
            parts[-1].append(word)
        elif RELATIVE & set(parts[-1]) and _only_adjectives(_until_join(words[at + 1 :])):
            parts[-1].append("and")  # "the supply that is clean and blue" is one
        elif parts[-1][-1:] == ["orange"] and set(words[at + 1 : at + 2]) & ARTICLES:
            parts.append([])  # "the orange and the egg" are two
        elif not (parts[-1] and _only_adjectives(parts[-1])):  # "a green and gold spoon" is one
            parts.append([])
    parts = [part for part in parts if part]
    if len(parts) > 1 and parts[0][0] == "both" and len(parts[0]) > 1 and singular(parts[0][-1]) == parts[0][-1]:
        parts[0] = parts[0][1:]  # "both the mug and the plate" are one of each
    return tuple(thing_of(tuple(part)) for part in parts)


def thing_of(words: Words) -> DescribedThing:
    """Return one noun phrase.

    Raises:
        PlanningError: it names nothing.
    """
    said = " ".join(words)
    words, floor = floor_apart(trimmed(words))
    if floor:
        return (thing_of(words) if set(words) - ARTICLES else DescribedThing("")).on_floor(floor)
    words, relation = relation_apart(words)
    indefinite = bool(_INDEFINITE & set(words[:1]))
    if relation:
        named = tuple("thing" if word == "one" else word for word in words)
        return thing_of(named).standing(relation, indefinite)
    if not words:
        raise PlanningError(f"it is not said what: {said[:80]!r} names no thing" if said else "it is not said what")
    if words[0] in SOMETHING:
        return DescribedThing(name_of(words, said), described=True)
    relative = next((at for at, word in enumerate(words) if at and word in RELATIVE), None)
    if relative is not None:
        return _with_relative(words, relative, said)
    if words in (("one",), ("another",), ("the", "other")):
        return DescribedThing("", pronoun=True, several=1, others=True)
    if words[0] in PRONOUNS and words[1:] in ((), ("both",), ("all",)):
        return DescribedThing("", pronoun=True, count=1)
    if words[0] in PRONOUNS and words[0] not in ARTICLES and words[0] not in ("one", "ones"):
        raise PlanningError(f"not understood: {said[:80]!r}")
    every = bool(_EVERY & set(words[:2]))
    definite, count, words = _counted(words)
    states: list[Verb] = []
    words = _without_water(words, states)
    words = _measured(words, states)
    if words in (("it",), ("them",)):
        several = 0 if "both" in said.split() else count
        return DescribedThing("", _ordered(states), pronoun=True, definite=True, several=several)
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
            states.append(Verb.SLICE)
        elif word in SLICES and len(words) == 1:
            return DescribedThing("", (Verb.SLICE,), pronoun=True, definite=definite)
        elif (word not in ARTICLES or (kept and word == "one")) and word not in FILLER:
            kept.append(word)
    plural = ""
    end = kept.index("of") if "of" in kept[1:] else len(kept)
    if not kept:
        several = 0 if definite or "both" in said.split() else count
        return DescribedThing(
            "", tuple(dict.fromkeys(states)), pronoun=True, definite=True, several=several, others=several > 0
        )
    if kept[-1] in ("one", "ones"):
        return DescribedThing(name_of(kept[:-1], said), _ordered(states), pronoun=True, definite=True)
    refuse_compared(kept, said)
    one = singular(kept[end - 1])
    sliced = Verb.SLICE in states and words and words[-1] in SLICES
    if count == 0 and one != kept[end - 1] and not sliced:
        count, plural = 2, name_of(kept, said)
    if count > 1:
        kept[end - 1] = one
    states.sort(key=list(Verb).index)
    name = name_of(kept, said)
    if indefinite and count < 2 and kept[-1] in _KINDS:
        name = f"a {name}"
    return DescribedThing(name, _ordered(states), max(1, count), plural, definite=definite and count == 0, every=every)


def like(name: str, about: str) -> str:
    """Return the name of a thing like another one.

    "the red one" after "the blue mug" is "red mug", "the other one" is "second blue mug".
    """
    if about in ("other", "another"):
        return f"{ORDINALS[1]} {name}"
    return f"{about} {noun(name)}" if about else name


def _with_relative(words: Words, at: int, said: str) -> DescribedThing:
    """Return a thing with a relative clause.

    In "the fruit that you cut" it says which one is meant; in "the box that is on the desk" it does not.
    """
    thing = thing_of(words[:at])
    if not {"you", "i", "we"} & set(words[at:]) and set(words[at:]) & (INTO | NEAR | FROM):
        return thing
    return replace(thing, name=name_of(_no_article(words), said), states=(), definite=True, described=True)


def _without_water(words: Words, states: list[Verb]) -> Words:
    """Return the words without the water, which becomes a state: "a mug of water", "a mug full of water".

    Raises:
        PlanningError: it is to be filled with something else.
    """
    if len(words) > 2 and words[-2] in ("of", "with") and words[-1] in DRINKS and set(words) & VESSELS:
        said = " ".join(words)
        raise PlanningError(f"not understood: {said[:80]!r}: skills fill with water; say 'fill the mug with coffee'")
    for end in (("filled", "with", "water"), ("full", "of", "water"), ("of", "water")):
        if len(words) > len(end) and words[-len(end) :] == end:
            states.append(Verb.FILL)
            return words[: -len(end)]
    return words


_EVERY = frozenset(["all", "every", "each"])
_VAGUE = word_set("all few several many couple numerous various every exactly precisely")
"""Before a plural, in place of a number or beside one."""
_TOO_MANY = word_set("seven eight nine ten eleven twelve dozen twenty hundred 7 8 9 10 11 12 15 20 100")


def _no_article(words: Sequence[str]) -> list[str]:
    kept = list(words)
    while kept and kept[0] in ARTICLES:
        kept = kept[1:]
    return kept


def _counted(words: Words) -> tuple[bool, int, Words]:
    """Return whether it is known, how many (0: it is not said), and the rest."""
    definite, count = False, 0
    said = " ".join(words)
    while words and (words[0] in ARTICLES or words[0] in NUMBERS or words[0] in _VAGUE or words[0] in _TOO_MANY):
        following = words[1] if len(words) > 1 else ""
        if words[0] in _TOO_MANY or (words[0].isdigit() and words[0] not in NUMBERS):
            raise PlanningError(f"not understood: {words[0]!r} in {said[:80]!r}: name six things at most")
        if words[0] in NUMBERS:
            count = NUMBERS[words[0]]
        elif words[0] in ("a", "an", "one", "each", "another") and following not in _VAGUE | _TOO_MANY:
            count = count or 1
        definite = definite or words[0] in DEFINITE
        words = words[1:]
        if following == "of" and words and words[0] == "of":
            words = words[1:]
    if len(words) > 2 and words[0] in ("pair", "couple") and words[1] == "of":
        count, words = 2, words[2:]
    return definite, count, words


def _measured(words: Words, states: list[Verb]) -> Words:
    """Return the words without "slice of", "head of": what is left is the thing."""
    while "of" in words[:-1]:
        at = words.index("of")
        head = words[at - 1] if at else ""
        if (head == "piece" and words[-1] in _WHOLE) or (
            head not in MEASURES and head not in SLICES and head not in PARTS
        ):
            break
        states += [STATES[word] for word in words[: at - 1] if word in STATES]
        if head in SLICES:
            states.append(Verb.SLICE)
        words = tuple(word for index, word in enumerate(words) if index > at)
    return words


def _ordered(states: Sequence[Verb]) -> tuple[Verb, ...]:
    """Return the states in the order in which they are made: cut first, then washed, then heated or cooled."""
    order = (
        Verb.SLICE,
        Verb.CLEAN,
        Verb.FILL,
        Verb.HEAT,
        Verb.COOL,
    )
    return tuple(sorted(dict.fromkeys(states), key=order.index))


def _adjective(word: str) -> bool:
    return word in STATES or word in COLOURS or word == "golden"


def _until_join(words: Words) -> Words:
    end = next((at for at, word in enumerate(words) if word in _JOINS), len(words))
    return words[:end]


def _only_adjectives(words: Sequence[str]) -> bool:
    known = [word for word in words if word not in ARTICLES and word not in NUMBERS]
    return bool(known) and all(_adjective(word) or word in ("large", "small", "big", "tall") for word in known)
