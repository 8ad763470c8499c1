"""Whether a thing that is known is what a reference asks for."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from kc_vla.memory.recall.words import COLOURS, stem
from kc_vla.memory.references.naming import Named, tier_of
from kc_vla.memory.references.reference import Reference, read
from kc_vla.memory.short_term.unit import spoken
from kc_vla.memory.things import HELD, KnownThing

_OPPOSITES = {"cleaned": "dirty", "on": "off", "opened": "closed", "filled": "used up", "heated": "cold"}
_COLOURS = frozenset(map(stem, COLOURS))
OPPOSITE = _OPPOSITES | {other: one for one, other in _OPPOSITES.items()}
"""The state that excludes another one, by that."""


class Fit(IntEnum):
    """Whether a thing is what a reference asks for."""

    NO = 0
    MAYBE = 1
    YES = 2


def fits(reference: Reference, named: Named, thing: KnownThing) -> Fit:
    """Return whether a thing is meant.

    It is `MAYBE` where nothing speaks against it, and not all that is asked for is known. How it stands to others is
    not looked at here.
    """
    if thing.object_type not in named.types or (reference.carried and not thing.movable):
        return Fit.NO
    if reference.relation is not None and thing.relation == HELD:  # what is in a hand stands nowhere
        return Fit.NO
    if reference.purpose is not None and not reference.purpose.served_by(thing.object_type, thing.states):
        return Fit.NO
    if reference.done and thing.effects:
        return Fit.YES if did(reference, thing) else Fit.NO
    if named.by_kind and not named.close(thing.object_type, bool(thing.handled)):
        return Fit.NO
    states = thing.states
    if states & {state.value for state in reference.not_states}:
        return Fit.NO
    asked = {state.value for state in reference.states} | reference.also
    if any(OPPOSITE.get(state) in states for state in asked - states):
        return Fit.NO
    wanted = asked <= states if reference.also else not asked or bool(asked & states)
    words = {stem(word) for value in thing.attributes.values() for word in spoken(value).split()}
    name = {stem(word) for word in spoken(thing.object_type).split()}
    said = named.said - words - name
    if said & named.colours and thing.attributes.get("colour"):
        return Fit.NO
    if any(words | name >= set(each) for each in reference.not_meant):
        return Fit.NO
    if not thing.attributes.get("colour") and any(not _COLOURS.isdisjoint(each) for each in reference.not_meant):
        wanted = False
    there = not reference.place or not thing.container or held_by(reference.place, thing.container)
    return Fit.YES if wanted and not said and there else Fit.MAYBE


def unknown_of(reference: Reference, named: Named, thing: KnownThing) -> str:
    """Return what a reference asks for that is unknown of a thing, in words: "big, cleaned".

    It is empty where all of it is known.
    """
    words = {stem(word) for value in thing.attributes.values() for word in spoken(value).split()}
    missing = named.said - words - {stem(word) for word in spoken(thing.object_type).split()}
    said = [word for word in reference.called if stem(word) in missing]
    asked = {state.value for state in reference.states}
    states = reference.also - thing.states | (asked if not asked & thing.states else set())
    place = [f"in or on {reference.place}"] if reference.place and not held_by(reference.place, thing.container) else []
    return ", ".join(dict.fromkeys((*said, *sorted(states), *place)))


def did(reference: Reference, thing: KnownThing) -> float:
    """Return when the robot did what a reference names a thing by, see `KnownThing.effects`; 0 where it did not."""
    asked = {state.value for state in reference.states} | reference.also
    when = [number for effect, number in thing.effects.items() if effect in asked]
    if reference.place:
        left = ((number, *effect.partition(" ")) for effect, number in thing.effects.items())
        when += [number for number, _, _, holder in left if holder and held_by(reference.place, holder)]
    if not when and not asked and not reference.place:
        return thing.handled
    return max(when, default=0.0)


def held_by(place: str, container: str) -> bool:
    """Return whether a place can be called so, by the id of the container that it is."""
    return tier_of(read(place).words, container.rstrip("0123456789_")) > 0


def fitting(things: Iterable[KnownThing], reference: Reference, named: Named, loose: bool) -> list[KnownThing]:
    """Return the things that a reference means, in their given order; with `loose` also those that it may mean."""
    least = Fit.MAYBE if loose else Fit.YES
    return [each for each in things if fits(reference, named, each) >= least]
