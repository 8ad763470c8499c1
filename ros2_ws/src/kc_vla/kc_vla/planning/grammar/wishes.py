"""Wishes as commands: "I want the mug on the desk", "have the lamp switched on", "the apple needs washing".

People say what is to be so as often as what is to be done. Here a sentence that does the one becomes one that does the
other, "put the mug on the desk", "switch on the lamp", "wash the apple", before it is read any further.
"""

from __future__ import annotations

from kc_vla.planning.grammar.lexicon import (
    ARTICLES,
    FROM,
    INTO,
    NEAR,
    NUMBERS,
    PREPOSITIONS,
    Deed,
    word_set,
)
from kc_vla.planning.grammar.manners import (
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
    without_manners,
)
from kc_vla.planning.grammar.opening import Words, opened, starts_with_verb, verb_at
from kc_vla.planning.grammar.predicates import (
    LAST,
    OF_NOTHING,
    STATES,
    SUBJECTS,
    Told,
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
    """A sentence in which every wish is a command, and nothing is left of its courtesy; the rest stays as it is."""
    words = plain(words)
    return _commands(words) if words else words


def stated(words: Words, states: bool = False) -> Words:
    """ "the apple is washed", after "once", as "wash the apple"; nothing where it says something else.

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
    words = without_manners(words)
    told = _wish(words)
    if told is None:
        for at, word in enumerate(words):
            if word in JOINS and at:
                behind = without_manners(skipped(words[at + 1 :], JOINS))
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


def _wish(words: Words) -> Told | None:
    """The first wish of a sentence that begins with one."""
    if not words:
        return None
    if count := begins(words, ENSURED):
        rest = skipped(words[count:], [","])
        for subject in (("you", "have"), ("you",), ("the", "robot"), ("to",)):
            bare = rest[len(subject) :]
            if rest[: len(subject)] == subject and starts_with_verb(bare):
                command, after = until_join(bare)
                return Told(command, (), after)
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


def _further(words: Words, told: Told) -> Told | None:
    """What is told behind "and": more of the same thing, or the same of another one."""
    if begins(words, WANTED) or begins(words, ENSURED) or words[0] in ("have", "let"):
        return None
    follows = without_adverbs(words[begins(words, LINKS) :])
    made = made_so(follows)
    again = ("them",) if _several(told.thing) else ("it",)
    if made is not None:
        command, rest = until_join(follows[made[1] :])
        return Told((*made[0], *again, *command), told.thing, rest)
    if starts_with_verb(opened(words)):
        return None
    if follows[:1] and follows[0] in INTO | NEAR:
        command, rest = until_join(follows)
        return Told(("put", *again, *command), told.thing, rest)
    return linked(words) or unlinked(words)


def _several(thing: Words) -> bool:
    return "and" in thing or any(NUMBERS.get(word, 1) > 1 for word in thing) or thing[-1:] == ("them",)


def _brought(words: Words) -> Told | None:
    """ "a cold apple": what is only wanted is brought."""
    thing, rest = until_join(words)
    if not thing or thing[0] in OF_NOTHING or starts_with_verb(thing) or set(thing) <= ARTICLES | FROM:
        return None
    return Told(("bring", "me", *thing), thing, rest)


def _put_on(words: Words) -> Told | None:
    """ "the lamp on" """
    end = next((at for at, word in enumerate(words) if word in JOINS), len(words))
    thing = words[: end - 1]
    if not thing or words[end - 1] not in LAST or set(thing) & PREPOSITIONS:
        return None
    return Told((*STATES[words[end - 1]], *thing), thing, words[end + 1 :])


def _let(words: Words) -> Told | None:
    """ "the apple cool down" """
    for at in range(1, len(words)):
        found = verb_at(words[at:])
        if (
            found
            and found[0] in (Deed.COOL, Deed.HEAT)
            and words[at - 1] not in ARTICLES
            and ends_there(words, at + found[1])
        ):
            command, rest = until_join(words[at + found[1] :])
            return Told((*words[at : at + found[1]], *words[:at], *command), words[:at], rest)
    return None


def _given(words: Words) -> Told | None:
    """ "the apple a quick rinse" """
    for at in range(2, len(words)):
        if words[at] in _DEEDS and words[at - 1] not in ("the",) and ends_there(words, at + 1):
            start = next((each for each in range(at - 1, 0, -1) if words[each] == "a"), 0)
            if start and at - start <= 3:
                command, rest = until_join(words[at + 1 :])
                return Told((words[at], *words[:start], *command), words[:start], rest)
    return None


def _fronted(words: Words) -> Told | None:
    """ "on the desk, put the mug", "into the sink with the mug" """
    for at in range(2, len(words)):
        rest = skipped(words[at:], [","])
        found = verb_at(rest)
        if found is not None and rest[0] in _PLACED and words[at - 1] not in ARTICLES:
            command, after = until_join(rest)
            return None if set(command) & INTO else Told((*command, *words[:at]), command[found[1] :], after)
        if words[at] in ("with", "goes", "go") and words[at + 1 : at + 2] and words[at + 1] in ARTICLES:
            thing, after = until_join(words[at + 1 :])
            return Told(("put", *thing, *words[:at]), thing, after)
    return None


def _obliged(words: Words) -> Told | None:
    """ "the mug belongs on the desk", "the apple needs washing", "there should be a mug on the desk" """
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
                return Told((*verb, *words[:at], *command), words[:at], after)
    return None


def _of_gerund(words: Words) -> Words:
    """ "washing", which is a verb as it is."""
    found = verb_at(words)
    return words[: found[1]] if found and words[0].endswith("ing") and ends_there(words, found[1]) else ()
