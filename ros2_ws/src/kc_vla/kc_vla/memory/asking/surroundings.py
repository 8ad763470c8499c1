"""Where a home's parts are, and where the robot is when it is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kc_vla.memory.floors import floors_called, floors_of
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.nodes import Area, Floor, Vector
from kc_vla.memory.recall.words import stem
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.short_term.unit import spoken

_SAME = {
    "lounge": "living room",
    "sitting room": "living room",
    "bath": "bathroom",
    "corridor": "hall",
    "hallway": "hall",
}


@dataclass(frozen=True)
class HomeSurroundings:
    """The areas of a map, and where and when the robot is asked.

    Attributes:
        areas: by their ids; `name` is that of the room.
        at: the area in which the robot stands; empty where that is not known.
        now_s: when it is asked, s; 0 where that is not known.
        floors: of the map; empty: those that the areas name.
        from_origin: the robot stands at the origin of its frame, as an arm does.
    """

    areas: Mapping[str, Area]
    at: str = ""
    now_s: float = 0.0
    floors: Sequence[Floor] = ()
    from_origin: bool = False

    def called(self, name: str) -> frozenset[str] | None:
        """Return the ids of the areas that a name stands for; None if it names no part of the home.

        In a home of one floor, "upstairs" names a part without areas, so the result is empty.
        """
        plain = re.sub(r"^(?:the|this|that|my|our|your) ", "", spoken(name)).strip()
        plain = _SAME.get(plain, plain)
        if plain in ("here", "room", "where you are"):
            here = self.areas.get(self.at)
            return None if here is None else frozenset(self._of_room(here.name) if here.name else {here.id})
        by_id = {area for area in self.areas if spoken(area) == plain}
        return self._of_room(plain) or frozenset(by_id) or self._on_floors(plain)

    def members(self, name: str) -> frozenset[str] | None:
        """Return the same, for searches by text."""
        return self.called(name)

    def middle(self, name: str) -> Vector | None:
        """Return the middle of an area that a name stands for, m; None if it is no part of the home."""
        found = self.called(name)
        return self.areas[min(found)].position if found else None

    def room(self, area: str) -> str:
        """Return the name of the room of an area, or its id where it has none; empty for an unknown area."""
        known = self.areas.get(area)
        return area if known is None else known.name or area

    def viewpoint(self, target: Vector) -> Viewpoint | None:
        """Return the viewpoint of the robot towards a place; None if the robot's place is unknown."""
        here = self.areas.get(self.at)
        if here is None:
            return Viewpoint((0.0, 0.0, 0.0), target) if self.from_origin and any(target[:2]) else None
        direction = tuple(there - own for there, own in zip(target, here.position, strict=True))
        return Viewpoint(here.position, (direction[0], direction[1], direction[2]))

    def _of_room(self, plain: str) -> frozenset[str]:
        words = [stem(word) for word in plain.split()]
        return frozenset(
            area.id
            for area in self.areas.values()
            if area.name and [stem(each) for each in spoken(area.name).split()] == words
        )

    def _on_floors(self, plain: str) -> frozenset[str] | None:
        """Return the areas of the floors that a text names, none of a floor that there is not; None: it names none."""
        here = self.areas[self.at].floor if self.at in self.areas else ""
        name = f"this {plain}" if plain in ("floor", "story", "storey", "level") else plain
        try:
            floors = floors_called(name, self.floors or floors_of(self.areas.values()), here)
        except GraphError:
            return frozenset()
        return frozenset(each.id for each in self.areas.values() if each.floor in floors) if floors else None
