"""What is seen of a thing, and what is known of one, in sight or remembered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from kc_vla.memory.long_term.relations import PLACE
from kc_vla.memory.short_term.unit import MOST_LETTERS, states_in

HELD, DROPPED, OPENED, CLOSED = "held", "dropped", "opened", "closed"


@dataclass(frozen=True, slots=True)
class ObservedThing:
    """One thing that is seen. Its fields are those of the memories' detections and units, and of `ObjectDetection`.

    Attributes:
        object_type: "Apple".
        object_id: the same each time it is seen: "Apple_1".
        position: of the middle of its box, in the frame `map`, m.
        size: along the axes of the map, m.
        state: one of the paper's: "sliced", or empty.
        attributes: its `colour`; `also`, its other states; `place`: "in Fridge_1".
        relation: "on" or "in" the container, "held", on the "floor", or "stands" of furniture. "dropped": it is not in
            the hand any more, as the gripper knows, and was not seen since.
        container: id of the thing that it is on or in; empty where there is none.
        area: in which one reaches it.
        movable: it may be carried elsewhere.
        confidence: 0..1.
    """

    object_type: str
    object_id: str
    position: tuple[float, float, float]
    size: tuple[float, float, float]
    state: str
    attributes: Mapping[str, str]
    relation: str
    container: str
    area: str
    movable: bool
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class KnownThing:
    """A thing, as far as it is known.

    Attributes:
        object_type: "Apple".
        object_id: the body's.
        position: m, in the frame `map`.
        area: in which one reaches it.
        state: one of the paper's, or empty.
        attributes: `colour`, `also`, ...
        container: id of what it is on or in; empty where there is none, or none is known.
        relation: "on", "in", "held" or another, or empty.
        seen_s: when it was seen last.
        confidence: that it is still so, 0..1.
        handled: when the robot did something with it last, s; 0 where it never did, as far as it remembers.
        movable: it may be carried elsewhere.
        source: what knows it: "sight", "short-term", "long-term", "history", "context".
        effects: what the robot did with it and when, s, as far as it remembers: see `HandlingRecord`.
        size: along the axes of the map, m; zeros where it is not known.
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
    effects: Mapping[str, float] = field(default_factory=dict)
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)

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
        size=seen.size,
    )


def seen_of(known: KnownThing) -> ObservedThing:
    """Return a known thing in the form for planners, which has no size: only a look tells that it still has it."""
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
