"""How objects stand to one another, on, in, next to: as a detector says, else from their boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from kc_vla.memory.long_term.nodes import Placed, SceneObject, Vector

NEXT_TO_M = 0.3
"""Between the sides of two boxes."""
_TOUCH_M = 0.06
"""Between what stands and what it stands on: noise of a box."""
_TOUCH_SHARE = 0.25
"""Share of the height of what stands, used where that is more."""
_SMALLER = 0.7
"""What is in something has at most this share of its volume."""


PLACE = "place"
IN_HAND = "in the hand"
"""Attribute that says what a thing is on or in, by the id that the detector has for that: "in Fridge_1"."""
Named = Callable[[str], SceneObject | None]
"""The object that a detector calls so, if there is one."""


class Boxed(Protocol):
    """What has a box along the axes of the map."""

    @property
    def position(self) -> Vector:
        """Return the middle of the box, m."""
        ...

    @property
    def size(self) -> Vector:
        """Return the extent of the box, m."""
        ...


def told_place(attributes: Mapping[str, str]) -> tuple[Placed, str] | None:
    """Return what a detector says that a thing is on or in: ("in", "Fridge_1").

    ("", "") says that it is in the hand or on the floor; None, that it names nothing.
    """
    relation, _, holder = attributes.get(PLACE, "").partition(" ")
    if relation not in ("on", "in") or not holder:
        return None
    if holder in ("the hand", "the floor"):
        return "", ""
    return None if " " in holder else ("on" if relation == "on" else "in", holder)


def without_place(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return the attributes of a thing that was moved, and of which nobody has said whereto."""
    return {name: value for name, value in attributes.items() if name != PLACE}


def stand(thing: SceneObject, others: Iterable[SceneObject], named: Named) -> SceneObject:
    """Return an object with what it is on or in, so that this and its attribute `place` never name two things.

    What a person has said holds, then what the detector says: of things close to one another their boxes tell less. It
    is on or in nothing where the detector names an id that is not known. Where it names none, the object is in the
    smallest box that holds its middle, else on the highest one that its middle is above and touches. What is forgotten
    holds nothing.

    Args:
        thing: the object.
        others: all those around, itself and what is forgotten among them or not.
        named: see there.
    """
    told = told_place(thing.attributes)
    holder = _believed(named(told[1])) if told is not None and told[1] else None
    if "holder" in thing.by_hand:
        agreed = told is None or (told[0], holder.id if holder is not None else "") == (thing.placed, thing.holder)
        return thing if agreed else replace(thing, attributes=without_place(thing.attributes))
    if told is not None and holder is not None and holder.id != thing.id:
        return _placed(thing, told[0], holder.id)
    if told is not None and (not told[1] or any(map(str.isdigit, told[1]))):
        return _placed(thing, "", "")
    around = [other for other in others if other.id != thing.id and _believed(other)]
    inside = [other for other in around if is_inside(thing, other)]
    if inside:
        holder = min(inside, key=lambda other: (_volume(other), other.id))
        return _placed(thing, "in", holder.id)
    under = [other for other in around if is_on_top(thing, other)]
    if under:
        holder = max(under, key=lambda other: (other.top_m, other.id))
        return _placed(thing, "on", holder.id)
    return _placed(thing, "", "")


def gap_m(one: Boxed, other: Boxed) -> float:
    """Return the way between two boxes, m; 0 where they touch."""
    apart = (
        max(abs(here - there) - (size + extent) / 2, 0.0)
        for here, there, size, extent in zip(one.position, other.position, one.size, other.size, strict=True)
    )
    return float(sum(way * way for way in apart) ** 0.5)


def is_next_to(one: SceneObject, other: SceneObject) -> bool:
    """Return whether two objects are side by side: neither is on or in the other one."""
    return one.id not in (other.id, other.holder) and other.id != one.holder and gap_m(one, other) <= NEXT_TO_M


def _believed(thing: SceneObject | None) -> SceneObject | None:
    return None if thing is None or thing.forgotten else thing


def _placed(thing: SceneObject, placed: Placed, holder: str) -> SceneObject:
    if (thing.placed, thing.holder) == (placed, holder):
        return thing
    return replace(thing, placed=placed, holder=holder)


def is_inside(thing: Boxed, other: Boxed) -> bool:
    """Return whether the box of a thing is in that of another one."""
    return (
        _bottom_m(other) <= thing.position[2] <= _top_m(other)
        and _over(thing, other)
        and _volume(thing) <= _SMALLER * _volume(other)
        and _top_m(thing) <= _top_m(other) + _TOUCH_M  # a mug on a table whose top is thick reaches out of it
    )


def is_on_top(thing: Boxed, other: Boxed) -> bool:
    """Return whether the box of a thing stands on that of another one."""
    slack = max(_TOUCH_M, _TOUCH_SHARE * thing.size[2])
    touches = abs(_bottom_m(thing) - _top_m(other)) <= slack
    return _over(thing, other) and touches and thing.position[2] > other.position[2]


def _volume(thing: Boxed) -> float:
    return thing.size[0] * thing.size[1] * thing.size[2]


def _top_m(thing: Boxed) -> float:
    return thing.position[2] + thing.size[2] / 2


def _bottom_m(thing: Boxed) -> float:
    return thing.position[2] - thing.size[2] / 2


def _over(thing: Boxed, other: Boxed) -> bool:
    """Return whether the middle of a thing is above or below the other one, which is larger."""
    return (
        abs(thing.position[0] - other.position[0]) <= other.size[0] / 2
        and abs(thing.position[1] - other.position[1]) <= other.size[1] / 2
        and thing.size[0] * thing.size[1] <= other.size[0] * other.size[1]
    )
