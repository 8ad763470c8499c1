"""Where a home's parts are, and where the robot is when it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kc_vla.memory.long_term.nodes import Area, Vector
from kc_vla.memory.recall.words import stem
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.short_term.unit import spoken

_STOREY_M = 1.5
_NUMBERS = {
    "ground": 0,
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "top": -1,
    "upper": -1,
    "lower": 0,
}
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
        floors: names of floors by their ids, where they have one.
    """

    areas: Mapping[str, Area]
    at: str = ""
    now_s: float = 0.0
    floors: Mapping[str, str] = field(default_factory=dict)

    def called(self, name: str) -> frozenset[str] | None:
        """Return the ids of the areas that a name stands for; None if it is no part of the home.

        "upstairs" in a home of one floor is a part of it that has no areas.
        """
        plain = re.sub(r"^(?:the|this|that|my|our|your) ", "", spoken(name)).strip()
        plain = _SAME.get(plain, plain)
        if plain in ("here", "room", "where you are"):
            here = self.areas.get(self.at)
            return None if here is None else frozenset(self._of_room(here.name) if here.name else {here.id})
        if (storey := self._storey(plain)) is not None:
            return storey
        if found := self._of_room(plain):
            return found
        by_id = {area for area in self.areas if spoken(area) == plain}
        named = {floor for floor, text in self.floors.items() if plain in (spoken(text), spoken(floor))}
        by_floor = {area.id for area in self.areas.values() if area.floor in named or spoken(area.floor) == plain}
        return frozenset(by_id or by_floor) or None

    def room(self, area: str) -> str:
        """Return the name of the room of an area, or its id where it has none; empty for an unknown area."""
        known = self.areas.get(area)
        return area if known is None else known.name or area

    def viewpoint(self, target: Vector) -> Viewpoint | None:
        """Return how the robot sees a place from where it stands; None where nobody knows where that is."""
        here = self.areas.get(self.at)
        if here is None:
            return None
        direction = tuple(there - own for there, own in zip(target, here.position, strict=True))
        return Viewpoint(here.position, (direction[0], direction[1], direction[2]))

    def _of_room(self, plain: str) -> frozenset[str]:
        words = [stem(word) for word in plain.split()]
        return frozenset(
            area.id
            for area in self.areas.values()
            if area.name and [stem(each) for each in spoken(area.name).split()] == words
        )

    def _heights(self) -> list[float]:
        """Return the heights of the storeys, m, the lowest first."""
        found: list[float] = []
        for height in sorted(area.position[2] for area in self.areas.values()):
            if not found or height - found[-1] > _STOREY_M:
                found.append(height)
        return found

    def _storey(self, plain: str) -> frozenset[str] | None:
        """Return the areas of the storey that a text names; None where it names none."""
        heights = self._heights()
        here = self.areas.get(self.at)
        floor = re.fullmatch(r"(?:(\w+) )?(?:floor|storey|story|level)", plain)
        if plain in ("upstairs", "downstairs"):
            base = heights[0] if plain == "upstairs" else heights[-1] if heights else 0.0
            base = base if here is None else here.position[2]
            sign = 1 if plain == "upstairs" else -1
            return self._where(lambda height: sign * (height - base) > _STOREY_M)
        if plain in ("attic", "basement", "cellar"):
            return self._of_room(plain)
        if floor is None or (floor[1] or "") not in (*_NUMBERS, "same", "this", "") or not heights:
            return None
        if floor[1] in (None, "same", "this"):
            return None if here is None else self._where(lambda height: abs(height - here.position[2]) <= _STOREY_M)
        number = _NUMBERS[floor[1]]
        if number >= len(heights):
            return frozenset()
        return self._where(lambda height: abs(height - heights[number]) <= _STOREY_M)

    def _where(self, wanted: Callable[[float], bool]) -> frozenset[str]:
        return frozenset(area.id for area in self.areas.values() if wanted(area.position[2]))
