"""What the hand did to things and doors, for when perception does not see that, or not as exactly."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from kc_vla.perception.front_record import OPENING
from kc_vla.skills.interface import SkillError
from kc_vla.skills.perceived import CLOSED, PerceivedThing, numbers_of

_OTHER = "_other"
"""What the name of a thing ends with that is reported with the name of another one."""
_LED_RAD = 0.25
"""A door that is seen to be open by so much more, or less, than a hand led it was moved, rad."""


class HeldNames:
    """The names of what was in the hand, where that is reported with another id since."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str]] = {}
        """Name and type, empty for that which is reported, by the id with which a thing is reported."""

    def note(self, reported: str, thing: PerceivedThing) -> None:
        """Note that what is reported with an id is a thing that the hand held."""
        self._known[reported] = thing.object_id, thing.object_type

    def name(self, reported: str) -> str:
        """Return the name of what is reported with an id."""
        return self._known.get(reported, (reported, ""))[0]

    def renamed(self, thing: PerceivedThing) -> PerceivedThing:
        """Return a thing, as it is reported, with the name and the type that it had in the hand."""
        name, kind = self._known.get(thing.object_id, (thing.object_id, ""))
        return replace(thing, object_id=name, object_type=kind or thing.object_type)

    def named(self, things: Sequence[PerceivedThing], shut: Collection[str] = ()) -> list[PerceivedThing]:
        """Return things with their names; a name that is reported itself is that of no other one.

        Args:
            things: that are reported.
            shut: names of what is shut in: what is reported with such a name is another one, and gets a name of its
                own.
        """
        reported = {each.object_id for each in things}
        kept = {name for name, _ in self._known.values()}.intersection(shut)
        others = {name: (f"{name}{_OTHER}", "") for name in kept & reported}
        ended = reported - kept
        self._known = {other: known for other, known in self._known.items() if known[0] not in ended} | others
        return [self.renamed(each) for each in things]


class LedDoors:
    """Doors where the hand led them, until they are seen."""

    def __init__(self) -> None:
        self._led: dict[str, dict[str, str]] = {}
        """Their attributes, by the id of what has the door."""

    def note(self, object_id: str, attributes: dict[str, str]) -> None:
        """Note where the hand led a door."""
        self._led[object_id] = attributes

    def with_door(self, thing: PerceivedThing) -> PerceivedThing:
        """Return a thing with the handle of its open door where a hand led that, unless it is seen elsewhere."""
        if (led := self._led.get(thing.object_id)) is None:
            return thing
        found = replace(thing, attributes=dict(thing.attributes) | led)
        try:
            seen, own = numbers_of(thing, OPENING, 1), numbers_of(found, OPENING, 1)
        except SkillError:  # the skill that needs this handle says what is wrong with it
            return thing
        if CLOSED in thing.states or (seen is not None and own is not None and abs(seen - own)[0] > _LED_RAD):
            del self._led[thing.object_id]
            return thing
        return found
