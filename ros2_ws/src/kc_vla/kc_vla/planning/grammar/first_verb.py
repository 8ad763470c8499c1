"""The verb that a clause begins with, and what people say before it: "could you please", "the robot should"."""

from __future__ import annotations

from collections.abc import Sequence

from kc_vla.planning.grammar.lexicon import (
    FILLER,
    OPENINGS,
    Verb,
    first_words,
    longest,
    particles,
    verbs,
    word_set,
)

Words = tuple[str, ...]
_NUMBERS = word_set("second third fourth fifth step 1 2 3 4 5 6")
_BEFORE = tuple(tuple(each.split()) for each in OPENINGS)


def starts_with_verb(words: Sequence[str]) -> bool:
    """Return whether a clause can begin here."""
    return verb_at(words) is not None


def verb_at(words: Sequence[str]) -> tuple[Verb, int] | None:
    """Return the verb that words begin with, and of how many words it is."""
    if not words or words[0] not in first_words():
        return None
    for count in range(min(longest(), len(words)), 0, -1):
        deed = verbs().get(tuple(words[:count]))
        if deed is not None:
            return deed, count
    return (Verb.TOGGLE, 1) if any((words[0], each) in particles() for each in words[1:8]) else None


def opened(words: Words) -> Words:
    """Return words without what may come before a verb."""
    while words:
        if words[0] in FILLER or words[0] in (",", "/") or (words[0] in _NUMBERS and words[1:2] in ((",",), ())):
            words = words[1:]
            continue
        found = verb_at(words)
        for opening in _BEFORE:
            if words[: len(opening)] == opening and (found is None or found[1] <= len(opening)):
                rest = opened(words[len(opening) :])
                if starts_with_verb(rest) or found is None:
                    words = words[len(opening) :]
                    break
        else:
            return words
    return words
