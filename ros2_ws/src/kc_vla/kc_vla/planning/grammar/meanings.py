"""A clause taken apart: the things that it is about, where they come from, where they go, and by what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kc_vla.memory.references.names import NEXT_TO
from kc_vla.planning.grammar.devices import does
from kc_vla.planning.grammar.first_verb import Words
from kc_vla.planning.grammar.lexicon import (
    ARTICLES,
    FILLER,
    FROM,
    INTO,
    LAMPS,
    NEAR,
    PERSON,
    PRONOUNS,
    STATES,
    TIMES,
    VESSELS,
    WITH,
    Verb,
    noun,
    word_set,
)
from kc_vla.planning.grammar.limits import refuse_others
from kc_vla.planning.grammar.phrases import DescribedThing, thing_of, things_of
from kc_vla.planning.grammar.places import place_of, split_at_prepositions
from kc_vla.planning.grammar.reading import Clause
from kc_vla.planning.grammar.relations import with_relations, without_clause
from kc_vla.planning.grammar.storeys import floor_of_place, floor_of_things
from kc_vla.planning.interface import PlanningError

_BY_SINK = word_set("sink stove toaster fridge refrigerator microwave dishwasher coffee oven burner")
"""What stands on or beside a counter: who puts a thing next to it puts it on the counter."""


@dataclass(frozen=True)
class ClauseMeaning:
    """What a clause asks for.

    Attributes:
        deed: what.
        things: what it is done to; empty: what was spoken of before or is next.
        source: where they are now; empty if nothing is said.
        place: where they go, or what is gone to; empty if nothing is said.
        tool: by what it is done: a knife, a device, a lamp; empty for the usual one.
        said: the clause, for people.
        left_out: words that change nothing in the plan.
        back: it goes where it was.
        then: where the vessel stands, or goes, that it is put into: "an apple into a pot on the table" is true of both.
    """

    deed: Verb
    things: tuple[DescribedThing, ...]
    source: str = ""
    place: str = ""
    tool: str = ""
    said: str = ""
    left_out: tuple[str, ...] = ()
    back: bool = False
    then: str = ""


_SAID = {"next": "next to", "front": "in front of", "left": "left of", "right": "right of", "out": "out of"}
_WHERE_IT_IS = (
    Verb.ON,
    Verb.OFF,
    Verb.TOGGLE,
    Verb.OPEN,
    Verb.CLOSE,
    Verb.BREAK,
)


def meaning_of(clause: Clause) -> ClauseMeaning:
    """Take a clause apart.

    Raises:
        PlanningError: it has words that cannot be meant.
    """
    back = clause.particle == "back" or ("back" in clause.words[:3] and clause.deed is Verb.MOVE)
    words = tuple(
        word
        for at, word in enumerate(clause.words)
        if not (word == "back" and (at + 1 == len(clause.words) or clause.words[at + 1] in (*INTO, "where", "and")))
        and not (word in ("down", "up", "away", "together", "over") and _no_meaning(clause.words, at))
    )
    if clause.deed is Verb.LOOK:
        return _look(clause, words)
    if clause.deed is Verb.MAKE:
        if len(words) < 2 or words[-1] not in STATES:
            raise PlanningError(
                f"not understood: {clause.said[:80]!r}: the skills make nothing but clean, hot, cold, cut"
            )
        return ClauseMeaning(STATES[words[-1]], things_of(words[:-1]), said=clause.said)
    if clause.deed in (Verb.MOVE, Verb.TAKE) and len(words) > 1 and words[0] in PERSON:
        words = words[1:]
        if clause.deed is Verb.MOVE:
            clause = clause._replace(deed=Verb.TAKE)
    words, described = without_clause(words)
    takes = clause.said.startswith(("take ", "taking "))
    head, tails = split_at_prepositions(words, clause.deed is Verb.MOVE)
    head, tails = with_relations(clause.deed, head, tails, takes, described)
    if clause.deed is Verb.GO:
        return _go(clause, head, tails)
    if clause.deed is Verb.MOVE:
        head, tails = floor_of_place(head, tails)
    things, tails = floor_of_things(things_of(head) if head else (), tails)
    meaning = ClauseMeaning(clause.deed, things, said=clause.said, back=back)
    described = False
    for preposition, words in tails:
        if described:  # "the plate that is on the table": where that is, and not where anything goes
            meaning = replace(meaning, left_out=(*meaning.left_out, _said(preposition, words)))
            described = False
            continue
        described = len(words) > 2 and words[-2] in ("that", "which") and words[-1] in ("is", "are")
        meaning = _add(meaning, preposition, words[:-2] if described else words)
    return meaning


def _add(meaning: ClauseMeaning, preposition: str, words: Words) -> ClauseMeaning:
    """Return the meaning with what a preposition says."""
    words = tuple(word for word in words if word not in (",",))
    said = _said(preposition, words)
    deed = meaning.deed
    if preposition == "to" and words and words[0] in PERSON:
        return replace(meaning, deed=Verb.TAKE if deed is Verb.MOVE else deed)
    if preposition in ("to", "for") and deed in (
        Verb.MOVE,
        Verb.TAKE,
        Verb.BIN,
        Verb.THROW,
    ):
        refuse_others(words, meaning.said)
    if not words or (words[0] in PRONOUNS and len(words) == 1 and preposition in INTO | NEAR):
        if words and deed is Verb.MOVE and not meaning.place and not any(each.inside for each in meaning.things):
            return replace(meaning, place="it")
        return meaning  # "a cup with a spoon in it" was said with the spoon
    if preposition == "to" and deed not in (
        Verb.MOVE,
        Verb.TAKE,
        Verb.THROW,
        Verb.BIN,
        Verb.FIND,
    ):
        raise PlanningError(f"not understood: {said[:80]!r} in {meaning.said[:80]!r}")
    if preposition in ("off", "out") and deed in (
        Verb.ON,
        Verb.OFF,
        Verb.OPEN,
        Verb.CLOSE,
        Verb.BREAK,
    ):
        raise PlanningError(f"not understood: {said[:80]!r} in {meaning.said[:80]!r}")
    if words[-1] in TIMES and meaning.deed is not Verb.TAKE:
        return replace(meaning, left_out=(*meaning.left_out, said))
    if words[-1] in ("left", "right"):
        return replace(meaning, left_out=(*meaning.left_out, said))
    if preposition in WITH:
        return _with(meaning, preposition, words, said)
    if preposition == "for" or preposition in ("until", "without", "during"):
        return replace(meaning, left_out=(*meaning.left_out, said))
    if preposition in FROM or (preposition in INTO and deed is Verb.TAKE):
        if meaning.source:
            return replace(meaning, left_out=(*meaning.left_out, said))
        if deed is Verb.TAKE and preposition in ("to", "onto", "into"):
            return replace(meaning, deed=Verb.MOVE, place=place_of(words))
        return replace(meaning, source=place_of(words))
    if preposition == "by" and words[0].endswith("ing"):
        return replace(meaning, left_out=(*meaning.left_out, said))
    if deed in _WHERE_IT_IS and not meaning.source:
        return replace(meaning, source=place_of(words))
    if (
        deed
        in (
            Verb.CLEAN,
            Verb.HEAT,
            Verb.COOL,
            Verb.FILL,
            Verb.SLICE,
        )
        and not meaning.tool
    ):
        if deed is Verb.SLICE and words[-1] in (
            "slices",
            "pieces",
            "half",
            "slice",
            "halves",
            "quarters",
            "chunks",
        ):
            counted = len(words) > 1 or words[-1] in ("half", "halves", "quarters")
            return replace(meaning, left_out=(*meaning.left_out, said)) if counted else meaning
        place = place_of(words)
        if does(place, deed) or (noun(place) in VESSELS and preposition in INTO):
            return replace(meaning, tool=place)
        return replace(meaning, source=meaning.source or place)
    if preposition in NEAR:
        return _near(meaning, preposition, words, said)
    if meaning.place and deed is Verb.MOVE and noun(meaning.place) in VESSELS and preposition in INTO:
        return replace(meaning, then=place_of(words))
    if NEXT_TO in meaning.place and preposition in INTO:
        return replace(meaning, place=f"{place_of(words)}{NEXT_TO}{meaning.place.partition(NEXT_TO)[2]}")
    if meaning.place and not (preposition == "to" and deed is Verb.MOVE):
        return replace(meaning, left_out=(*meaning.left_out, said))
    if meaning.place:  # "the pan on the stove to the table"
        return replace(meaning, source=meaning.source or meaning.place, place=place_of(words))
    return replace(meaning, place=place_of(words))


def _said(preposition: str, words: Words) -> str:
    return " ".join((_SAID.get(preposition, preposition), *words))


def _with(meaning: ClauseMeaning, preposition: str, words: Words, said: str) -> ClauseMeaning:
    if meaning.deed is Verb.SLICE:
        return replace(meaning, tool=place_of(words))
    if meaning.deed in (Verb.FILL, Verb.CLEAN, Verb.HEAT, Verb.COOL) or (preposition == "using"):
        if words[-1] == "water" and len(words) > 1:
            meaning = replace(meaning, left_out=(*meaning.left_out, said))  # the skills have water, and no other
        return replace(meaning, tool=meaning.tool or place_of(words))
    if meaning.deed is Verb.ON and len(meaning.things) == 1 and noun(meaning.things[0].name) != "water":
        return replace(meaning, deed=Verb.LOOK, things=things_of(words), tool=meaning.things[0].name)
    if meaning.deed in (Verb.ON, Verb.OFF):
        return replace(meaning, left_out=(*meaning.left_out, said))
    if meaning.deed in (Verb.MOVE, Verb.TAKE) and meaning.things and (not meaning.place or preposition == "with"):
        if (meaning.place or meaning.source) and not _has_pronoun(meaning.said, words):
            return replace(meaning, left_out=(*meaning.left_out, said))
        return replace(meaning, things=(*meaning.things[:-1], _holding(meaning.things[-1], words)))
    return replace(meaning, left_out=(*meaning.left_out, said))


def _holding(vessel: DescribedThing, words: Words) -> DescribedThing:
    if words[-1] == "water":
        return replace(vessel, states=(*vessel.states, Verb.FILL))
    first, *others = things_of(words)
    if noun(first.name) in VESSELS and vessel.name and noun(vessel.name) not in VESSELS:
        first, vessel = vessel, first  # "a spoon with a mug"
    return replace(vessel, inside=(*vessel.inside, first, *others))


def _has_pronoun(said: str, words: Words) -> bool:
    """Return whether what follows the place is still about the thing, as in "with a fork in it"."""
    after = said.split(" ".join(words), 1)[-1].split()
    return len(after) > 1 and after[0] in INTO and after[1] in PRONOUNS


def _near(meaning: ClauseMeaning, preposition: str, words: Words, said: str) -> ClauseMeaning:
    beside = preposition in _BESIDE and not meaning.place and meaning.deed is Verb.MOVE and words[-1] != "other"
    if beside and not {"coffee", "spout"} & set(words):
        first = place_of(next(_separate(words)))
        counter = "counter" if _BY_SINK & set(words) else "place"
        meaning = replace(meaning, place=f"{counter}{NEXT_TO}{first}")
        if preposition in ("near", "by", "beside", "next") and first == " ".join(_bare(words)):
            return meaning
    elif not meaning.place and meaning.deed is Verb.MOVE and {"coffee", "spout"} & set(words):
        return replace(meaning, place=place_of(words))  # under it is where its cup stands
    return replace(meaning, left_out=(*meaning.left_out, said))


_BESIDE = word_set("near by beside next front left right between against")


def _separate(words: Words) -> Iterator[Words]:
    """Yield the places of "the plate and the cup", one after the other."""
    end = next((at for at, word in enumerate(words) if word in ("and", "&", ",")), len(words))
    yield words[:end]
    if words[end + 1 :]:
        yield from _separate(words[end + 1 :])


def _bare(words: Words) -> Words:
    return tuple(word for word in words if word not in ARTICLES and word not in FILLER)


def _go(clause: Clause, head: Words, tails: list[tuple[str, Words]]) -> ClauseMeaning:
    words = head or next((each for _, each in tails if each), ())
    return ClauseMeaning(clause.deed, (), place=place_of(words), said=clause.said)


def _look(clause: Clause, words: Words) -> ClauseMeaning:
    """Return the meaning of looking at a thing by a lamp: "a book by the light of the floor lamp"."""
    if words[:1] == ("at",):
        words = words[1:]
    lamp = next((at for at in range(len(words) - 1, -1, -1) if words[at] in LAMPS and words[at] not in _LIGHTS), None)
    if lamp is None:
        lamp = next((at for at in range(len(words) - 1, -1, -1) if words[at] in LAMPS), None)
    head, _ = split_at_prepositions(words)
    if lamp is None:
        found = (thing_of(head),) if head else ()
        return ClauseMeaning(clause.deed, found, said=clause.said)
    start = lamp
    while start and words[start - 1] not in _BEFORE_LAMP:
        start -= 1
    name = [word for word in words[start : lamp + 1] if word not in FILLER and word not in _LIT]
    tool = "lamp" if name[-1] in _LIGHTS or name[-1] == "lamplight" else " ".join(name).removesuffix("s")
    head = head if len(head) <= lamp else words[:start]
    return ClauseMeaning(clause.deed, (thing_of(head),) if head else (), tool=tool, said=clause.said)


_LIGHTS = frozenset(["light", "lights", "lighting", "lantern"])
_LIT = frozenset(["lit", "lighted", "illuminated", "bright"])
_BEFORE_LAMP = word_set(
    "a an the by of in under with to on using near next beside from at your my and that turned below beneath"
)


def _no_meaning(words: Words, at: int) -> bool:
    """Return whether a word has no meaning there, as "down" in "put it down", but not in "the down pillow"."""
    return not at or at + 1 == len(words) or words[at + 1] in INTO or words[at - 1] in PRONOUNS
