"""Words that identify a thing by others: "the mug left of the lamp", "the apple nearest to the sink".

What such words mean is read where plans are carried out (`kc_vla.memory.references.spatial_phrases`). Here it is only
found out which words belong to a thing, and which say where something goes. Those of a thing become one word at its
end, which has spaces: ("the", "mug", "left of lamp").
"""

from __future__ import annotations

from collections.abc import Iterator

from kc_vla.memory.references.spatial_phrases import relation_of
from kc_vla.planning.grammar.first_verb import Words
from kc_vla.planning.grammar.lexicon import ARTICLES, FROM, INTO, LAMPS, PERSON, SUPERLATIVES, Verb, word_set
from kc_vla.planning.grammar.nouns import begins_relation
from kc_vla.planning.grammar.places import place_of

_SAID = {
    **{each: "next to" for each in ("next", "beside", "by")},
    **{each: each for each in ("near", "behind", "between", "under", "underneath", "beneath", "below", "above")},
    **{"left": "left of", "right": "right of", "front": "in front of"},
    **{"nearest": "nearest to", "farthest": "farthest from"},
}
_NEAREST = frozenset({"nearest", "farthest"})
_ALONE = word_set("thing item object one stuff something anything")
"""What is no name of a thing: the rest has to tell which one is meant."""
_STANDS = word_set("is are stands stand sits sit lies lie standing sitting lying located placed")
_SEEN = word_set("seen viewed looking")
_WHERE = frozenset({"in", "on", "inside", "at"})
_SIDES = (("the", "left"), ("the", "right"))
_NEVER = frozenset({Verb.LOOK, Verb.EXPLORE, Verb.USE, Verb.MAKE})

Tails = list[tuple[str, Words]]
"""Prepositions, each with what comes after it."""


def without_clause(words: Words) -> tuple[Words, bool]:
    """Return words without "that is", "which stands" or "lying" before a relation, and whether there was one."""
    for at in range(1, len(words)):
        end = at + (words[at] in ("that", "which"))
        while end < len(words) and words[end] in _STANDS:
            end += 1
        if end > at and words[end - 1] in _STANDS and begins_relation(words[end:]):
            return (*words[:at], *words[end:]), True
    return words, False


def with_relations(deed: Verb, head: Words, tails: Tails, takes: bool, clause: bool) -> tuple[Words, Tails]:
    """Return a clause in which what identifies a thing by others is one word at its end.

    It is the thing of the clause, where that comes from ("the mug from the shelf next to the fridge"), or what it goes
    next to.

    Args:
        deed: of the clause.
        head: words for its thing.
        tails: what comes after.
        takes: its verb is "take", after which a place is where the thing is, unless it says "to".
        clause: "that is" came before the first relation.

    Raises:
        PlanningError: it is not clear what is compared.
    """
    tails = _with_viewpoint(tails)
    head, tails = _nearest_behind(deed, head, tails)
    if not head or not tails or deed in _NEVER:
        return head, tails
    stays = takes or deed is not Verb.MOVE
    if _tells(head, tails, stays or clause):
        return _folded(head, tails, stays)
    if not tails[1:] or tails[1][0] not in _SAID:
        return head, tails
    if stays and tails[0][0] in _WHERE:  # "the mug on the table next to the plate"
        head, rest = _folded(head, tails[1:], stays)
        return head, [tails[0], *rest]
    if (stays and tails[0][0] in FROM) or (tails[0][0] in _SAID and tails[0][1]):
        source, rest = _folded(tails[0][1], tails[1:], stays)
        return head, [(tails[0][0], source), *rest]
    return head, tails


def _folded(thing: Words, tails: Tails, stays: bool) -> tuple[Words, Tails]:
    """Return a thing with what belongs to it as its last word, and the other tails."""
    count = 1
    while count < len(tails) and _belongs(tails, count, stays):
        count += 1
    text = " ".join(_said(*each) for each in tails[:count])
    if relation_of(f"thing {text}") is None:
        return thing, tails
    return (*thing, text), tails[count:]


def _with_viewpoint(tails: Tails) -> Tails:
    """Return the tails with "seen from the door" as a part of what comes before it."""
    found: Tails = []
    for preposition, words in tails:
        if preposition == "from" and found and found[-1][1] and found[-1][1][-1] in _SEEN:
            before, last = found[-1]
            last = tuple(word for word in last[:-1] if word not in ("as", "when", ","))
            found[-1] = (before, (*last, f"seen from {place_of(words)}"))
        else:
            found.append((preposition, words))
    return found


def _nearest_behind(deed: Verb, head: Words, tails: Tails) -> tuple[Words, Tails]:
    """Return "get the nearest mug to the sink" as "get the mug nearest to the sink"; "bring" would have it go there."""
    at = next((at for at, word in enumerate(head[:-1]) if word in SUPERLATIVES), None)
    if at is None or not tails or deed is Verb.MOVE or tails[0][0] not in ("to", "from"):
        return head, tails
    return (*head[:at], *head[at + 1 :]), [(SUPERLATIVES[head[at]], tails[0][1]), *tails[1:]]


def _tells(head: Words, tails: Tails, identifies: bool) -> bool:
    """Return whether the first tail says which thing is meant, and not where it goes."""
    preposition, words = tails[0]
    if preposition == "on" and words in _SIDES:
        return identifies
    if preposition not in _SAID or not words or words[-1] == "other":
        return False
    if preposition == "by" and (words[0] not in ARTICLES or LAMPS & set(words)):
        return False
    if preposition in _NEAREST or identifies:
        return True
    later = [each for each, _ in tails[1:]]
    alone = [word for word in head if word not in ARTICLES][-1:]
    return (bool(set(alone) & _ALONE) and bool(set(later) & INTO)) or bool({"to", "into", "onto"} & set(later))


def _belongs(tails: Tails, at: int, stays: bool) -> bool:
    """Return whether a later tail says more of what comes before it, and not where something goes or comes from."""
    preposition, words = tails[at]
    if preposition in _SAID:
        return bool(words)
    if preposition not in _WHERE or not words or words[0] in PERSON:
        return False
    later = {each for each, _ in tails[at + 1 :]}
    return stays or bool(later & INTO)


def _said(preposition: str, words: Words) -> str:
    seen = " ".join(word for word in words if " " in word)
    words = tuple(word for word in words if " " not in word and word != ",")
    if words in _SIDES:
        return f"on {' '.join(words)}"
    if words and words[0] in PERSON:
        names = words[0]
    elif preposition == "between":
        names = " and ".join(map(place_of, _separate(words)))
    else:
        names = place_of(words)
    return f"{_SAID.get(preposition, preposition)} {names} {seen}".strip()


def _separate(words: Words) -> Iterator[Words]:
    """Yield the places of "the plate and the cup", one after the other."""
    end = next((at for at, word in enumerate(words) if word in ("and", "&", ",")), len(words))
    if words[:end]:
        yield words[:end]
    if words[end + 1 :]:
        yield from _separate(words[end + 1 :])
