"""Wishes as commands: "I want the mug on the desk", "have the lamp switched on", "the apple needs washing".

People say what is to be so as often as what is to be done. Here a sentence that does the one becomes one that does the
other, "put the mug on the desk", "switch on the lamp", "wash the apple", before it is read any further.
"""

from __future__ import annotations

from kc_vla.planning.grammar.first_verb import Words, opened, starts_with_verb, verb_at
from kc_vla.planning.grammar.lexicon import (
    ARTICLES,
    FROM,
    INTO,
    NEAR,
    NUMBERS,
    PREPOSITIONS,
    Verb,
    word_set,
)
from kc_vla.planning.grammar.politeness import (
    ENSURED,
    JOINS,
    LINKS,
    NEEDED,
    OBLIGED,
    WANTED,
    begins,
    plain,
    skipped,
    without_adverbs,
    without_politeness,
)
from kc_vla.planning.grammar.predicates import (
    LAST,
    OF_NOTHING,
    STATES,
    SUBJECTS,
    ThingStatement,
    ends_there,
    linked,
    links,
    made_so,
    predicate,
    unlinked,
    until_join,
)

_DEEDS = word_set("wash rinse clean scrub soak chill")
"""Verbs that a thing can be given: "a rinse"."""
_KEPT = frozenset(["keep", "leave", "get", "make"])
_PLACED = word_set("put place set lay leave putting placing setting laying leaving")
_WHERE = word_set("in on into onto inside")


def commands(words: Words) -> Words:
    """Return a sentence in which every request is a command without courtesy; the rest stays as it is."""
    words = plain(words)
    return _commands(words) if words else words


def stated(words: Words, states: bool = False) -> Words:
    """Return a stated clause as a command: "the apple is washed", after "once", as "wash the apple".

    It is empty where the clause says something else.

    Args:
        words: of a clause.
        states: "the lamp is on" is such a clause as well.
    """
    for at, count in links(words):
        after = without_adverbs(words[at + count :])
        made = made_so(after)
        if made is not None and (states or after[0] not in STATES):
            return (*made[0], *words[:at], *after[made[1] :])
        return ()
    return ()


def _commands(words: Words) -> Words:
    words = without_politeness(words)
    told = _wish(words)
    if told is None:
        for at, word in enumerate(words):
            if word in JOINS and at:
                behind = without_politeness(skipped(words[at + 1 :], JOINS))
                if _wish(behind) is not None:
                    return (*words[:at], "and", *_commands(behind))
        return words
    done = told.command
    rest = skipped(told.rest, JOINS)
    while rest:
        follows = _further(rest, told)
        if follows is None:
            return (*done, "and", *_commands(rest))
        told = follows
        done, rest = (*done, "and", *told.command), skipped(told.rest, JOINS)
    return done


def _wish(words: Words) -> ThingStatement | None:
    """Return the first request of a sentence that begins with one."""
    if not words:
        return None
    if count := begins(words, ENSURED):
        rest = skipped(words[count:], [","])
        for subject in (("you", "have"), ("you",), ("the", "robot"), ("to",)):
            bare = rest[len(subject) :]
            if rest[: len(subject)] == subject and starts_with_verb(bare):
                command, after = until_join(bare)
                return ThingStatement(command, (), after)
        return linked(rest) or (unlinked(rest) if "that" not in words[:count] else None)
    if count := begins(words, WANTED):
        rest = words[count:]
        return linked(rest) or unlinked(rest) or _brought(rest)
    if words[0] == "have" and (verb_at(words) or (None, 1))[1] == 1:
        return linked(words[1:]) or unlinked(words[1:])
    if words[0] == "let":
        return linked(words[1:]) or _let(words[1:])
    if words[0] == "put":
        return _put_on(words[1:])
    if words[0] in _KEPT:
        return unlinked(words[1:], places=False)
    if words[0] == "give":
        return _given(words[1:])
    if words[0] in _WHERE:
        return _fronted(words)
    if words[0] in ("can", "could", "should", "may", "must", "shall", "would") and words[1:2] not in (("you",), ("i",)):
        return linked(words[1:])
    if starts_with_verb(words) and words[0] not in ARTICLES:
        return None
    return _obliged(words)


