"""What a thing is to be, as it is said of it: "the lamp switched on", "the apple is washed", "the mug on the desk"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kc_vla.planning.grammar.first_verb import Words, opened, starts_with_verb
from kc_vla.planning.grammar.lexicon import (
    ARTICLES,
    INTO,
    NEAR,
    NUMBERS,
    PERSON,
    PREPOSITIONS,
    WITH,
    participles,
    word_set,
)
from kc_vla.planning.grammar.politeness import (
    JOINS,
    LINKS,
    begins,
    headed,
    skipped,
    without_adverbs,
    without_politeness,
)

STATES = {
    **dict.fromkeys(("clean", "spotless"), ("wash",)),
    **dict.fromkeys(("hot", "warm"), ("heat",)),
    **dict.fromkeys(("cold", "cool"), ("cool",)),
    **{"open": ("open",), "shut": ("close",), "full": ("fill",)},
    **{"on": ("turn", "on"), "off": ("turn", "off")},
}
"""What a thing is to be, and what makes it so."""
LAST = frozenset(["on", "off"])
"""States that are prepositions elsewhere."""
SUBJECTS = word_set("you i we that which who was were been just")
"""Before a participle that describes: "the mug you washed"."""
OF_NOTHING = word_set("i you we me us robot to be")
"""What no thing begins with."""
_PIECES = word_set("slices pieces halves half quarters chunks")
_WHEN = word_set("after before once when while until as")
"""Before another clause."""
_HERE = frozenset(["here"])


class ThingStatement(NamedTuple):
    """What is said about a thing.

    Attributes:
        command: what makes it as it is to be.
        thing: as it is called.
        rest: the words after that.
    """

    command: Words
    thing: Words
    rest: Words


def made_so(words: Words) -> tuple[Words, int] | None:
    """Return what makes a thing as words begin to say it is to be, and how many words say it."""
    if not words:
        return None
    if words[0] == "in" and words[1:2] and words[1] in _PIECES and ends_there(words, 2):
        return ("slice",), 2
    for count in range(min(4, len(words)), 0, -1):
        verb = participles().get(words[:count])
        if verb is not None and ends_there(words, count):
            return verb, count
    state = STATES.get(words[0])
    follows = words[1] if len(words) > 1 else ""
    if state is None or (words[0] in LAST and follows not in ("", "for", "while", "again", *JOINS)):
        return None
    return (state, 1) if ends_there(words, 1) else None


def ends_there(words: Words, count: int) -> bool:
    """Return whether a predicate of so many words can end there: a noun would make it one that describes."""
    rest = without_adverbs(words[count:])
    return words[count : count + 1] == ("once",) or not rest or rest[0] in JOINS | PREPOSITIONS | _WHEN


def links(words: Words) -> Iterator[tuple[int, int]]:
    """Yield where a thing is joined to what it is to be, and how many words do so."""
    for at in range(1, len(words)):
        if words[at] in _WHEN:
            return
        count = begins(words[at:], LINKS)
        if count and words[at - 1] not in SUBJECTS:
            yield at, count


def linked(words: Words) -> ThingStatement | None:
    """Return what a sentence with a link says: "the lamp is switched on"."""
    for at, count in links(words):
        found = predicate(words[:at], words[at + count :])
        if found is not None:
            return found
    return None


def unlinked(words: Words, places: bool = True) -> ThingStatement | None:
    """Return what a sentence without a link says: "the lamp switched on", "the mug on the desk"."""
    place, described = 0, False
    for at in range(1, len(words)):
        word, before = words[at], words[at - 1]
        described = described or word in ("that", "which", "who", "you")  # "the mug that is clean" is one
        if word == "to" and starts_with_verb(words[at + 1 :]) and before not in ("something", "anything"):
            break
        if place and word in JOINS and (starts_with_verb(opened(words[at + 1 :])) or headed(words[at + 1 :])):
            break
        of_noun = before in ARTICLES or before in NUMBERS or before in SUBJECTS or before in PREPOSITIONS
        if not described and not of_noun and made_so(words[at:]) is not None:
            return predicate(words[:at], words[at:])
        if not place and word in (INTO | NEAR) - WITH and before not in ("something", "anything"):
            place = at
        if word in JOINS and starts_with_verb(opened(skipped(words[at:], JOINS))):
            break
    return predicate(words[:place], words[place:]) if place and places else None


def predicate(thing: Words, after: Words) -> ThingStatement | None:
    """Return what the words after a thing say of it; None where that makes it nothing, or goes nowhere."""
    if not thing or thing[0] in OF_NOTHING or _joined(thing):
        return None
    follows = without_adverbs(after)
    made = made_so(follows)
    if made is not None:
        command, rest = until_join(follows[made[1] :])
        return ThingStatement((*made[0], *thing, *command), thing, rest)
    if follows and (follows[0] in (INTO | NEAR) - WITH or follows[0] in _HERE):
        command, rest = until_join(follows)
        return ThingStatement(_placed(thing, command), thing, rest)
    return None


def _placed(thing: Words, where: Words) -> Words:
    if where[:1] == ("here",) or (where[:1] in (("to",), ("with",), ("by",), ("near",)) and set(where[1:2]) & PERSON):
        return ("bring", "me", *thing)
    return ("put", *thing, *where)


def _joined(thing: Words) -> bool:
    """Return whether there is more than one clause in what would be a thing."""
    return any(word in JOINS and starts_with_verb(opened(thing[at + 1 :])) for at, word in enumerate(thing))


def _more(words: Words) -> bool:
    """Return whether another thing follows, and what it is to be."""
    end = next((at for at, word in enumerate(words) if word in JOINS), len(words))
    words = words[:end]
    return any(
        words[at] in INTO | NEAR or begins(words[at:], LINKS) or (made_so(words[at:]) and words[at - 1] not in ARTICLES)
        for at in range(1, end)
    )


def until_join(words: Words) -> tuple[Words, Words]:
    """Return what belongs to a predicate, and what is said behind it."""
    for at, word in enumerate(words):
        if word not in JOINS or not at:
            if word in JOINS:
                return (), words[1:]
            continue
        behind = skipped(words[at:], JOINS)
        if not behind:
            return words[:at], ()
        if word == "then" or starts_with_verb(opened(behind)) or headed(without_politeness(behind)):
            return words[:at], behind
        if made_so(without_adverbs(behind)) or behind[0] in INTO or _more(behind):
            return words[:at], behind
    return words, ()
