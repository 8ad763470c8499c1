"""Whether a name of a plan is that of what the robot holds, by all that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kc_vla.memory.recall.words import COLOURS, stem
from kc_vla.memory.references.fits import Fit, fits
from kc_vla.memory.references.names import is_id
from kc_vla.memory.references.naming import Named, Tier, readings, tier_of
from kc_vla.memory.references.reference import Reference, read_related
from kc_vla.memory.short_term.unit import spoken
from kc_vla.memory.things import ObservedThing, known_of
from kc_vla.planning.skills import BY_NAME

_COLOURS = frozenset(map(stem, COLOURS))
_FREES, _TAKES = frozenset({"PutObject", "ThrowObject"}), "PickupObject"


def fit(name: str, held: ObservedThing) -> Fit:
    """Return whether a name is meant for what is held.

    An id is compared with its id. Otherwise its type has to be called so, "another" and "the second" are others, and
    what is known of it, color or states, may not speak against the name, as where a thing is looked for.

    What is not known speaks against nothing: "the red mug" may be a mug of unknown color, `MAYBE`, and
    planners take it for the one that is meant, and say so in a note. With a detector that reports no colors the robot
    would else put down what it has just taken as asked and search the whole home for it, whenever a person says a
    color; where it is another one after all, the note says why nothing was done.
    """
    if name == held.object_id:
        return Fit.YES
    if is_id(name):
        return Fit.NO
    reference = read_related(name)
    if reference.pronoun:
        return Fit.YES
    return Fit.NO if reference.further else _fit(reference, held)


def another(name: str, held: ObservedThing) -> bool:
    """Return whether a name is surely not meant for what is held, whatever its type is called.

    Its id or its color says so.

    A state does not count: "the dirty mug" of a plan is clean in the middle of it. Nor does an id of the long-term
    memory's own, "mug_55", which may be that of Mug_1.
    """
    if is_id(name):
        kind, own = (each.rpartition("_")[0] for each in (name, held.object_id))
        return is_id(held.object_id) and name != held.object_id and (kind == own or kind.lower() != own.lower())
    reference = replace(read_related(name), states=frozenset(), also=frozenset(), not_states=frozenset())
    return _named(reference, held) is not None and _fit(reference, held) is Fit.NO


def called(held: ObservedThing) -> str:
    """Return what is held, in words: "Mug_1 (blue)"."""
    colour = held.attributes.get("colour", "")
    return f"{held.object_id} ({colour})" if colour else held.object_id


def without_taking(
    answer: Sequence[tuple[Any, Any]], held: ObservedThing | None
) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
    """Return a plan, unchecked, without the steps that pick up what is held already, and a note on each.

    Where that is only taken to be what is meant, the rest of the plan has its id, so that no better one is looked for.

    Args:
        answer: names of skills with their arguments.
        held: what is held before the plan; None for nothing.
    """
    kept: list[tuple[Any, Any]] = []
    notes: dict[str, None] = {}
    ids: dict[str, str] = {}
    for skill, names in answer:
        table = BY_NAME.get(skill) if isinstance(skill, str) else None
        if held is not None and table is not None and table.name == _TAKES and _is_name(names):
            found = fit(names[0], held)
            if found:
                notes[_note(names[0], held, found)] = None
                if found is Fit.MAYBE:
                    ids[names[0]] = held.object_id
                continue
        if table is not None and table.name in (*_FREES, _TAKES):
            held = None
        if ids and isinstance(names, list | tuple):
            names = [ids.get(each, each) if isinstance(each, str) else each for each in names]
        kept.append((skill, names))
    return kept, tuple(notes)


def _note(name: str, held: ObservedThing, found: Fit) -> str:
    if found is Fit.MAYBE:
        return f"{name!r} was taken to be {called(held)}, which is in the hand: nothing is known that speaks against it"
    return f"{called(held)} is in the hand already"


def _is_name(names: object) -> bool:
    return isinstance(names, list | tuple) and len(names) == 1 and isinstance(names[0], str)


def _fit(reference: Reference, held: ObservedThing) -> Fit:
    named = _named(reference, held)
    return Fit.NO if named is None else fits(reference, named, known_of(held, 0.0))


def _named(reference: Reference, held: ObservedThing) -> Named | None:
    """Return the type of what is held, and what the name says beyond it; None where it is not called so."""
    told = {stem(word) for value in held.attributes.values() for word in spoken(value).split()}
    for words, more in readings(reference.words):
        tier, said = tier_of(words, held.object_type), frozenset(more)
        if tier is Tier.EXACT or (tier is Tier.HEAD and said <= _COLOURS | told):  # a "floor lamp" is no desk lamp
            return Named({held.object_type: 1.0}, said, said & (_COLOURS | told))
    return None
