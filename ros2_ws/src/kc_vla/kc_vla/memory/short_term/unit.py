"""A unit of the short-term memory: one object, where it was and in what state when it was last seen (KARMA, 3.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from kc_vla.core.errors import StackError
from kc_vla.core.untrusted import has_half_letters

MOST_LETTERS, MOST_ATTRIBUTES = 200, 16
"""Most letters of a text and most attributes, which bound the size of a unit and of a prompt."""


class UnitError(StackError, ValueError):
    """A unit cannot be taken in; the message is one line for people."""


class ObjectState(Enum):
    """The state of an object.

    KARMA, appendix F, lists all but `BROKEN`, which its skill BreakObject leaves.
    """

    HEATED = "heated"
    COOKED = "cooked"
    SLICED = "sliced"
    CLEANED = "cleaned"
    DIRTY = "dirty"
    FILLED = "filled"
    USED_UP = "used up"
    OFF = "off"
    ON = "on"
    OPENED = "opened"
    CLOSED = "closed"
    BROKEN = "broken"
    NONE = "none"


def state_of(text: str) -> ObjectState:
    """Return the state of that name, an empty text for none.

    Raises:
        UnitError: there is no such state.
    """
    try:
        return ObjectState(" ".join(text.lower().replace("_", " ").split()) or "none")
    except ValueError:
        names = ", ".join(state.value for state in ObjectState)
        raise UnitError(f"there is no state {text[:MOST_LETTERS]!r}: give one of {names}") from None


class Position(NamedTuple):
    """A point, m, in the frame that is named."""

    x: float
    y: float
    z: float
    frame: str = "map"


@dataclass(frozen=True, slots=True)
class Unit:
    """One object as it was last seen. Texts are data, whatever they say: they are kept as they came, and never run.

    Attributes:
        object_type: class, as the detector calls it: "ButterKnife", "butter knife".
        object_id: which one; the same object is merged.
        position: of its center.
        stamp: when it was seen, s.
        state: its state then.
        area: the room or part of one that it is in; empty where nobody said.
        attributes: what else is known, by name: `{"colour": "red", "place": "on the table"}`.
        image: path or other reference of an image of it; empty without.
        movable: it may be carried elsewhere.
        used: when the robot did something with it last, s; 0 where it never did, as far as the memory knows.
        effects: what the robot did with it and when, s: the states that it came into ("cleaned"), and where it was left
            ("in Box_1").
        state_source: what read the state from an image, "image: MODEL"; empty for a state of the detector, or for none.

    Raises:
        UnitError: a text is missing or too long, or a number is none.
    """

    object_type: str
    object_id: str
    position: Position
    stamp: float
    state: ObjectState = ObjectState.NONE
    area: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    image: str = ""
    movable: bool = True
    used: float = 0.0
    effects: Mapping[str, float] = field(default_factory=dict)
    state_source: str = ""

    def __post_init__(self) -> None:
        if not self.object_type.strip() or not self.object_id.strip():
            raise UnitError(f"the unit {self.object_id[:40]!r} has no type or no id: give both")
        if not isinstance(self.state, ObjectState):
            raise UnitError(
                f"the unit {self.object_id[:40]!r} is {self.state!r}: give an ObjectState, e.g. by state_of"
            )
        x, y, z, frame = self.position
        if not math.isfinite(x + y + z + self.stamp + self.used):
            raise UnitError(f"the unit {self.object_id[:40]!r} has a position or stamp that is no number")
        if len(self.attributes) > MOST_ATTRIBUTES:
            raise UnitError(f"the unit {self.object_id[:40]!r} has more than {MOST_ATTRIBUTES} attributes")
        named = (self.object_type, self.object_id, frame, self.area, self.state_source)
        texts = (*named, *self.attributes, *self.attributes.values())
        if max(map(len, texts)) > MOST_LETTERS or len(self.image) > 20 * MOST_LETTERS:
            raise UnitError(f"the unit {self.object_id[:40]!r} has a text of more than {MOST_LETTERS} letters: cut it")
        if has_half_letters("".join((*texts, self.image))):
            raise UnitError(f"the unit {self.object_id[:40]!r} has half a letter, which no text in UTF-8 can")

    @property
    def name(self) -> str:
        """Return its type as people write it: "butter knife" for "ButterKnife"."""
        return spoken(self.object_type)

    @property
    def states(self) -> frozenset[str]:
        """Return all states that it is in, also those that the paper does not have."""
        told = "" if self.state is ObjectState.NONE else self.state.value
        return states_in(told or self.attributes.get("state", ""), self.attributes)

    def sentence(self) -> str:
        """Return what it is, in words: "red mug, dirty, on the desk, kitchen"."""
        colour = self.attributes.get("colour", "")
        others = [value for name, value in self.attributes.items() if name != "colour"]
        state = "" if self.state is ObjectState.NONE else self.state.value
        parts = (spoken(f"{colour} {self.object_type}"), state, *others, self.area)
        return ", ".join(plain(part) for part in parts if part)


def states_in(state: str, attributes: Mapping[str, str]) -> frozenset[str]:
    """Return all states of a thing, by its reported state and what is reported beside it."""
    also = (each.strip() for each in attributes.get("also", "").split(","))
    return frozenset(each for each in (state, *also) if each and each != "none")


def plain(text: str) -> str:
    """Return a text in one line, without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


@lru_cache(maxsize=4096)
def spoken(text: str) -> str:
    """Return a name as people write it: "butter knife" for "ButterKnife" and "butter_knife"."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_|/-]+", " ", plain(text))
    return " ".join(apart.lower().split())


def merged_unit(known: Unit, unit: Unit, whole: bool = False) -> Unit:
    """Return what was seen last, with what only the known unit has; a state keeps what read it.

    Of a unit that says the whole only what images give is kept, the known image and a state that was read from one:
    that a detector says nothing of them says nothing.
    """
    if whole:
        read = known.state_source and unit.state is ObjectState.NONE
        if (unit.image or not known.image) and not read:
            return unit
        said = known if read else unit
        return replace(unit, image=unit.image or known.image, state=said.state, state_source=said.state_source)
    has_state = unit.state is not ObjectState.NONE or known.state is ObjectState.NONE
    has_texts = (unit.area or not known.area) and (unit.image or not known.image)
    if has_state and has_texts and known.attributes.keys() <= unit.attributes.keys():
        return unit  # what a detector tells in every frame: nothing is checked twice
    attributes = {**known.attributes, **unit.attributes}
    said = unit if has_state else known
    kept: dict[str, Any] = {
        "state": said.state,
        "state_source": said.state_source,
        "area": unit.area or known.area,
        "image": unit.image or known.image,
    }
    try:
        return replace(unit, attributes=attributes, **kept)
    except UnitError:  # too many attributes together: the newer ones
        return replace(unit, **kept)
