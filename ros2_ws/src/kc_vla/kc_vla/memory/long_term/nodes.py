"""What a scene graph is made of: floors, areas of a floor, connections of floors, and objects in an area.

KARMA, section 3.3: three levels of one hierarchy. Positions are in the frame of the map, in m, z upwards. A node says
all that is known of it, so that a graph is no more than its nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from kc_vla.core.untrusted import has_half_letters
from kc_vla.memory.long_term.errors import GraphError, told

Vector = tuple[float, float, float]
"""x, y, z in m."""
MOST_NAME, MOST_TEXT, MOST_ATTRIBUTES = 200, 1000, 64
"""Letters of a name, letters of the value of an attribute, attributes of an object."""
MOST_EXTENT_M, MOST_DISTANCE_M = 100.0, 1e6
_MOST_COUNT = (1 << 63) - 1
MOST_EMBEDDING, MOST_EDGE = 4 * 8192, 8 * 8192
"""Bytes of an embedding, and of the edge of an area."""
Placed = Literal["", "on", "in"]
_ENDS = 2
ConnectionKind = Literal["stairs", "lift", "ramp"]
CONNECTION_KINDS: tuple[str, ...] = get_args(ConnectionKind)
BY_HAND = frozenset({"object_type", "position", "size", "movable", "state", "attributes", "confidence", "holder"})
"""What a person can set of an object."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A storey: `height_m` is the z of the ground that one walks on."""

    id: str
    height_m: float
    name: str = ""

    def __post_init__(self) -> None:
        _check_id(self.id)
        _check_text(self.name, "name")
        _check_number(self.height_m, "height", -MOST_DISTANCE_M, MOST_DISTANCE_M)


@dataclass(frozen=True, slots=True)
class Area:
    """A part of a floor that can be walked.

    Attributes:
        id: unique in the map.
        floor: id of its floor.
        position: of its middle, on the ground.
        adjacent: the way in m to each area that can be reached from here without crossing another one, by its id.
        name: what people call it.
        edge: the places at its edge that can be walked, x and y of each in m as float32; empty where nobody said how
            far it goes.
    """

    id: str
    floor: str
    position: Vector
    adjacent: Mapping[str, float] = field(default_factory=dict)
    name: str = ""
    edge: bytes = b""

    def __post_init__(self) -> None:
        _check_id(self.id)
        _check_id(self.floor)
        _check_text(self.name, "name")
        _check_vector(self.position, "position", -MOST_DISTANCE_M, MOST_DISTANCE_M)
        for other, way_m in self.adjacent.items():
            _check_id(other)
            _check_number(way_m, "way", 0.0, MOST_DISTANCE_M)
        if self.edge != b"":
            _check_edge(self.edge)


@dataclass(frozen=True, slots=True)
class Connection:
    """A way between two floors: stairs, a lift or a ramp.

    Attributes:
        id: unique in the map.
        kind: what it is.
        areas: ids of the areas at its two ends.
        places: where its ends are, m: they stay when a floor gets other areas.
        length_m: of the way from one end to the other.
        wait_m: fixed cost of each use, such as waiting for a lift: as m of level walking that take as long.
        detected: a detector saw both ends; nobody said so.
        forgotten: a person says that there is no such way, whatever detectors see there.
    """

    id: str
    kind: ConnectionKind
    areas: tuple[str, str]
    places: tuple[Vector, Vector]
    length_m: float
    wait_m: float = 0.0
    detected: bool = False
    forgotten: bool = False

    def __post_init__(self) -> None:
        _check_id(self.id)
        if self.kind not in CONNECTION_KINDS:
            raise GraphError(f"{told(self.kind)} connects no floors: choose one of {', '.join(CONNECTION_KINDS)}")
        if any(type(ends) is not tuple or len(ends) != _ENDS for ends in (self.areas, self.places)):
            raise GraphError(f"connection {self.id}: it has two ends, each with an area and a place")
        for area, place in zip(self.areas, self.places, strict=True):
            _check_id(area)
            _check_vector(place, "place", -MOST_DISTANCE_M, MOST_DISTANCE_M)
        _check_number(self.length_m, "length", 0.0, MOST_DISTANCE_M)
        _check_number(self.wait_m, "wait", 0.0, MOST_DISTANCE_M)
        if type(self.detected) is not bool or type(self.forgotten) is not bool:
            raise GraphError(f"connection {self.id}: detected and forgotten are true or false")


