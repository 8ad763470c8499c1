"""An instruction as words, and the words as clauses: each begins with a verb and asks for one thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kc_vla.memory.floors import with_floor_as_one_word
from kc_vla.planning.grammar.first_verb import Words, opened, starts_with_verb, verb_at
from kc_vla.planning.grammar.lexicon import (
    ARTICLES,
    FILLER,
    INTO,
    PREPOSITIONS,
    PRONOUNS,
    REFUSED,
    STATES,
    WITH,
    Verb,
    first_words,
    particles,
    word_set,
)
from kc_vla.planning.grammar.request_clauses import commands, stated
from kc_vla.planning.instruction import clean
from kc_vla.planning.interface import PlanningError

MOST_WORDS = 300
_WORD = re.compile(r"\w+\|[\w|+.#-]*\w|\w[\w'#-]*\w|\w|[.!?;:,&/()+]")
_STOPS, _ANDS = frozenset(".!?;:()"), frozenset(["and", "&", "plus", "or"])
_ORDER = frozenset(["then", "afterwards", "next", "finally"])
_NOUN_TOO = word_set("slice cut light clean cool warm set place rest store bin trash drop heat run wash")
"""Verbs that can be in a noun phrase as well."""
_PLAIN = word_set("put pick bring take grab")
"""Verbs that are nothing else."""


class Clause(NamedTuple):
    """What is asked for at once.

    Attributes:
        deed: what.
        words: after the verb.
        said: all of it, for people.
        swapped: it came behind "after": what is before it is done afterwards.
    """

    deed: Verb
    words: Words
    said: str
    particle: str = ""


def clauses_of(text: str) -> list[Clause]:
    """Return the clauses of an instruction, in the order in which they are to be done.

    Raises:
        PlanningError: there are words that begin with no verb that is known, or there are too many.
    """
    words = words_of(text)
    if len(words) > MOST_WORDS:
        raise PlanningError(f"an instruction of more than {MOST_WORDS} words: give less at once")
    sentences = [commands(each) for each in _split(words, _STOPS)]
    for sentence in sentences:
        _refuse_negation(sentence)
    found: list[Clause] = []
    for sentence in sentences:
        part = _in_order(sentence)
        found += [clause for each in part for clause in _clauses(each)]
    if not found:
        raise PlanningError(f"no words in the instruction {text[:60]!r}: say what is to be done")
    return found


def amounts(text: str) -> list[str]:
    """Return what an instruction says of amounts, or leaves open, that a plan does not follow."""
    plain = clean(text).lower()
    words = re.findall(r"\b(?:every\b|each\b(?! other)|all(?= (?:the|of|my|your)\b))", plain)
    found = [f"'{word}' was taken for one" for word in words]
    return [*found, *(["'or' was taken for 'and'"] if re.search(r"\bor\b", plain) else [])]


def words_of(text: str) -> Words:
    """Return the words and stops of a text: in small letters, but for ids such as Apple_1."""
    plain = clean(text).replace("\u2019", "'")
    plain = re.sub(r"(?i)\bas well as\b", "and", plain)
    plain = re.sub(r"(?i)\bafter (?:that|this)\b", "then", plain)
    plain = re.sub(r"(?i)\blet(?:'s| us)\b", "please", plain)
    plain = with_floor_as_one_word(plain)
    plain = re.sub(r"(?i)\b(?:that|which) (?:holds|has|have|contains)\b", "with", plain)
    found = []
    for match in _WORD.finditer(plain):
        word = match.group().strip("'")
        found.append(word if "_" in word or "|" in word else word.lower().removesuffix("'s"))
    return tuple(word for word in found if word)


def _refuse_negation(words: Words) -> None:
    """Refuse a negation that is beyond this grammar: only "a plate that is not dirty" is a description."""
    described = False
    for word in words:
        described = word in ("that", "which", "something") or (described and word not in _STOPS and word not in _ANDS)
        if word in REFUSED and not described:
            raise PlanningError(
                f"not understood: {word!r} in {' '.join(words)[:80]!r}: say what is to be done, plainly"
            )


def _in_order(words: Words) -> list[Words]:
    """Return a sentence in parts: what is said to be done after something comes after it."""
    for at, word in enumerate(words):
        if word not in ("after", "before", "once", "when", "while", "until"):
            continue
        rest = stated(words[at + 1 :], word == "while") or _without_subject(words[at + 1 :])
        if not starts_with_verb(rest) or word == "until":
            continue
        if _bare(words[:at]):
            head, tail = words[:at], rest
            later = _in_order(tail)
            return [*later[:-1], later[-1], head] if word in ("after", "once", "when") else [head, *later]
        comma = next((index for index, each in enumerate(rest) if each == "," and _verb_after(rest, index)), None)
        if comma is None:
            return _in_order(rest)
        first, second = rest[:comma], rest[comma + 1 :]
        return [*_in_order(second), first] if word == "before" else [first, *_in_order(second)]
    return [words] if words else []


def _bare(words: Words) -> bool:
    return bool(opened(tuple(word for word in words if word not in _ANDS and word != ",")))


def _without_subject(words: Words) -> Words:
    for start in (("you", "have"), ("you've",), ("you",), ("it", "is"), ("i",)):
        if words[: len(start)] == start:
            return words[len(start) :]
    return words


def _verb_after(words: Words, at: int) -> bool:
    return starts_with_verb(opened(words[at + 1 :]))


def _clauses(words: Words) -> list[Clause]:
    parts: list[list[str]] = [[]]
    words = _listed(_with_behind(words))
    at = 0
    while at < len(words):
        skip = _boundary(words, at, parts[-1])
        again = () if skip else _same_verb(words, at, parts[-1])
        if skip or again:
            parts.append(list(again))
            skip = skip or 2
            at += skip - 1
            continue
        parts[-1].append(words[at])
        at += 1
    return [_clause(tuple(part)) for part in parts if opened(tuple(part))]


def _listed(words: Words) -> Words:
    """Return "wash the mug, and then the plate" as "wash the mug and the plate".

    What is listed is done in that order.
    """
    kept: list[str] = []
    for at, word in enumerate(words):
        following = words[at + 1 : at + 2]
        if word in _ORDER and kept and set(following) & ARTICLES and not _verb_after(words, at):
            while kept and (kept[-1] in _ANDS or kept[-1] == ","):
                kept.pop()
            kept.append("and")
        else:
            kept.append(word)
    return tuple(kept)


def _with_behind(words: Words) -> Words:
    """Return "with a book in hand, turn on the lamp" as "turn on the lamp with a book in hand"."""
    if words[:1] != ("with",):
        return words
    start = next((at for at in range(1, len(words)) if (verb_at(words[at:]) or (None, 0))[1] > 1), 0)
    return (*words[start:], *(word for word in words[:start] if word != ",")) if start else words


def _same_verb(words: Words, at: int, before: Sequence[str]) -> Words:
    """Return the verb that is said once for two places: "put the pen in the cup and the pencil in the mug"."""
    if words[at] not in ("and", ","):
        return ()
    start = opened(tuple(before))
    found = verb_at(start)
    skip = at + 2 if words[at + 1 : at + 2] == ("and",) else at + 1
    end = next((each for each in range(skip, len(words)) if words[each] in _ANDS or words[each] == ","), len(words))
    rest = words[skip:end]
    if found is None or found[0] is not Verb.MOVE or not set(start[found[1] :]) & INTO or _with_in(start):
        return ()
    place = next((index for index, word in enumerate(rest) if word in INTO), 0)
    return start[: found[1]] if place and rest[0] not in PREPOSITIONS else ()


def _with_in(words: Words) -> bool:
    """Return whether there is a "with" in it, as in "a mug with a pen in", so that the place is not yet said."""
    return any(word in WITH for word in words)


def _boundary(words: Words, at: int, before: list[str]) -> int:
    """Return 1 + how many words are left out, where a new clause begins at `at`; 0 where none does."""
    word = words[at]
    if word in _ORDER and words[at + 1 : at + 2] != ("to",):
        return 2
    if word in ("as", "while") and words[at + 1 : at + 2] == ("you",) and starts_with_verb(words[at + 2 :]):
        return 3
    described = len(before) > 1 and before[-2] in ARTICLES and before[-1] in STATES  # "a cold, clean tomato"
    if described and word in _ANDS | {","}:
        return 0
    if word == "to" and before and before[-1] in ("something", "anything", "thing"):
        return 0  # "something to cut with"
    if word in _ANDS or word == "," or (word == "to" and starts_with_verb(opened(tuple(before)))):
        skip = at + 1
        while skip < len(words) and (words[skip] in _ANDS or words[skip] in (",", "to") or words[skip] in _ORDER):
            skip += 1
        rest = opened(words[skip:])
        if starts_with_verb(rest) and not _part_of_noun(rest) and (word != "to" or not _noun_phrase(rest)):
            return skip - at + 1
        return 0
    if before and word in first_words() and opened(tuple(before)):
        rest = words[at:]
        found = verb_at(rest)
        follows = rest[found[1]] if found and found[1] < len(rest) else ""
        if found and (
            (
                found[1] > 1
                and rest[1] in ("on", "off", "up")
                and word not in ("set", "light", "put", "place")
                and before[-1] not in ARTICLES
            )
            or (follows in ("it", "them") and before[-1] not in ARTICLES and before[-1] not in ("you", "i"))
        ):
            return 1
        if word in _PLAIN and follows in ARTICLES and before[-1] not in ARTICLES | PREPOSITIONS | _ANDS:
            return 1
        if (word, "on") in particles() and word in ("turn", "switch") and before[-1] not in ARTICLES | {"light"}:
            return 1
    return 0


def _part_of_noun(rest: Words) -> bool:
    """Return whether a verb is part of a noun here: "slice of tomato", "clean knife"."""
    if rest[0] not in _NOUN_TOO:
        return False
    follows = rest[1] if len(rest) > 1 else ""
    return follows == "of" or (follows == "" and rest[0] in ("slice", "cut", "light", "trash", "bin"))


def _noun_phrase(rest: Words) -> bool:
    """Return whether what follows "to" is a place, not an action."""
    return rest[0] in ("trash", "bin", "light", "microwave", "rest") and (len(rest) == 1 or rest[1] not in ARTICLES)


def _clause(words: Words) -> Clause:
    words = opened(words)
    said = " ".join(words)
    while words and (words[-1] in FILLER or words[-1] in _ANDS or words[-1] in (",", "to", "/")):
        words = words[:-1]
    found = verb_at(words)
    if found is None:
        raise PlanningError(
            f"not understood: {said[:80]!r}: it begins with no known verb: say it as in 'put the mug on the desk'"
        )
    deed, count = found
    rest = words[count:]
    if count == 1:
        for at, word in enumerate(rest[:8]):
            with_particle = particles().get((words[0], word))
            follows = rest[at + 1] if at + 1 < len(rest) else ""
            ends = follows in WITH or not follows or (follows in PREPOSITIONS and (rest[0] in PRONOUNS or word != "on"))
            if with_particle is not None and ends and at:
                return Clause(with_particle, rest[:at] + rest[at + 1 :], said, word)
    return Clause(deed, rest, said, words[count - 1] if count > 1 else "")


def _split(words: Words, stops: frozenset[str]) -> list[Words]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word in stops:
            parts.append([])
        else:
            parts[-1].append(word)
    return [tuple(part) for part in parts if part]
