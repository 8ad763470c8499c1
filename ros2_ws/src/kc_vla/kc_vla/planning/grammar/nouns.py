"""Words that make up the name of a thing or a place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kc_vla.memory.floors import is_floor_word
from kc_vla.memory.references.spatial_phrases import relation_of
from kc_vla.planning.grammar.first_verb import Words, starts_with_verb
from kc_vla.planning.grammar.lexicon import FILLER, INTO, word_set
from kc_vla.planning.interface import PlanningError

_MOST_NOUN = 8
"""Words that a thing is called by."""
RELATIVE = word_set("that which who where you i we")
SOMETHING = frozenset(["something", "anything", "whatever", "what"])
_CLAUSE = word_set("when whenever once while because since as until till after before if unless so")
"""What begins another clause, of when or why, that has no place in a name."""
_ALWAYS_PLURAL = word_set(
    "keys scissors lights tissues supplies pants shorts jeans chips stairs drawers tongs contents groceries shelves"
)
_ONE_WITH_S = word_set("glass dress bus gas canvas compass lens cactus tennis series")


def trimmed(words: Words) -> Words:
    """Return the words without what means nothing at both ends."""
    while words and (words[-1] in FILLER or words[-1] in (",", "and", "to", "/")):
        words = words[:-1]
    while words and (words[0] in FILLER or words[0] in (",", "and", "of", "/")):
        words = words[1:]
    return words


def singular(word: str) -> str:
    """Return a noun of one thing."""
    if word in _ALWAYS_PLURAL or word in _ONE_WITH_S or len(word) < 3 or not word.endswith("s") or word.endswith("ss"):
        return word
    for ending, instead in (("knives", "knife"), ("loaves", "loaf"), ("shelves", "shelf"), ("ies", "y")):
        if word.endswith(ending) and len(word) > 4:
            return word[: len(word) - len(ending)] + instead
    if re.search(r"(?:s|x|z|ch|sh|o)es$", word):
        return word[:-2] if not word.endswith(("vases", "cases")) else word[:-1]
    return word[:-1]


def name_of(words: Sequence[str], said: str) -> str:
    """Return a name of words, if they can be one; PlanningError otherwise."""
    if not words:
        raise PlanningError(f"it is not said what: {said[:80]!r} names no thing")
    if len(words) > _MOST_NOUN and not any(word in RELATIVE or word in SOMETHING for word in words):
        raise PlanningError(f"not understood: {said[:80]!r}: name a thing in {_MOST_NOUN} words at most")
    if others := _CLAUSE & set(words[1:-1]):  # "the thing you washed before" is one
        raise PlanningError(f"not understood: {min(others)!r} in {said[:80]!r}: say what is to be done, and now")
    if words[0] in SOMETHING:
        return " ".join(words)
    for at in range(1, len(words)):
        article = words[at] in ("a", "an", "the") and words[at - 1] not in (
            "of",
            "in",
            "on",
            "you",
            "from",
            "with",
            "at",
        )
        if (
            article
            or words[at] in ("it", "them")
            or (at + 1 < len(words) and words[at + 1] == "it" and starts_with_verb(words[at:]))
        ):
            raise PlanningError(f"not understood: {said[:80]!r}")
    return " ".join(words)


def floor_apart(words: Words) -> tuple[Words, str]:
    """Return a noun phrase without its words for a floor, and these: ("the", "mug"), "upstairs"."""
    floors = [word for word in words if is_floor_word(word)]
    return tuple(word for word in words if not is_floor_word(word)), " ".join(floors)


def begins_relation(words: Words) -> bool:
    """Return whether words begin with how something stands to others: "next to the plate"."""
    return bool(words) and words[0] not in INTO and relation_of(f"thing {' '.join(words)}") is not None


def relation_apart(words: Words) -> tuple[Words, str]:
    """Return a noun phrase without the word that identifies it by others, and that: ("the", "mug"), "left of lamp"."""
    found = [word for word in words if " " in word]
    return tuple(word for word in words if " " not in word), " ".join(found)


def with_floor(floor: str, name: str) -> str:
    """Return the name of what is on a floor: "upstairs mug"; that of the floor where nothing else is named."""
    return f"{floor} {name}".strip()
