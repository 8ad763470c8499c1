"""Where something is or goes: prepositions and the places that come after them."""

from __future__ import annotations

from kc_vla.planning.grammar.first_verb import Words, starts_with_verb
from kc_vla.planning.grammar.lexicon import (
    ARTICLES,
    FILLER,
    INNER,
    INTO,
    MEASURES,
    NUMBERS,
    PARTS,
    PREPOSITIONS,
    SUPERLATIVES,
)
from kc_vla.planning.grammar.nouns import (
    RELATIVE,
    SOMETHING,
    begins_relation,
    floor_apart,
    name_of,
    relation_apart,
    singular,
    trimmed,
    with_floor,
)
from kc_vla.planning.interface import PlanningError

_LONG = (
    (("on", "top", "of"), "on"),
    (("on", "the", "top", "of"), "on"),
    (("in", "to"), "into"),
    (("on", "to"), "onto"),
    (("in", "front", "of"), "front"),
    (("in", "front"), "front"),
    (("to", "the", "left", "of"), "left"),
    (("to", "the", "right", "of"), "right"),
    (("on", "the", "left", "of"), "left"),
    (("on", "the", "right", "of"), "right"),
    (("to", "left", "of"), "left"),
    (("to", "right", "of"), "right"),
    (("in", "between"), "between"),
    (("nearest", "to"), "nearest"),
    (("closest", "to"), "nearest"),
    (("farthest", "from"), "farthest"),
    (("furthest", "from"), "farthest"),
    (("next", "to"), "next"),
    (("close", "to"), "near"),
    (("out", "of"), "out"),
    (("off", "of"), "off"),
    (("inside", "of"), "inside"),
    (("up", "on"), "on"),
    (("down", "on"), "on"),
    (("down", "in"), "in"),
    (("over", "to"), "to"),
    (("across", "from"), "across"),
)


def split_at_prepositions(words: Words, goes: bool = False) -> tuple[Words, list[tuple[str, Words]]]:
    """Return what comes before the first preposition, and each preposition with what comes after it.

    Args:
        words: behind a verb.
        goes: something goes to one of the places.

    Returns:
        "on top of", "in front of", "next to", "out of" are one preposition each: "on", "front", "next", "out".
    """
    head: list[str] = []
    tails: list[tuple[str, list[str]]] = []
    at = 0
    while at < len(words):
        word = words[at]
        relative = bool(tails[-1][1] if tails else head) and word in ("that", "which", "you")
        nameless = not at and word in SOMETHING and not begins_relation(words[1:])
        if relative or nameless:
            end = _end_of_description(words, at, goes)
            (tails[-1][1] if tails else head).extend(words[at:end])
            at = end
            continue
        beside = (
            word in ("left", "right")
            and words[at + 1 : at + 2] == ("of",)
            and at
            and (words[at - 1] not in ARTICLES or (at > 1 and words[at - 1] == "one"))
        )
        compared = bool(head) and word in SUPERLATIVES and words[at + 1 : at + 2] in (("to",), ("from",))
        if beside or compared or (word in PREPOSITIONS and not _noun_here(words, at)):
            preposition, used = (word, 2) if beside else _preposition(words, at)
            if tails and set(tails[-1][1]) <= ARTICLES and preposition in INTO:
                tails[-1] = (tails[-1][0] if tails[-1][0] != "to" else preposition, [])
            else:
                tails.append((preposition, []))
            at += used
            continue
        (tails[-1][1] if tails else head).append(word)
        at += 1
    return tuple(head), [(preposition, tuple(each)) for preposition, each in tails]


def _end_of_description(words: Words, at: int, goes: bool) -> int:
    """Return where a description ends, whose own prepositions are no places.

    Such are "that you cooked in the microwave" and "something to cut with".
    """
    for each in range(at + 1, len(words) - 1):
        a_deed = starts_with_verb(words[each + 1 :]) or (words[at] in SOMETHING and words[each + 1] not in ARTICLES)
        beside = words[at] in SOMETHING and begins_relation(words[each:])
        if beside or words[each] in ("onto", "into") or (words[each] == "to" and not a_deed):
            return each
    last = (each for each in range(len(words) - 1, at, -1) if goes and words[each] in INTO)
    return next(last, len(words))  # "put the fruit that you cut on the table": its last place is where it goes


def place_of(words: Words) -> str:
    """Return the name of a place: "the left side of the desk" is "desk", "one of the drawers" is "drawer".

    Raises:
        PlanningError: it names none.
    """
    said = " ".join(words)
    words, floor = floor_apart(trimmed(words))
    if floor:
        return with_floor(floor, place_of(words) if set(words) - ARTICLES else "")
    words, relation = relation_apart(words)
    if relation:
        return f"{place_of(words)} {relation}"
    relative = next((at for at, word in enumerate(words) if at and word in RELATIVE), None)
    if relative is not None:
        named = tuple(word for at, word in enumerate(words[:relative]) if at or word not in ARTICLES)
        words = (*_described(words[relative:]), *named)
    while "of" in words:
        at = words.index("of")
        head = [word for word in words[:at] if word not in ARTICLES]
        if head and head[-1] in INNER:
            break
        if head and head[-1] not in PARTS and head[-1] not in NUMBERS and head[-1] not in MEASURES and head != ["one"]:
            break
        several = words[:at] and words[at - 1] in ("one", "each", "any")
        words = words[at + 1 :]
        if several and words:
            words = (*words[:-1], singular(words[-1]))
    if "of" in words and words[words.index("of") - 1] in INNER:
        words = words[: words.index("of")]
    if any(
        word in ("and", ",", "or") or (at and word in ("a", "an", "the") and words[at - 1] not in ARTICLES | {"of"})
        for at, word in enumerate(words)
    ):
        raise PlanningError(f"not understood: {said[:80]!r}: name one place")
    kept = [word for word in words if word not in ARTICLES and word not in FILLER]
    if len(kept) > 1 and kept[-1] in ("top", "bottom", "surface") and kept[-2:] != ["counter", "top"]:
        kept = kept[:-1] if kept[-2] not in ("counter", "stove", "table", "lap", "desk") else kept
    if not kept or kept in (["another"], ["other"], ["be"]):
        raise PlanningError(f"it is not said where: {said[:80]!r} names no place" if said else "it is not said where")
    return name_of(kept, said)


def _described(words: Words) -> Words:
    """Return what comes before a noun in place of "that is red" behind it; nothing for what was done with it."""
    is_so = len(words) > 2 and words[0] in ("that", "which") and words[1] in ("is", "are")
    return tuple(word for word in words[2:] if word not in ARTICLES) if is_so else ()


def _preposition(words: Words, at: int) -> tuple[str, int]:
    """Return the preposition at a place, and how many words it takes."""
    rest = words[at : at + 4]
    for said, meant in _LONG:
        if rest[: len(said)] == said:
            return meant, len(said)
    return words[at], 1


def _noun_here(words: Words, at: int) -> bool:
    """Return whether a word that is a preposition elsewhere is part of a noun here: "the left drawer"."""
    word = words[at]
    if word in ("left", "right", "front", "across", "back", "over", "within"):
        follows = words[at + 1] if at + 1 < len(words) else ""
        return not (word == "front" and follows == "of") and word not in ("across", "over", "within")
    return word == "out" and at + 1 < len(words) and words[at + 1] not in ("of", "from")
