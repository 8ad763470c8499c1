"""What is known of a thing, in sight or remembered, and whether it is what a reference asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from kc_vla.memory.long_term.relations import PLACE
from kc_vla.memory.recall.words import stem
from kc_vla.memory.short_term.unit import MOST_LETTERS, spoken
from kc_vla.planning.execution.naming import Named, tier_of
from kc_vla.planning.execution.reference import Reference, read
from kc_vla.planning.interface import ObservedThing

_OPPOSITES = {"cleaned": "dirty", "on": "off", "opened": "closed", "filled": "used up", "heated": "cold"}
_OPPOSITE = _OPPOSITES | {other: one for one, other in _OPPOSITES.items()}
HELD, OPENED, CLOSED = "held", "opened", "closed"


@dataclass(frozen=True, slots=True)
class KnownThing:
    """A thing, as far as it is known.

    Attributes:
        object_type: "Apple".
        object_id: the body's.
        position: m, in the frame `map`.
        area: in which one reaches it.
        state: one of the paper's, or empty.
        attributes: "colour", "also", ...
        container: id of what it is on or in; empty where there is none, or none is known.
        relation: "on", "in", "held" or another, or empty.
        seen_s: when it was seen last.
        confidence: that it is still so, 0..1.
        handled: larger the later the robot handled it; 0 where it did not, as far as it remembers.
        movable: it may be carried elsewhere.
        source: what knows it: "sight", "short-term", "long-term", "history", "context".
        deeds: what the robot did with it, as far as it remembers: see `HandlingRecord`.
    """

    object_type: str
    object_id: str
    position: tuple[float, float, float]
    area: str
    state: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    container: str = ""
    relation: str = ""
    seen_s: float = 0.0
    confidence: float = 1.0
    handled: float = 0.0
    movable: bool = True
    source: str = "sight"
    deeds: Mapping[str, float] = field(default_factory=dict)

    @property
    def states(self) -> frozenset[str]:
        """Return all states that it is in."""
        return states_in(self.state, self.attributes)

    def __str__(self) -> str:
        """Return the thing in words: "Apple_1 (cleaned, red), in Fridge_1"."""
        said = ", ".join(part for part in (*sorted(self.states), self.attributes.get("colour", "")) if part)
        where = f"{self.relation} {self.container}" if self.container else f"at {self.area}" if self.area else ""
        return f"{self.object_id}{f' ({said})' if said else ''}{f', {where}' if where else ''}"


def wrong_with(seen: ObservedThing) -> str:
    """Return why a detection is not believed, in one line; empty where it is.

    A name that is too long, or has control characters, is none; a number has to be one.
    """
    texts = (seen.object_type, seen.object_id, seen.state, seen.relation, seen.container, seen.area)
    told = (*texts, *seen.attributes, *seen.attributes.values())
    if not seen.object_type.strip() or not seen.object_id.strip():
        return "a detection without a type or an id: it is left out"
    if max(map(len, told)) > MOST_LETTERS or not all(text.isprintable() for text in told):
        return f"a detection with a text of over {MOST_LETTERS} letters or with control characters: it is left out"
    if not all(math.isfinite(each) for each in (*seen.position, *seen.size, seen.confidence)):
        return "a detection with a place or size that is no number: it is left out"
    return ""


def states_in(state: str, attributes: Mapping[str, str]) -> frozenset[str]:
    """Return all states of a thing, by its reported state and what is reported beside it."""
    also = (each.strip() for each in attributes.get("also", "").split(","))
    return frozenset(each for each in (state, *also) if each and each != "none")


def attributes_of(seen: ObservedThing) -> dict[str, str]:
    """Return what is seen of a thing beside its state, with where it is as "place": "in Fridge_1"."""
    place = {PLACE: f"{seen.relation} {seen.container}"} if seen.container else {}
    return {**seen.attributes, **place}


def known_of(seen: ObservedThing, now_s: float) -> KnownThing:
    """Return what is in sight, as a thing that is known."""
    return KnownThing(
        seen.object_type,
        seen.object_id,
        seen.position,
        seen.area,
        seen.state,
        seen.attributes,
        seen.container,
        seen.relation,
        now_s,
        seen.confidence,
        movable=seen.movable,
    )


def seen_of(known: KnownThing) -> ObservedThing:
    """Return a known thing in the form for planners; its size is not remembered."""
    return ObservedThing(
        known.object_type,
        known.object_id,
        known.position,
        (0.0, 0.0, 0.0),
        known.state,
        known.attributes,
        known.relation,
        known.container,
        known.area,
        known.movable,
        known.confidence,
    )


class Fit(IntEnum):
    """Whether a thing is what a reference asks for."""

    NO = 0
    MAYBE = 1
    YES = 2


def fits(reference: Reference, named: Named, thing: KnownThing) -> Fit:
    """Return whether a thing is meant.

    It is `MAYBE` where nothing speaks against it, and not all that is asked for is known.
    """
    if thing.object_type not in named.types or (reference.carried and not thing.movable):
        return Fit.NO
    if reference.purpose is not None and not reference.purpose.served_by(thing.object_type, thing.states):
        return Fit.NO
    if reference.done and thing.deeds:
        return Fit.YES if did(reference, thing) else Fit.NO
    if named.by_kind and not named.close(thing.object_type, bool(thing.handled)):
        return Fit.NO
    states = thing.states
    if states & {state.value for state in reference.not_states}:
        return Fit.NO
    asked = {state.value for state in reference.states} | reference.also
    if any(_OPPOSITE.get(state) in states for state in asked - states):
        return Fit.NO
    wanted = asked <= states if reference.also else not asked or bool(asked & states)
    words = {stem(word) for value in thing.attributes.values() for word in spoken(value).split()}
    said = named.said - words - {stem(word) for word in spoken(thing.object_type).split()}
    if said & named.colours and thing.attributes.get("colour"):
        return Fit.NO
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
    """Return when the robot did what a reference names a thing by, see `KnownThing.deeds`; 0 where it did not."""
    asked = {state.value for state in reference.states} | reference.also
    when = [number for deed, number in thing.deeds.items() if deed in asked]
    if reference.place:
        left = ((number, *deed.partition(" ")) for deed, number in thing.deeds.items())
        when += [number for number, _, _, holder in left if holder and held_by(reference.place, holder)]
    if not when and not asked and not reference.place:
        return thing.handled
    return max(when, default=0.0)


def held_by(place: str, container: str) -> bool:
    """Return whether a place can be called so, by the id of the container that it is."""
    return tier_of(read(place).words, container.rstrip("0123456789_")) > 0
