"""Which types of things a name in a question stands for, and how sure that is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from kc_vla.memory.asking.everyday_purposes import everyday_purpose
from kc_vla.memory.asking.other_names import OTHER_NAMES
from kc_vla.memory.recall.knowledge import senses
from kc_vla.memory.recall.words import COLOURS, stem
from kc_vla.memory.references.likely_places import vocabulary
from kc_vla.memory.references.naming import Named, Namer, Tier, readings, tier_of
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.short_term.unit import spoken

_SURE = {Tier.EXACT: 1.0, Tier.SYNONYM: 1.0, Tier.HEAD: 0.95, Tier.KIND: 0.75}
_OTHERWISE, _MISSPELT, _PURPOSE, _VAGUE = 0.95, 0.6, 0.8, 0.5
_ALIKE = 0.84
"""From which likeness of its letters a word that nobody knows is taken for a type's name."""
_COLOURS = frozenset(map(stem, COLOURS))


class CalledTypes(NamedTuple):
    """The types that a name stands for.

    Attributes:
        named: with their weights; no types where nothing is called so.
        certainty: 0..1.
        note: what was taken for the name, in words; empty where it is that name.
    """

    named: Named
    certainty: float
    note: str = ""


NOTHING = CalledTypes(Named({}), 0.0)


def types_called(reference: Reference, known: Iterable[str], namer: Namer) -> CalledTypes:
    """Return the types that a reference stands for, among those that are known and those that homes have."""
    types = tuple(dict.fromkeys((*known, *vocabulary())))
    if reference.done:
        return CalledTypes(Named(dict.fromkeys(types, 1.0)), 1.0)
    if not reference.words:
        return _nameless(reference, types, namer)
    if (found := _by_words(reference.words, reference.called, types)) is not None:
        return found
    if reference.called and (found := _by_other_name(reference.called, types)) is not None:
        return found
    if reference.purpose is not None:
        return _nameless(reference, types, namer)
    return _by_letters(reference.called, types) or NOTHING


def loosely_called(reference: Reference, known: Sequence[str]) -> CalledTypes:
    """Return the known types whose names only end like the name: a butter knife, where there is no knife."""
    for words, said in readings(reference.words):
        found = {name: 1.0 for name in known if tier_of(words, name) >= Tier.HEAD}
        if found:
            return CalledTypes(_named(found, said), 0.7)
    return NOTHING


def _named(types: dict[str, float], said: Iterable[str]) -> Named:
    return Named(types, frozenset(said), frozenset(said) & _COLOURS)


def _by_words(words: tuple[str, ...], called: Sequence[str], types: Sequence[str]) -> CalledTypes | None:
    """Return the types whose names, or kinds, the words are; None where they are none."""
    whole = " ".join(called)
    for part, said in readings(words):
        if said and not set(said) <= _COLOURS and _is_another_thing(whole):
            return None
        tiers = {name: tier for name in types if (tier := tier_of(part, name)) and tier is not Tier.PART}
        other = _other_types(part, types)
        best = max(tiers.values(), default=Tier.NOT)
        if best in (Tier.EXACT, Tier.SYNONYM) and not other:
            found = {name: 1.0 for name, tier in tiers.items() if tier is best}  # a pot is no toilet
            return CalledTypes(_named(found, said), _SURE[best])
        if other:
            return CalledTypes(_named(dict.fromkeys(other, 1.0), said), _OTHERWISE)
        if best is not Tier.NOT:
            found = {name: float(tier) for name, tier in tiers.items() if tier >= best}
            if best is Tier.KIND:
                found = {name: tier for name, tier in found.items() if _is_first_of_all(part, name)}
            if not found:
                continue
            return CalledTypes(_named(found, said), _SURE[best])
    return None


def _is_first_of_all(words: tuple[str, ...], object_type: str) -> bool:
    """Return whether a type in its most frequent meaning is of a kind: a plate is a dish, and seldom a base or bag."""
    kinds = (
        each.split()
        for sense in senses(spoken(object_type))[:1]
        for each in (*sense.kinds.split(", "), *sense.words.split(", "))
    )
    return any(words == tuple(map(stem, kind))[-len(words) :] for kind in kinds)


def _is_another_thing(name: str) -> bool:
    """Return whether a name of several words is that of a thing of its own, such as "washing machine"."""
    names = {name, name.removesuffix("s")}
    return any(names & set(sense.words.split(", ")) for each in names for sense in senses(each))


def _by_other_name(called: Sequence[str], types: Sequence[str]) -> CalledTypes | None:
    for first in range(len(called)):
        if found := _types_of(" ".join(called[first:]), types):
            return CalledTypes(_named(dict.fromkeys(found, 1.0), map(stem, called[:first])), _OTHERWISE)
    return None


def _other_types(part: tuple[str, ...], types: Sequence[str]) -> list[str]:
    names = [name for name in OTHER_NAMES if tuple(stem(word) for word in name.split() if word != "of") == part]
    return [each for name in names for each in _types_of(name, types)]


def _types_of(name: str, types: Sequence[str]) -> list[str]:
    wanted = OTHER_NAMES.get(name, ())
    return [each for each in types if any(spoken(each) == one or spoken(each).endswith(f" {one}") for one in wanted)]


def _by_letters(called: Sequence[str], types: Sequence[str]) -> CalledTypes | None:
    """Return the type whose name is nearly written so; None where there is none, or the word means something else."""
    if not called or senses(called[-1]):
        return None
    names = {spoken(each): each for each in types}
    for text, said in ((" ".join(called), ()), (called[-1], called[:-1])):
        found = difflib.get_close_matches(text, names, 1, _ALIKE) if len(text) > 3 else []
        if found:
            note = f"{text!r} is taken for {found[0]!r}"
            return CalledTypes(_named({names[found[0]]: 1.0}, map(stem, said)), _MISSPELT, note)
    return None


def _nameless(reference: Reference, types: Sequence[str], namer: Namer) -> CalledTypes:
    """Return what "something to drink from" and "something red" can stand for."""
    if not reference.unknown and reference.purpose is None:
        said = frozenset(map(stem, reference.called))
        return CalledTypes(Named(dict.fromkeys(types, 1.0), said, said), 1.0)
    if (purpose := everyday_purpose(reference.text)) is not None and reference.purpose is None:
        serving = {name: 1.0 for name in types if purpose.can_be_served_by(name)}
        return CalledTypes(Named(serving), _PURPOSE)
    named = namer.named(replace(reference, carried=True, vague=True), types)
    named = named._replace(least_handled=named.least)  # that it was handled says nothing of what it serves
    certainty = _VAGUE if reference.purpose is None else _PURPOSE
    return CalledTypes(named, certainty, "" if reference.purpose else "what serves that is a guess")
