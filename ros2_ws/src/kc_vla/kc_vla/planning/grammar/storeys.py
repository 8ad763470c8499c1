"""Words for floors in clauses: "the mug upstairs" is a thing, "bring it upstairs" a place where it goes."""

from __future__ import annotations

from collections.abc import Sequence

from kc_vla.memory.floors import is_floor_word
from kc_vla.planning.grammar.first_verb import Words
from kc_vla.planning.grammar.lexicon import ARTICLES, FROM, INTO
from kc_vla.planning.grammar.nouns import floor_apart
from kc_vla.planning.grammar.phrases import DescribedThing

Tails = list[tuple[str, Words]]
"""Prepositions, each with what comes after it."""


def floor_of_place(head: Words, tails: Tails) -> tuple[Words, Tails]:
    """Return a clause in which something goes somewhere, with the floor at the place that it says more of.

    "put the mug upstairs on the desk" is "put the mug on the desk upstairs", "bring the mug upstairs" is "bring the mug
    to upstairs". In "put the mug upstairs on the desk downstairs" it says which mug.
    """
    if len(head) < 2 or not is_floor_word(head[-1]) or set(head[:-1]) <= ARTICLES:
        return head, tails
    places = [at for at, (preposition, words) in enumerate(tails) if preposition in INTO and words]
    if any(floor_apart(tails[at][1])[1] for at in places):
        return head, tails
    if not places:
        return head[:-1], [*tails, ("to", head[-1:])]
    at = places[-1]
    preposition, words = tails[at]
    return head[:-1], [*tails[:at], (preposition, (*words, head[-1])), *tails[at + 1 :]]


def floor_of_things(things: tuple[DescribedThing, ...], tails: Tails) -> tuple[tuple[DescribedThing, ...], Tails]:
    """Return the things of a clause by the floor that they are to come from: "a mug from upstairs" is an upstairs mug.

    What a pronoun stands for has no other name: the floor stays where it comes from.
    """
    floors = [words[0] for preposition, words in tails if preposition in FROM and _is_floor(words)]
    if not floors or not things or any(each.pronoun for each in things):
        return things, tails
    rest = [(preposition, words) for preposition, words in tails if preposition not in FROM or not _is_floor(words)]
    return tuple(_on_floor(floors[0], each) for each in things), rest


def _on_floor(floor: str, thing: DescribedThing) -> DescribedThing:
    if any(map(is_floor_word, thing.name.split())):
        return thing
    return thing.on_floor(floor)


def _is_floor(words: Sequence[str]) -> bool:
    return len(words) == 1 and is_floor_word(words[0])
