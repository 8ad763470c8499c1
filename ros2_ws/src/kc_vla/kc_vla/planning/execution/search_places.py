"""Where to look for something next: what is likely there, how long ago it was looked at, and how far it is.

The order is that of the likelihood for each second that a look takes, worked out anew after each look.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.references.likely_places import FLOOR, share, table
from kc_vla.memory.robot.robot_memory import RobotMemory
from kc_vla.memory.things import CLOSED, KnownThing
from kc_vla.planning.skills import BY_NAME

_WALK_M_S = 0.5
_AGAIN_S, _LEAST_AGAIN = 3600.0, 0.02
"""Within such a time a person may have put something where it was looked for; so much of its likelihood is left at
once."""
_UNKNOWN = 0.5
"""Share of all likelihood that is left to unknown areas."""


class SearchStop(NamedTuple):
    """A place to look in.

    Attributes:
        area: to go to.
        container: to open there; empty for a look around.
    """

    area: str
    container: str = ""

    def told(self, grounds: NavigationMap) -> str:
        """Return the place in words: "around area_3 (kitchen)"."""
        if self.container:
            return f"in {self.container}"
        room = grounds.areas[self.area].name if self.area in grounds.areas else ""
        return f"around {self.area}{f' ({room})' if room else ''}"


class Search:
    """One search for a thing: it looks at no place twice."""

    def __init__(
        self,
        types: Mapping[str, float],
        memories: RobotMemory,
        grounds: NavigationMap,
        within: Collection[str] | None = None,
    ) -> None:
        """Order the places to look at.

        Args:
            types: that are looked for, with weights.
            memories: of the robot.
            grounds: where it can go.
            within: ids of the areas to look in; None for all.
        """
        whole = sum(types.values()) or 1.0
        self._types = {name: weight / whole for name, weight in types.items()}
        self._memories, self._grounds = memories, grounds
        self._areas = [area for area in grounds.areas if within is None or area in within]
        self._looked: set[str] = set()
        self._furniture = {each.object_id: each for each in memories.things() if not each.movable}
        standing = {each.object_type for each in self._furniture.values()}
        self._inside = not all(name in standing or _stands(name) for name in types)

    def saw(self, at: str, things: Iterable[KnownThing]) -> None:
        """Take in all that is seen from an area."""
        if at:
            self._looked.add(at)
        for each in things:
            if not each.movable:
                self._furniture[each.object_id] = each

    def done(self, stop: SearchStop) -> None:
        """Note that a stop was made, or cannot be."""
        self._looked.add(stop.container or stop.area)

    def next(self, at: str, now_s: float) -> SearchStop | None:
        """Return the place to look at next; None if no place is left."""
        gains: dict[SearchStop, float] = {}
        count = Counter(each.object_type for each in self._furniture.values())
        told = {each.area for each in self._furniture.values()}
        fresh = [area for area in self._areas if area not in told]
        for area in self._areas:
            floor = self._share(FLOOR) / len(self._areas)
            gains[SearchStop(area)] = floor + (_UNKNOWN / len(fresh) if area in fresh else 0.0)
        for each in self._furniture.values():
            if SearchStop(each.area) not in gains:
                continue
            gain = self._share(each.object_type) / count[each.object_type]
            if CLOSED not in each.states:
                gains[SearchStop(each.area)] += gain
            elif self._inside and not self._memories.stays_shut(each.object_id):
                gains[SearchStop(each.area, each.object_id)] = gain
        rates = {
            stop: gain * self._again(stop, now_s) / self._seconds(stop, at)
            for stop, gain in gains.items()
            if (stop.container or stop.area) not in self._looked
        }
        best = max(rates, key=lambda stop: (rates[stop], stop), default=None)
        return None if best is None or not rates[best] else best

    @property
    def looked(self) -> int:
        """Return how many places it has looked at."""
        return len(self._looked)

    def _share(self, holder: str) -> float:
        return sum(weight * share(name, holder) for name, weight in self._types.items())

    def _again(self, stop: SearchStop, now_s: float) -> float:
        before = self._memories.looked.get(stop.container or stop.area)
        return 1.0 if before is None else max(1.0 - math.exp((before - now_s) / _AGAIN_S), _LEAST_AGAIN)

    def _seconds(self, stop: SearchStop, at: str) -> float:
        acts = ("OpenObject", "CloseObject") if stop.container else ("Explore",)
        return self._grounds.distance(at, stop.area) / _WALK_M_S + sum(BY_NAME[name].seconds for name in acts)


def _stands(object_type: str) -> bool:
    """Return whether things of a type are furniture."""
    return plain_type(object_type) in IMMOVABLE or table().get(object_type) == {}