def _further(words: Words, told: ThingStatement) -> ThingStatement | None:
    """Return what is said behind "and": more of the same thing, or the same of another one."""
    if begins(words, WANTED) or begins(words, ENSURED) or words[0] in ("have", "let"):
        return None
    follows = without_adverbs(words[begins(words, LINKS) :])
    made = made_so(follows)
    again = ("them",) if _several(told.thing) else ("it",)
    if made is not None:
        command, rest = until_join(follows[made[1] :])
        return ThingStatement((*made[0], *again, *command), told.thing, rest)
    if starts_with_verb(opened(words)):
        return None
    if follows[:1] and follows[0] in INTO | NEAR:
        command, rest = until_join(follows)
        return ThingStatement(("put", *again, *command), told.thing, rest)
    return linked(words) or unlinked(words)


def _several(thing: Words) -> bool:
    return "and" in thing or any(NUMBERS.get(word, 1) > 1 for word in thing) or thing[-1:] == ("them",)


def _brought(words: Words) -> ThingStatement | None:
    """Return the request to bring a thing that is only wanted: "a cold apple"."""
    thing, rest = until_join(words)
    if not thing or thing[0] in OF_NOTHING or starts_with_verb(thing) or set(thing) <= ARTICLES | FROM:
        return None
    return ThingStatement(("bring", "me", *thing), thing, rest)


def _put_on(words: Words) -> ThingStatement | None:
    """Return the request in "the lamp on"."""
    end = next((at for at, word in enumerate(words) if word in JOINS), len(words))
    thing = words[: end - 1]
    if not thing or words[end - 1] not in LAST or set(thing) & PREPOSITIONS:
        return None
    return ThingStatement((*STATES[words[end - 1]], *thing), thing, words[end + 1 :])


def _let(words: Words) -> ThingStatement | None:
    """Return the request in "the apple cool down"."""
    for at in range(1, len(words)):
        found = verb_at(words[at:])
        if (
            found
            and found[0] in (Verb.COOL, Verb.HEAT)
            and words[at - 1] not in ARTICLES
            and ends_there(words, at + found[1])
        ):
            command, rest = until_join(words[at + found[1] :])
            return ThingStatement((*words[at : at + found[1]], *words[:at], *command), words[:at], rest)
    return None


def _given(words: Words) -> ThingStatement | None:
    """Return the request in "the apple a quick rinse"."""
    for at in range(2, len(words)):
        if words[at] in _DEEDS and words[at - 1] not in ("the",) and ends_there(words, at + 1):
            start = next((each for each in range(at - 1, 0, -1) if words[each] == "a"), 0)
            if start and at - start <= 3:
                command, rest = until_join(words[at + 1 :])
                return ThingStatement((words[at], *words[:start], *command), words[:start], rest)
    return None


def _fronted(words: Words) -> ThingStatement | None:
    """Return the request in "on the desk, put the mug", or in "into the sink with the mug"."""
    for at in range(2, len(words)):
        rest = skipped(words[at:], [","])
        found = verb_at(rest)
        if found is not None and rest[0] in _PLACED and words[at - 1] not in ARTICLES:
            command, after = until_join(rest)
            return None if set(command) & INTO else ThingStatement((*command, *words[:at]), command[found[1] :], after)
        if words[at] in ("with", "goes", "go") and words[at + 1 : at + 2] and words[at + 1] in ARTICLES:
            thing, after = until_join(words[at + 1 :])
            return ThingStatement(("put", *thing, *words[:at]), thing, after)
    return None


def _obliged(words: Words) -> ThingStatement | None:
    """Return the request in "the mug belongs on the desk", "the apple needs washing", or "there should be a mug"."""
    if words[0] == "there" and (count := begins(words[1:], OBLIGED)):
        return linked(words[1 + count :]) or unlinked(words[1 + count :])
    for at in range(1, len(words)):
        if words[at] in JOINS or words[at - 1] in SUBJECTS or words[at - 1] == "so":
            continue
        if words[at] in ("so", "because"):
            return None
        if count := begins(words[at:], OBLIGED):
            return predicate(words[:at], words[at + count :])
        count = begins(words[at:], NEEDED)
        rest = words[at + count :]
        if count and rest and words[0] not in OF_NOTHING:
            verb = rest[:1] if rest[0] in _DEEDS else _of_gerund(rest)
            if verb:
                command, after = until_join(rest[len(verb) :])
                return ThingStatement((*verb, *words[:at], *command), words[:at], after)
    return None


def _of_gerund(words: Words) -> Words:
    """Return the verb of a gerund, "washing", which is a verb as it is."""
    found = verb_at(words)
    return words[: found[1]] if found and words[0].endswith("ing") and ends_there(words, found[1]) else ()