@dataclass(frozen=True, slots=True)
class SceneObject:
    """A thing in its area.

    Attributes:
        id: unique in the map; no other object ever gets it.
        object_type: class, e.g. "mug".
        position: of the middle of its box.
        size: extent of its box along the axes of the map, m.
        area: id of its area; empty where there is none.
        movable: whether it may be carried elsewhere.
        state: e.g. "opened"; empty if it has none or nothing is known.
        attributes: what else is known, as text.
        confidence: that it is there, 0..1.
        first_seen_ns: stamp of the first detection, 0 if a person added it before it was seen.
        last_seen_ns: stamp of the last one.
        sightings: detections so far.
        placed: how it stands to `holder`.
        holder: id of the object that it is on or in; empty if there is none.
        source_id: what the detector calls it; empty if it does not say.
        by_hand: fields that a person has set: detections leave them as they are.
        forgotten: a person says that there is no such thing, whatever detectors see at that place.
        embedding: float32 numbers of what it looks like; empty if not given.
    """

    id: str
    object_type: str
    position: Vector
    size: Vector = (0.0, 0.0, 0.0)
    area: str = ""
    movable: bool = True
    state: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    confidence: float = 1.0
    first_seen_ns: int = 0
    last_seen_ns: int = 0
    sightings: int = 0
    placed: Placed = ""
    holder: str = ""
    source_id: str = ""
    by_hand: frozenset[str] = frozenset()
    forgotten: bool = False
    embedding: bytes = b""

    def __post_init__(self) -> None:
        _check_id(self.id)
        check_seen(self.object_type, self.position, self.size, self.state, self.attributes, self.confidence)
        if self.source_id != "":
            _check_text(self.source_id, "source_id")
        if self.embedding != b"":
            check_embedding(self.embedding)
        if self.area:
            _check_text(self.area, "area")
        if self.holder:
            _check_text(self.holder, "holder")
        if type(self.movable) is not bool or type(self.forgotten) is not bool:
            raise GraphError(f"object {self.id}: movable and forgotten are true or false")
        for count in (self.first_seen_ns, self.last_seen_ns, self.sightings):
            if type(count) is not int or count < 0 or count > _MOST_COUNT:
                raise GraphError(f"object {self.id}: {told(count)} is no time in ns or count from 0")
        if self.placed not in ("", "on", "in") or bool(self.placed) != bool(self.holder):
            raise GraphError(f"object {self.id}: it is on or in a holder, or has none, not {told(self.placed)}")
        if self.by_hand and not self.by_hand <= BY_HAND:
            raise GraphError(f"object {self.id}: only {', '.join(sorted(BY_HAND))} can be set by hand")

    @property
    def diagonal_m(self) -> float:
        """Return the diagonal of the object's box, m."""
        return math.hypot(*self.size)

    @property
    def top_m(self) -> float:
        """Return the z of its upper side."""
        return self.position[2] + self.size[2] / 2

    @property
    def bottom_m(self) -> float:
        """Return the z of its lower side."""
        return self.position[2] - self.size[2] / 2


Node = Floor | Area | Connection | SceneObject


def check_seen(
    object_type: str, position: Vector, size: Vector, state: str, attributes: Mapping[str, str], confidence: float
) -> None:
    """Check that an object, or a detection of one, is possible.

    Args:
        object_type: its class, e.g. mug.
        position: of its middle, m, in the map's frame.
        size: of its box, m.
        state: of it, in a word.
        attributes: by their names.
        confidence: 0..1.

    Raises:
        GraphError: one of the values is not possible; the text names it.
    """
    if not object_type:
        raise GraphError("an object has no type: give it a class, e.g. mug")
    _check_text(object_type, "object_type", MOST_NAME)
    _check_text(state, "state", MOST_NAME)
    _check_vector(position, "position", -MOST_DISTANCE_M, MOST_DISTANCE_M)
    _check_vector(size, "size", 0.0, MOST_EXTENT_M)
    _check_number(confidence, "confidence", 0.0, 1.0)
    if not attributes:
        return
    if len(attributes) > MOST_ATTRIBUTES:
        raise GraphError(f"{len(attributes)} attributes of one object: {MOST_ATTRIBUTES} are the most")
    for name, value in attributes.items():
        _check_text(name, "the name of an attribute", MOST_NAME)
        _check_text(value, "an attribute", MOST_TEXT)


def check_embedding(embedding: bytes) -> None:
    """Check that bytes are float32 numbers, and not too many.

    Raises:
        GraphError: they are not.
    """
    if type(embedding) is not bytes or len(embedding) % 4 or len(embedding) > MOST_EMBEDDING:
        raise GraphError(f"an embedding is the bytes of up to {MOST_EMBEDDING // 4} float32 numbers")


def _check_edge(edge: bytes) -> None:
    if type(edge) is not bytes or len(edge) % 8 or len(edge) > MOST_EDGE:
        raise GraphError(
            f"the edge of an area is the bytes of up to {MOST_EDGE // 8} pairs of float32 numbers, x and y"
        )
    if not (np.abs(np.frombuffer(edge, np.float32)) <= MOST_DISTANCE_M).all():  # nor is NaN
        raise GraphError(f"the edge of an area has places that are not within {MOST_DISTANCE_M:g} m")


def _check_id(name: str) -> None:
    if type(name) is not str or not 0 < len(name) <= MOST_NAME or not name.isprintable() or name != name.strip():
        raise GraphError(f"{told(name)} can be no id: take up to {MOST_NAME} printable letters")


def _check_text(text: str, what: str, most: int = MOST_NAME) -> None:
    if type(text) is not str:
        raise GraphError(f"{what} is {told(text)}: it must be text")
    if text:
        _check_letters(text, what, most)


@lru_cache(8192)  # of the ten thousand objects of a map many are in one area, of one class, and in one state
def _check_letters(text: str, what: str, most: int) -> None:
    if len(text) > most:
        raise GraphError(f"{what} has {len(text)} letters: {most} are the most")
    if has_half_letters(text):
        raise GraphError(f"{what} has half a letter, which no text in UTF-8 can: {told(text)}")


def _check_vector(vector: Vector, what: str, least: float, most: float) -> None:
    if type(vector) is tuple and len(vector) == 3:
        x, y, z = vector
        if type(x) is type(y) is type(z) is float and least <= x <= most and least <= y <= most and least <= z <= most:
            return  # as most are; what is wrong with another one is told below
    else:
        raise GraphError(f"{what} is {told(vector)}: it must be x, y, z in m")
    for value in vector:
        _check_number(value, what, least, most)


def _check_number(value: float, what: str, least: float, most: float) -> None:
    if type(value) is not float and type(value) is not int:
        raise GraphError(f"{what} is {told(value)}: it must be a number")
    if not least <= value <= most:  # nor is NaN
        raise GraphError(f"{what} is {told(value)}: it must lie between {least:g} and {most:g}")
